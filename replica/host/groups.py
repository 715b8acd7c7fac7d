"""Channels as programs read them (section 7.2): who joined, and who is in them by being a work item of an epic."""

from crypto.canonical import JsonValue
from replica.host import items
from replica.host.person import EPIC
from replica.node import Node


def every_json(node: Node) -> list[JsonValue]:
    """Every channel with its members, by name, those of epics too."""
    with node.store.reading():
        epics = (f"{EPIC}{each.id}" for each in items.every(node.store.db) if each.kind == "epic")
        return [_json(node, name) for name in sorted({*node.engine.channels(), *epics})]


def _json(node: Node, name: str) -> JsonValue:
    explicit = node.engine.members(name)
    implicit = [each for each in node.host.implicit_members(name) if each not in explicit]
    return {"channel": name, "members": [*explicit], "implicit": [*implicit]}
