"""Auditing: what was signed, by whom, and whether it still verifies.

An audit reads a **source** (a branch, a file of lines, a store), trusts nothing in it, and says of every
chain there how far it verifies and why it ends. It needs no store of its own and leaves nothing behind.

`survey` reads every line once: which chains there are, and which keys and teams were announced. `team` folds
the roster, which decides whose key is whose and where revoked machines end. `chains` walks each chain by the
same rules as a replica does (`crypto.walk`), and `engine` puts the report together. What has to be kept on
the way lives in a `scratch` database, so that memory does not grow with the ops; it grows with the replicas
and the roster, which the report is about.
"""
