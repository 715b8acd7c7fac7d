"""A replica's place on this machine: its directory, its keys, its lock, and the mark that tells a copy."""
