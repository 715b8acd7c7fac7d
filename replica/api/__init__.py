"""The host API of one replica (Appendix A): HTTP routes, WebSocket events and who may use them.

`table` is what a route is declared as, `routes` lists them all, and `app` serves them: each request is checked at the
door (`guard`), resolved to whoever makes it (`credentials`), and answered by a worker thread that has the replica
open (`workers`). `news` reads what changed in the store, once for all who wait, and `sockets` passes it on to those who
may read it. The OpenAPI document is made from the same table (`openapi`).
"""
