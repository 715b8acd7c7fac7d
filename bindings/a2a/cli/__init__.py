"""`dmp a2a`: clients and peers of the A2A edge, on the command line."""
