"""How tests look at what a transport shows."""

from transports.contract.writable import read

__all__ = ["read"]
