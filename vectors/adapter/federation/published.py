"""What a replica published in a pass, opened with the key of whoever it was sealed to."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from crypto.canonical import JsonValue, canonical
from crypto.op import ABSENT, Op, read_value
from crypto.sealing import open_sealed
from vectors.adapter.federation.given_lines import Json
from vectors.adapter.members import MalformedError

_CODE: Final = re.compile("[a-z-]+")
"""What a reason starts with: the error's code."""


def told(ops: Sequence[Op], seal_privates: Mapping[str, bytes]) -> Json:
    """Return what a pass said, by what it is about; each list in the order of its items' canonical JSON.

    Raises MalformedError where the vector has the key of none of the recipients.
    """
    found: dict[str, list[Json]] = {
        name: [] for name in ("mail", "forwards", "reported", "settled", "refused", "shared")
    }
    for op in ops:
        if op.to is None:
            if op.type not in ("key", "roster"):
                found["shared"].append({"type": op.type, "body": _plain(op.body)})
            continue
        to: list[JsonValue] = [*op.to]
        payload = _opened(op, seal_privates)
        if op.type == "state":
            for entry in payload["entries"]:
                name, said = _entry(entry)
                found[name].append({"to": to, **said})
        elif op.body is ABSENT:
            message = payload["message"]
            found["mail"].append({"to": to, "message": message["id"], "targets": payload["targets"]})
        else:
            assert isinstance(op.body, dict)
            original = read_value(op.body["forward"]).hash
            found["forwards"].append({"to": to, "op": original, "target": payload["target"]})
    return {name: sorted(items, key=canonical) for name, items in found.items()}


def _entry(entry: Json) -> tuple[str, Json]:
    """What an entry of a state op says, without its time and its wording."""
    match entry["t"]:
        case "delivery":
            return "reported", {name: entry[name] for name in ("message", "recipient", "state")}
        case "settle":
            return "settled", {
                name: entry[name] for name in ("question", "answer", "closed") if name in entry
            }
        case _:
            code = _CODE.match(entry["reason"])
            return "refused", {"message": entry["message"], "code": code[0] if code else ""}


def _opened(op: Op, seal_privates: Mapping[str, bytes]) -> Json:
    reader = next((name for name in op.to or () if name in seal_privates), None)
    if reader is None:
        raise MalformedError(f"given.sealPrivs opens nothing that is sealed to {', '.join(op.to or ())}")
    payload = open_sealed(
        op.sealed,
        replica=op.replica,
        seq=op.seq,
        type=op.type,
        me=reader,
        private=seal_privates[reader],
    )
    assert isinstance(payload, dict)
    return payload


def _plain(body: object) -> JsonValue:
    return None if body is ABSENT else body  # type: ignore[return-value]
