"""Peers: the A2A agents this host sends to of its owner's choosing (section 8.9).

`card` reads what an agent says of itself, and `adding` fetches and checks it; `records` and `credentials` keep what is
known of a peer, apart from each other. `outgoing` writes a message as a request and `wire` sends it; `events` reads
what a peer's task says, and `recording` makes a message of it. `relaying` is the worker that does both while the node
serves: it asks the store what is due, the network for an answer, and writes down what came of it. A process that is
killed between any two steps repeats a request with the same message id, and records nothing twice.
"""
