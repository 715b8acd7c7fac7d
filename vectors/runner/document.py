"""Facts of the document that vectors, adapters and reports refer to by name or number."""

from typing import Final

VERSION: Final = "1.0.0-draft.1"
"""The version of the document this runner judges by, which is the kit's too (section 14.5)."""

CLAIMED_VERSION: Final = "1.0"
"""The version as the wording of a claim names it (section 12.7)."""

PREFIXES: Final = {"envelope": "env", "host-core": "core", "a2a-binding": "a2a", "federation": "fed"}
"""The first part of a vector's id, by its class (section 12.4.1); the order is that of reports."""

FEDERATION: Final = "federation"
"""The class that section 12.1 reserves for Appendix F, whose vectors have steps of their own."""

LEVELS: Final = ("MUST", "SHOULD", "MAY")
PROFILES: Final = ("core", "dispatch")
CAPABILITIES: Final = ("implicit-members", "muted-senders")

MESSAGE_FIELDS: Final = (
    "id",
    "thread",
    "replyTo",
    "from",
    "session",
    "to",
    "kind",
    "body",
    "refs",
    "data",
    "urgent",
    "blocking",
    "choices",
    "choice",
    "wake",
    "createdAt",
)
"""The fields of a stored message (section 4.1), in its order."""

FEDERATED_FIELDS: Final = ("origin", "hlc")
"""The fields that a message has besides when it came from another replica (section F.4)."""

HOOKS: Final = {
    "push": ("session", "message"),
    "notify": ("session", "message"),
    "notifyHuman": ("actor", "message"),
    "wake": ("target", "message"),
    "decide": ("target", "message"),
    "onAnswered": ("question", "answer"),
    "published": ("message",),
    "admitExternal": ("recipient", "message"),
}
"""The hook calls of section 12.4.5, and the members of each."""

CREATING: Final = ("send", "reply", "close", "a2a.inbound")
"""The steps that create a message (section 12.4.3)."""

UNTESTED: Final = ("6.8", "9.3", "13.1", "13.7", "13.8", "13.9", "13.10", "13.11", "13.16", "B.2")
"""The sections a report may declare deviations from (section 12.5)."""

_SUBSECTIONS: Final = {
    "0": 3,
    "1": 4,
    "2": 5,
    "3": 7,
    "4": 9,
    "5": 9,
    "6": 8,
    "7": 3,
    "8": 10,
    "9": 3,
    "10": 3,
    "11": 11,
    "12": 7,
    "12.4": 9,
    "13": 16,
    "14": 5,
    "A": 3,
    "B": 2,
    "C": 8,
    "D": 2,
    "E": 1,
    "F": 7,
}
"""How many numbered subsections each section has."""

SECTIONS: Final = frozenset(_SUBSECTIONS) | {
    f"{section}.{number}" for section, count in _SUBSECTIONS.items() for number in range(1, count + 1)
}
"""Every numbered section."""
