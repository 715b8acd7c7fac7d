"""The conformance runner: what it refuses, what it drives, how it judges and what it writes."""
