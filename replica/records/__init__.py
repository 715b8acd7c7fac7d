"""What a replica remembers beside its mail: the tables of this room, and the rows that go in and out of them."""
