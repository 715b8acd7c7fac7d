"""A fork proof convinces whoever has nothing but the file, and nothing that proves less passes for one."""

import json
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.canonical import canonical
from crypto.fork_proof import MAX_PROOF_BYTES, ForkProof, ProofError, find_proof, make_proof, read_proof
from crypto.op import Entry, Op, to_line
from tests.crypto.publisher import ADA, BOB, Publisher
from vectors.authoring.federation.author import Author, op_hash

ada, bob, thief = Publisher(ADA, 1), Publisher(BOB, 2), Publisher(ADA, 9)
KEY = ada.key_op()
FIRST = ada.sign(KEY, body={"n": 1})
CHAIN = [KEY, FIRST, ada.sign(FIRST, body={"n": 2})]
RIVAL = ada.sign(FIRST, body={"n": "other"})
SKIPPING = ada.sign(FIRST, body={}, seq=9)
MAIL, OTHER_MAIL = ada.mail(FIRST), ada.mail(FIRST, text="bye")


def proof_of(first: Entry, second: Entry) -> dict[str, Any]:
    """What claims to prove a fork, as a value to bend."""
    entries = [json.loads(to_line(each)) for each in sorted((first, second), key=lambda each: each.hash)]
    return {"forkProof": 1, "key": json.loads(to_line(KEY)), "entries": entries}


def refused(value: object) -> str:
    raw = value if isinstance(value, bytes) else canonical(value)  # type: ignore[arg-type]
    with pytest.raises(ProofError) as caught:
        read_proof(raw)
    return str(caught.value)


@pytest.mark.parametrize(
    ("first", "second", "seq", "same_seq"),
    [
        (CHAIN[2], RIVAL, 3, True),
        (CHAIN[2], SKIPPING, 9, False),
        (MAIL, OTHER_MAIL, 3, True),
        (MAIL, RIVAL, 3, True),
    ],
)
def test_two_signed_ops_for_one_place_are_a_proof(first: Op, second: Op, seq: int, same_seq: bool) -> None:
    made = make_proof(KEY, (first, second))
    found = read_proof(made.to_bytes() + b"\n")
    assert found == make_proof(KEY, (second, first)) == made
    assert (found.replica, found.seq, found.same_seq) == (ADA, seq, same_seq)
    assert found.key.fingerprint == ada.key.fingerprint
    assert {each.hash for each in found.entries} == {first.hash, second.hash}


def test_a_proof_shows_no_sealed_content() -> None:
    made = make_proof(KEY, (MAIL, OTHER_MAIL)).to_bytes()
    assert b'"sealed"' not in made
    assert len(made) < 4096


def test_a_proof_with_whole_ops_in_it_holds_too() -> None:
    value = proof_of(MAIL, OTHER_MAIL)
    assert b'"sealed"' in canonical(value)
    assert read_proof(canonical(value)).seq == 3


def test_two_key_ops_of_one_key_are_a_fork() -> None:
    assert read_proof(make_proof(KEY, (KEY, ada.key_op(device="other"))).to_bytes()).seq == 1


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (FIRST, FIRST, "the same op twice"),
        (MAIL, MAIL.stub(), "the same op twice"),
        (FIRST, CHAIN[2], "different places"),
        (CHAIN[2], thief.sign(FIRST, body={}), "another key signed"),
        (CHAIN[2], bob.sign(FIRST, body={}), "another replica"),
    ],
)
def test_what_proves_nothing_is_refused(first: Op, second: Entry, why: str) -> None:
    assert why in refused(proof_of(first, second))
    with pytest.raises(ProofError, match=why):
        make_proof(KEY, (first, second))
    assert find_proof(KEY, (first, second)) is None


def test_another_s_key_op_cannot_frame_anybody() -> None:
    value = proof_of(CHAIN[2], RIVAL)
    value["key"] = json.loads(to_line(thief.key_op()))
    assert "another key signed" in refused(value)
    # An announced key nobody signed for: the fingerprint would be made up.
    value["key"] = json.loads(to_line(KEY)) | {"body": KEY.body | {"sealPub": bob.key.seal_pub}}  # type: ignore[operator]
    assert "bodyHash mismatch" in refused(value)


