"""The listener: A2A 1.0's HTTP+JSON binding (section 8)."""
