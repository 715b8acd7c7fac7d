"""The binding of the Agent Guild machine envelope, an A2A extension of another origin."""