def test_a_signature_written_another_way_is_no_other_op() -> None:
    value = proof_of(CHAIN[2], CHAIN[2])
    sig = value["entries"][1]["sig"]
    respelled = [
        sig[:-1] + last for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if last != sig[-1]
    ]
    for each in respelled:
        value["entries"][1]["sig"] = each
        for entries in (value["entries"], value["entries"][::-1]):
            assert refused(value | {"entries": entries})


@pytest.mark.parametrize(
    "bend",
    [
        lambda v: v | {"more": 1},
        lambda v: {name: v[name] for name in ("key", "entries")},
        lambda v: v | {"forkProof": 2},
        lambda v: v | {"forkProof": True},
        lambda v: v | {"forkProof": 1.5},
        lambda v: v | {"entries": v["entries"][::-1]},
        lambda v: v | {"entries": v["entries"] * 2},
        lambda v: v | {"entries": v["entries"][:1]},
        lambda v: v | {"entries": {"0": v["entries"][0]}},
        lambda v: v | {"entries": [v["entries"][0], None]},
        lambda v: v | {"entries": [v["entries"][0] | {"x": 1}, v["entries"][1]]},
        lambda v: v | {"entries": [v["entries"][0] | {"pruned": True}, v["entries"][1]]},
        lambda v: v | {"key": v["entries"][0]},
        lambda v: v | {"key": None},
        lambda v: [v],
        lambda v: None,
    ],
)
def test_a_bent_proof_is_refused(bend: Any) -> None:
    refused(bend(proof_of(CHAIN[2], RIVAL)))


def test_only_the_canonical_form_is_read() -> None:
    value = proof_of(CHAIN[2], RIVAL)
    good = canonical(value)
    read_proof(good)
    twice = good.replace(b'{"entries"', b'{"forkProof":1,"entries"', 1)
    for raw in (
        json.dumps(value).encode(),
        b" " + good,
        good + b"\n\n",
        b"\xef\xbb\xbf" + good,
        twice,
        b"",
        b"\xff",
    ):
        refused(raw)
    assert "longer" in refused(good + b" " * MAX_PROOF_BYTES)
    refused(b"[" * 100_000)


PROOF = make_proof(KEY, (CHAIN[2], RIVAL)).to_bytes()


@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, len(PROOF) - 1), byte=st.integers(0, 255))
def test_no_changed_byte_passes(at: int, byte: int) -> None:
    bent = PROOF[:at] + bytes([byte]) + PROOF[at + 1 :]
    if bent == PROOF:
        return
    with pytest.raises(ProofError):
        read_proof(bent)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_proof_is_found_among_any_entries_exactly_where_there_is_one(data: st.DataObject) -> None:
    """Branches from a few ops: a fork is where two of them share a seq or a prev."""
    made: list[Entry] = [KEY]
    for number in range(data.draw(st.integers(1, 6))):
        after = data.draw(st.sampled_from(made))
        assert isinstance(after, Op)
        seq = after.seq + data.draw(st.integers(1, 2))
        made.append(ada.sign(after, body={"n": number}, seq=seq))
    shared = any(
        one.hash != other.hash and (one.seq == other.seq or one.prev == other.prev)
        for one in made
        for other in made
    )
    found = find_proof(KEY, data.draw(st.permutations(made)))
    assert isinstance(found, ForkProof) is shared
    if found is not None:
        assert read_proof(found.to_bytes()) == found


def test_what_other_libraries_sign_and_write_is_read_alike() -> None:
    """The same file, made with another signature library and another writer of canonical JSON."""
    author = Author("mal-0000000f")
    key_op = author.key_op()
    first = author.op(key_op, body={"n": 1.5, "\u20ac": "\u2028"})
    second = author.op(key_op, type="roster", body={"rv": 1, "action": "invite", "é": [1e21, -0.0]})
    entries = sorted((first, second), key=op_hash)
    raw = rfc8785.dumps({"forkProof": 1, "key": key_op, "entries": entries})
    found = read_proof(raw)
    assert (found.replica, found.seq, found.key.fingerprint) == (author.replica, 2, author.fingerprint)
    assert found.to_bytes() == raw
