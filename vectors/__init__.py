"""The conformance vectors of this project, and what runs them."""
