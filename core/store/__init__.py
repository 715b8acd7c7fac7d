"""The SQLite store: one file that holds everything a host knows (section 6.3).

`database` opens it and brackets transactions, `schema` makes the core's tables, and `messages` and
`deliveries` hold the statements, each a function that assumes an open transaction or reads by itself.
"""

from core.store.database import Observer, Store

__all__ = ["Observer", "Store"]
