"""The listener of the A2A edge: A2A 1.0's HTTP+JSON binding on aiohttp (section 8)."""
