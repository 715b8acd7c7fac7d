"""Steps about canonical JSON, entries, logs, lanes and key claims (sections F.1, F.2)."""

from collections.abc import Callable, Mapping
from typing import Final

from crypto.canonical import JsonError, JsonValue, canonical, decode, parse
from crypto.chain import Cursor, Halt, Head, verify_entry, verify_log
from crypto.clock import Reading
from crypto.encoding import unb64u
from crypto.key_claims import Claim, key_claims
from crypto.keys import parse_key_body
from crypto.lane import read_lane
from crypto.op import Entry, OpError, Stub, read_line
from vectors.adapter.federation.given_lines import Json, StepError, raw, raws, unverified


def canonicalize(step: Json) -> Json:
    try:
        parsed = parse(decode(raw(step["text"])))
        return {"canonical": canonical(parsed.value).decode(), "repeatedKeys": parsed.duplicates}
    except JsonError:
        raise StepError from None


def read_entry(step: Json) -> Json:
    read = unverified(_line(step))
    return {
        "opHash": read.hash,
        "contentHash": read.content_hash,
        "stub": read.pruned,
        "repeatedKeys": read.duplicates,
    }


def verify(step: Json) -> Json:
    read = unverified(_line(step))
    try:
        entry = verify_entry(read, _head(step["head"]), unb64u(step["signPub"]))
    except OpError as error:
        raise StepError(str(error)) from None
    return {"opHash": entry.hash}


def verify_whole_log(step: Json) -> Json:
    pinned = step.get("pinned")
    result = verify_log(
        step["replica"],
        map(read_line, raws(step)),
        _cursor(step),
        None if pinned is None else parse_key_body(pinned),
    )
    return {"accepted": _accepted(result.accepted), "halted": _halted(result.cursor)}


def read_whole_lane(step: Json) -> Json:
    cut = step.get("cut")
    result = read_lane(
        step["replica"],
        raws(step),
        _cursor(step),
        parse_key_body(step["key"]),
        remembered=_Remembered(step.get("remembered", [])),
        horizon_ms=step.get("horizonMs"),
        cut=None if cut is None else (cut["afterSeq"], cut["afterHash"]),
        wanted=step.get("wanted", ()),
    )
    return {
        "accepted": _accepted(result.entries),
        "halted": _halted(result.cursor),
        "stalled": None if result.stall is None else {"seq": result.stall.seq, "reason": result.stall.reason},
        "gap": None if result.gap is None else result.gap.seq,
        "held": None if result.held is None else str(result.held),
        "repeatedKeys": list(result.flagged),
        "restored": [op.hash for op in result.restored],
    }


def claims(step: Json) -> Json:
    found = key_claims(step["replica"], raws(step), named=step.get("named", ()))
    return {"claims": [_claim(claim) for claim in found]}


def _line(step: Json) -> bytes:
    """The step's line, with a member `pad` that makes its canonical form `padTo` bytes long, if asked for."""
    line = raw(step["line"])
    if "padTo" not in step:
        return line
    value = parse(decode(line)).value
    assert isinstance(value, dict)
    value["pad"] = ""
    value["pad"] = "x" * (step["padTo"] - len(canonical(value)))
    return canonical(value)


def _head(head: Json | None) -> Head | None:
    return None if head is None else Head(head["seq"], head["opHash"], Reading.parse(head["hlc"]))


def _cursor(step: Json) -> Cursor:
    halted = step.get("halted")
    halt = None if halted is None else Halt(halted["seq"], halted["reason"], "")
    return Cursor(_head(step.get("head")), halt)


class _Remembered:
    """The ops a step says were accepted before."""

    def __init__(self, ops: list[Json]) -> None:
        self._ops = ops

    def hash_at(self, seq: int) -> str | None:
        return next((op["opHash"] for op in self._ops if op["seq"] == seq), None)

    def hash_after(self, prev: str) -> str | None:
        return next((op["opHash"] for op in self._ops if op["prev"] == prev), None)


def _halted(cursor: Cursor) -> Json | None:
    return None if cursor.halted is None else {"seq": cursor.halted.seq, "reason": cursor.halted.reason}


def _accepted(entries: tuple[Entry, ...]) -> list[JsonValue]:
    return [{"seq": each.seq, "opHash": each.hash, "stub": isinstance(each, Stub)} for each in entries]


def _claim(claim: Claim) -> Json:
    roster_op = None if claim.roster_op is None else claim.roster_op.hash
    return {"fingerprint": claim.fingerprint, "opHash": claim.hash, "rosterOp": roster_op}


STEPS: Final[Mapping[str, Callable[[Json], Json]]] = {
    "canonicalize": canonicalize,
    "readEntry": read_entry,
    "verifyEntry": verify,
    "verifyLog": verify_whole_log,
    "readLane": read_whole_lane,
    "keyClaims": claims,
}
