"""Vectors of the A2A binding: what clients send, how their tasks stand, and what leaves (section 8)."""
