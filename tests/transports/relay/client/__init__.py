"""The replica's side of a relay."""
