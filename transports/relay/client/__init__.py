"""A replica's side of a relay (federation wire 7): the conversation without I/O, its socket, and the transport."""
