"""Team memory: short entries that people and agents keep for each other (F.7; federation wire 8.D).

`bodies` reads ops, `writes` keeps what they wrote, `entries` says what that comes to, `changes` holds what was written
here until it is published, and `proposals` what waits for this host's person.
"""
