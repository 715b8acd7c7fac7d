"""The SQLite store: one file that holds everything a host knows (section 6.3).

`database` opens it and brackets transactions, and `schema` makes the core's tables. The other files hold the
statements, each a function that assumes an open transaction or reads by itself.
"""

from core.store.database import Observer, Store

__all__ = ["Observer", "Store"]
