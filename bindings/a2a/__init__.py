"""The A2A binding: a host as one A2A agent, and its peers (section 8)."""
