"""Lines on a branch of a git repository (federation wire 6)."""

from transports.git.limits import Limits
from transports.git.transport import GitTransport

__all__ = ["GitTransport", "Limits"]
