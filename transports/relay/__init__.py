"""The relay: a server that keeps a team's ops and passes them on, and how a replica speaks with it (wire 7)."""
