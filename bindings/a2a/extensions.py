"""The extensions of this binding, by the URIs that name them in headers and metadata (sections 8.3, 11.10)."""

from typing import Final

ENVELOPE: Final = "https://dispatch.foo/a2a/ext/envelope/v1"
"""A DMP envelope on an A2A message (section 8.4). Data of external senders is stored under it (section 8.8)."""

GATE: Final = "https://dispatch.foo/a2a/ext/gate/v1"
"""Which gates hold a task open (section 8.5)."""

WORK: Final = "https://dispatch.foo/a2a/ext/work/v1"
"""Handoffs of work, and how far they are (section 8.6)."""

EXTENSIONS: Final = (ENVELOPE, GATE, WORK)
