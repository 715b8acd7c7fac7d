"""An op by itself: its canonical form, hashes, shape and size (section F.1, federation wire 1)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.canonical import JsonValue, canonical
from crypto.clock import Reading
from crypto.ed25519 import SigningKey, verify
from crypto.encoding import sha256_hex, unb64u
from crypto.header import Header
from crypto.op import (
    ABSENT,
    MAX_OP_BYTES,
    ZERO_HASH,
    Op,
    OpError,
    Stub,
    Unreadable,
    Unverified,
    breach,
    make_op,
    read_entry,
    read_line,
    read_value,
    tampering,
    to_line,
)
from tests.crypto.publisher import ADA, BOB, START_MS, Publisher

ada = Publisher()
KEY_OP = ada.key_op()
TASK = ada.sign(KEY_OP, body={"title": "Pick apples", "n": 5})
MAIL = ada.mail(TASK)


def value_of(op: Op | Stub, **changes: Any) -> dict[str, Any]:
    """The JSON value of an entry with members changed, or removed where they are ABSENT."""
    value = json.loads(to_line(op)) | changes
    return {name: item for name, item in value.items() if item is not ABSENT}


def reason(value: Any) -> str:
    read = read_value(value)
    assert isinstance(read, Unreadable), "the entry was read"
    return read.reason


def unverified(value: Any) -> Unverified:
    read = read_value(value)
    assert isinstance(read, Unverified), read
    return read


# Canonical forms and hashes

replica_ids = st.from_regex(r"[A-Za-z0-9._-]{1,32}-[0-9a-f]{8}", fullmatch=True)
hashes = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)


@given(
    replica=replica_ids,
    seq=st.integers(1, 2**53 - 1),
    prev=hashes,
    ms=st.integers(0, 9_999_999_999_999),
    counter=st.integers(0, 999_999_999),
    type=st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True),
    to=st.none() | st.lists(replica_ids, min_size=1, max_size=4, unique=True).map(sorted),
    body_hash=hashes,
    sig=st.text(st.characters(exclude_categories=["Cs"]), max_size=90),
)
def test_the_header_template_writes_what_canonical_json_does(
    replica: str,
    seq: int,
    prev: str,
    ms: int,
    counter: int,
    type: str,
    to: list[str] | None,
    body_hash: str,
    sig: str,
) -> None:
    hlc = str(Reading(ms, counter, replica))
    written = Header.write(replica, seq, prev, hlc, type, None if to is None else tuple(to), body_hash)
    header: dict[str, Any] = {
        "v": 2,
        "replica": replica,
        "seq": seq,
        "prev": prev,
        "hlc": hlc,
        "type": type,
        "bodyHash": body_hash,
    }
    if to is not None:
        header["to"] = to
    assert written.to_sign() == b"dispatch-op-v2\n" + canonical(header)
    assert written.with_sig(sig) == canonical(header | {"sig": sig})


@pytest.mark.parametrize("entry", [KEY_OP, TASK, MAIL, MAIL.stub()], ids=["key", "task", "mail", "stub"])
def test_a_written_line_is_canonical_and_reads_back_the_same(entry: Op | Stub) -> None:
    line = to_line(entry)
    assert line == canonical(json.loads(line))
    assert read_entry(line) == entry


def test_a_stub_has_the_hash_and_the_signature_of_its_op() -> None:
    stub = read_value(json.loads(to_line(MAIL.stub())))
    op = read_value(json.loads(to_line(MAIL)))
    assert isinstance(stub, Unverified)
    assert isinstance(op, Unverified)
    assert (stub.hash, stub.signed, stub.sig) == (op.hash, op.signed, op.sig)
    assert stub.pruned
    assert not op.pruned


def test_hash_and_signature_are_over_the_canonical_header() -> None:
    value = value_of(TASK)
    header = {name: value[name] for name in ("v", "replica", "seq", "prev", "hlc", "type", "bodyHash")}
    assert TASK.hash == sha256_hex(canonical(header | {"sig": value["sig"]}))
    assert TASK.body_hash == sha256_hex(canonical({"body": value["body"]}))
    assert verify(ada.secrets.signer.public, b"dispatch-op-v2\n" + canonical(header), unb64u(TASK.sig))


def test_an_op_without_content_hashes_an_empty_object() -> None:
    op = ada.sign(KEY_OP)
    assert op.body is ABSENT
    assert op.body_hash == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_p5_null_content_is_content() -> None:
    op = ada.sign(KEY_OP, body=None)
    assert op.body is None
    assert op.body_hash == sha256_hex(b'{"body":null}')
    assert read_entry(to_line(op)) == op


def test_other_members_change_neither_hash_nor_signature() -> None:
    plain, more = unverified(value_of(TASK)), unverified(value_of(TASK, note="hello", zz=[1]))
    assert (plain.hash, plain.signed, plain.content_hash) == (more.hash, more.signed, more.content_hash)


def test_a_counter_written_wide_keeps_the_text_that_was_signed() -> None:
    hlc = Reading.parse(f"{START_MS}.000007.{ADA}")
    op = ada.sign(KEY_OP, body={}, hlc=hlc)
    assert read_entry(to_line(op)) == op
    assert b".000007." in to_line(op)


# The shape of an entry: checks 1 to 9

SHAPES: list[tuple[str, Any, str]] = [
    ("list", [], "malformed op"),
    ("null", None, "malformed op"),
    ("no sig", value_of(TASK, sig=ABSENT), "malformed op"),
    ("sig null", value_of(TASK, sig=None), "malformed op"),
    ("prev upper case", value_of(TASK, prev="A" * 64), "malformed op"),
    ("prev with a line feed", value_of(TASK, prev=TASK.prev + "\n"), "malformed op"),
    ("prev missing", value_of(TASK, prev=ABSENT), "malformed op"),
    ("bodyHash short", value_of(TASK, bodyHash="0" * 63), "malformed op"),
    ("v 1", value_of(TASK, v=1), "not a v2 op"),
    ("v text", value_of(TASK, v="2"), "not a v2 op"),
    ("v missing", value_of(TASK, v=ABSENT), "not a v2 op"),
    ("replica grammar", value_of(TASK, replica="ada"), "replica id outside the grammar"),
    ("replica with a line feed", value_of(TASK, replica=ADA + "\n"), "replica id outside the grammar"),
    ("replica number", value_of(TASK, replica=7), "replica id outside the grammar"),
    ("type upper case", value_of(TASK, type="Task"), "not a v2 op"),
    ("type empty", value_of(TASK, type=""), "not a v2 op"),
    ("type long", value_of(TASK, type="t" * 33), "not a v2 op"),
    ("seq 0", value_of(TASK, seq=0), "seq must rise"),
    ("seq fraction", value_of(TASK, seq=1.5), "seq must rise"),
    ("seq unsafe", value_of(TASK, seq=2**53), "seq must rise"),
    ("p5 seq true", value_of(TASK, seq=True), "seq must rise"),
    ("seq text", value_of(TASK, seq="2"), "seq must rise"),
    ("hlc number", value_of(TASK, hlc=5), "hlc outside the grammar"),
    ("hlc short", value_of(TASK, hlc=f"179.0000.{ADA}"), "hlc outside the grammar"),
    ("p5 hlc other digits", value_of(TASK, hlc=f"١790000000000.0000.{ADA}"), "hlc outside the grammar"),
    ("hlc of another", value_of(TASK, hlc=f"{START_MS}.0000.{BOB}"), "hlc must name its own replica"),
    ("hlc with a tail", value_of(TASK, hlc=f"{START_MS}.0000.{ADA}x"), "hlc must name its own replica"),
    ("p5 to null", value_of(MAIL, to=None), "bad recipient list"),
    ("to empty", value_of(MAIL, to=[]), "bad recipient list"),
    ("to twice", value_of(MAIL, to=[ADA, ADA]), "bad recipient list"),
    ("to unsorted", value_of(MAIL, to=[BOB, ADA]), "bad recipient list"),
    ("to many", value_of(MAIL, to=[f"a-{n:08x}" for n in range(257)]), "bad recipient list"),
    ("to grammar", value_of(MAIL, to=["ada"]), "bad recipient list"),
    ("lone surrogate", value_of(TASK, body="\ud800"), "malformed op"),
    ("lone surrogate in sig", value_of(TASK, sig="\udfff"), "malformed op"),
    ("lone surrogate in an extra", value_of(TASK, extra={"\ud800": 1}), "malformed op"),
    ("too long", value_of(TASK, body="x" * MAX_OP_BYTES), "over MAX_OP_BYTES"),
    ("too long with extras", value_of(TASK, extra="x" * MAX_OP_BYTES), "over MAX_OP_BYTES"),
]


@pytest.mark.parametrize(("value", "expected"), [pytest.param(v, r, id=name) for name, v, r in SHAPES])
def test_an_entry_out_of_shape_is_refused_with_its_reason(value: Any, expected: str) -> None:
    assert reason(value) == expected


def test_the_first_check_that_fails_gives_the_reason() -> None:
    wrong: dict[str, Any] = {
        "sig": 1,
        "v": 1,
        "replica": "ada",
        "type": "T",
        "seq": 0,
        "hlc": "",
        "to": [],
        "extra": "x" * MAX_OP_BYTES,
    }
    seen = []
    value = value_of(TASK)
    for name in reversed(wrong):
        value[name] = wrong[name]
        seen.append(reason(value))
    assert seen == [
        "over MAX_OP_BYTES",
        "bad recipient list",
        "hlc outside the grammar",
        "seq must rise",
        "not a v2 op",
        "replica id outside the grammar",
        "not a v2 op",
        "malformed op",
    ]


def test_p3_numbers_that_are_two_to_everyone_are_two() -> None:
    line = to_line(TASK).replace(b'"v":2', b'"v":2.0').replace(b'"seq":2', b'"seq":20e-1')
    read = read_line(line)
    assert isinstance(read, Unverified)
    assert (read.seq, read.hash) == (2, TASK.hash)


def test_p4_a_repeated_key_keeps_its_last_value_and_flags_the_line() -> None:
    line = to_line(TASK)
    read = read_line(b'{"seq":9,"\\u0073eq":8,' + line[1:])
    assert isinstance(read, Unverified)
    assert read.duplicates
    assert read.entry() == TASK
    assert to_line(read.entry()) == line


def test_p5_only_pruned_true_makes_a_stub() -> None:
    others: list[Any] = [False, None, 1, "true", {}]
    for pruned in others:
        assert not unverified(value_of(MAIL, pruned=pruned)).pruned
    assert unverified(value_of(MAIL, pruned=True)).pruned


@pytest.mark.parametrize("line", [b"", b"{", b"nul", b"\xff", b"[" * 300, b'{"a":1e400}', b"\xef\xbb\xbf{}"])
def test_p7_what_is_not_json_is_malformed(line: bytes) -> None:
    assert read_line(line) == Unreadable("malformed op")


def test_p7_a_line_over_the_limit_is_not_parsed() -> None:
    assert read_line(b" " * MAX_OP_BYTES + b"{}") == Unreadable("over MAX_OP_BYTES")


def sized(size: int, **changes: Any) -> dict[str, Any]:
    """An entry whose canonical form is this long."""
    value = value_of(TASK, **changes) | {"body": ""}
    return value | {"body": "x" * (size - len(canonical(value)))}


@pytest.mark.parametrize("changes", [{}, {"pruned": False}, {"a": 1.5, "z": [True]}, {"sig": "\u20ac\n"}])
def test_the_size_is_that_of_the_canonical_form_of_everything(changes: dict[str, Any]) -> None:
    value = sized(MAX_OP_BYTES, **changes)
    assert len(canonical(value)) == MAX_OP_BYTES
    assert isinstance(read_value(value), Unverified)
    assert reason(value | {"body": value["body"] + "x"}) == "over MAX_OP_BYTES"


def test_what_no_reader_takes_still_tells_what_it_claims() -> None:
    read = read_value(value_of(TASK, type="Task"))
    assert isinstance(read, Unreadable)
    assert (read.replica, read.seq, read.prev) == (ADA, 2, KEY_OP.hash)
    assert read_value({"replica": 1, "seq": True, "prev": "x"}) == Unreadable(
        "malformed op", hash=sha256_hex(b'{"prev":"x","replica":1,"seq":true,"v":2}')
    )


# Content: checks 16s to 20f

SEALED = {"nonce": "", "ct": "", "keys": {ADA: {}}}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (value_of(TASK, pruned=True, body=ABSENT), "a task op cannot be a stub"),
        (value_of(KEY_OP, pruned=True), "a key op cannot be a stub"),
        (value_of(MAIL, pruned=True), "a stub carries no content"),
        (value_of(MAIL.stub(), body=None), "a stub carries no content"),
        (value_of(TASK, body={"title": "Pick pears", "n": 5}), "bodyHash mismatch"),
        (value_of(TASK, body=ABSENT), "bodyHash mismatch"),
        (value_of(TASK, sealed=None), "bodyHash mismatch"),
    ],
)
def test_content_that_differs_from_what_was_signed(value: Any, expected: str) -> None:
    assert tampering(unverified(value)) == expected


def rehashed(value: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {name: value[name] for name in ("body", "sealed") if name in value}
    return value | {"bodyHash": sha256_hex(canonical(content))}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (value_of(MAIL, sealed=ABSENT), "sealed types carry sealed content"),
        (value_of(MAIL, type="state", body=None), "state ops carry only sealed content"),
        (value_of(TASK, sealed=SEALED), "only mail and state are sealed"),
        (value_of(TASK, sealed=None), "only mail and state are sealed"),
        (value_of(TASK, to=[ADA]), "only mail and state are sealed"),
        (value_of(MAIL, sealed=None), "keys must equal to"),
        (value_of(MAIL, to=ABSENT), "keys must equal to"),
        (value_of(MAIL, to=[BOB]), "keys must equal to"),
        (value_of(MAIL, to=[ADA, BOB]), "keys must equal to"),
        (value_of(MAIL, sealed={"keys": [ADA]}), "keys must equal to"),
        (value_of(MAIL, sealed="x"), "keys must equal to"),
    ],
)
def test_content_that_breaks_the_rules_of_its_type(value: Any, expected: str) -> None:
    read = unverified(rehashed(value))
    assert tampering(read) is None
    assert breach(read) == expected


def test_a_forward_has_a_body_and_sealed_content() -> None:
    assert breach(unverified(rehashed(value_of(MAIL, body={"forward": value_of(MAIL)})))) is None


def test_an_unknown_type_is_an_op_like_any_other() -> None:
    op = ada.sign(KEY_OP, "later-type", {"a": 1})
    assert breach(unverified(value_of(op))) is None


# Making ops

signer = SigningKey.from_seed(bytes(32))


def make(**changes: Any) -> Op:
    given: dict[str, Any] = {
        "replica": ADA,
        "seq": 2,
        "prev": ZERO_HASH,
        "hlc": Reading(START_MS, 0, ADA),
        "type": "task",
        "signer": signer,
        "body": {},
    }
    return make_op(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"replica": "ada"}, "replica id outside the grammar"),
        ({"seq": 0}, "seq must rise"),
        ({"prev": "0"}, "malformed op"),
        ({"hlc": Reading(START_MS, 0, BOB)}, "hlc must name its own replica"),
        ({"type": "Task"}, "not a v2 op"),
        ({"type": "mail"}, "sealed types carry sealed content"),
        ({"sealed": SEALED}, "only mail and state are sealed"),
        ({"type": "mail", "body": ABSENT, "sealed": {"keys": {}}}, "bad recipient list"),
        ({"type": "mail", "body": ABSENT, "sealed": {}}, "bad recipient list"),
        ({"body": "x" * MAX_OP_BYTES}, "over MAX_OP_BYTES"),
    ],
)
def test_no_op_is_signed_that_a_reader_would_refuse(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(OpError, match=expected):
        make(**changes)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(body=json_values)
def test_whatever_the_body_a_line_reads_back_with_the_same_hashes(body: JsonValue) -> None:
    op = make(body=body)
    read = read_line(to_line(op))
    assert isinstance(read, Unverified)
    assert (read.hash, read.content_hash) == (op.hash, op.body_hash)
    assert read_line(json.dumps(json.loads(to_line(op)), indent=1).encode()) == read._replace(line=None)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        ({"type": "task", "body": {"a": 1}}, True),
        ({"type": "mail", "body": ABSENT, "sealed": SEALED}, True),
        ({"type": "mail", "body": {"forward": {}}, "sealed": SEALED}, False),
    ],
)
def test_only_a_line_in_canonical_form_is_kept_to_be_written_again(
    content: dict[str, Any], kept: bool
) -> None:
    line = to_line(make(**content))
    members = json.loads(line)
    ahead = [name for name in ("body", "sealed") if name in members]
    others = (
        {name: members[name] for name in reversed(members)},
        {name: members[name] for name in (*ahead, *(each for each in members if each not in ahead))},
        {**members, "z": 1},
    )
    for raw in (line, *(json.dumps(other, separators=(",", ":")).encode() for other in others)):
        read = read_line(raw)
        assert isinstance(read, Unverified)
        assert read.line == (line if raw == line and kept else None)
        assert to_line(read.entry()) == line
