"""A log whose entries are its publisher's: one entry, then many (federation wire 2.1 and 2.2)."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.chain import (
    Cursor,
    Halt,
    Head,
    LogResult,
    verify_entry,
    verify_log,
)
from crypto.clock import Reading
from crypto.keys import KeyBody
from crypto.op import ABSENT, Entry, Op, OpError, Unreadable, Unverified, read_line, read_value, to_line
from tests.crypto.publisher import ADA, BOB, START_MS, Publisher

ada = Publisher()
eve = Publisher(fill=2)
CHAIN = ada.chain(4)
KEY_OP, SECOND, THIRD, FOURTH = CHAIN
SIGN_KEY = ada.secrets.signer.public


def read(entry: Entry, **changes: Any) -> Unverified:
    """An entry as it is read from its line, with members changed, or removed where they are ABSENT."""
    value = json.loads(to_line(entry)) | changes
    found = read_value({name: item for name, item in value.items() if item is not ABSENT})
    assert isinstance(found, Unverified)
    return found


def head(op: Op) -> Head:
    return Head(op.seq, op.hash, op.hlc)


def refusal(entry: Unverified, at: Head | None, key: bytes = SIGN_KEY) -> str:
    with pytest.raises(OpError) as refused:
        verify_entry(entry, at, key)
    return str(refused.value)


# One entry


def test_entries_that_follow_verify() -> None:
    assert verify_entry(read(KEY_OP), None, SIGN_KEY) == KEY_OP
    assert verify_entry(read(SECOND), head(KEY_OP), SIGN_KEY) == SECOND
    mail = ada.mail(SECOND)
    assert verify_entry(read(mail), head(SECOND), SIGN_KEY) == mail
    assert verify_entry(read(mail.stub()), head(SECOND), SIGN_KEY) == mail.stub()


def test_seq_may_skip() -> None:
    later = ada.sign(SECOND, body={}, seq=900)
    assert verify_entry(read(later), head(SECOND), SIGN_KEY) == later


@pytest.mark.parametrize(
    ("entry", "at", "expected"),
    [
        (read(SECOND), None, "a log must start with its key op"),
        (read(KEY_OP, prev="1" * 64), None, "a log must start with its key op"),
        (read(KEY_OP, pruned=True, body=ABSENT), None, "a log must start with its key op"),
        (read(ada.sign(KEY_OP, "key", ada.key.to_json())), head(KEY_OP), "a second key op"),
        (read(THIRD), head(KEY_OP), "prev does not match"),
        (read(ada.sign(SECOND, body={}, seq=2)), head(SECOND), "seq must rise"),
        (read(ada.sign(SECOND, body={}, hlc=SECOND.hlc)), head(SECOND), "hlc must rise"),
        (read(SECOND, body=ABSENT, pruned=True), head(KEY_OP), "a task op cannot be a stub"),
        (read(ada.mail(SECOND), pruned=True), head(SECOND), "a stub carries no content"),
        (read(SECOND, body={"n": 2}), head(KEY_OP), "bodyHash mismatch"),
        (read(SECOND, sig="A" * 86), head(KEY_OP), "bad signature"),
        (read(SECOND, sig=SECOND.sig + "=="), head(KEY_OP), "bad signature"),
        (read(SECOND, sig=""), head(KEY_OP), "bad signature"),
        (read(SECOND, type="doc"), head(KEY_OP), "bad signature"),
        (read(eve.sign(KEY_OP, body={})), head(KEY_OP), "bad signature"),
    ],
)
def test_an_entry_that_does_not_follow_is_refused_with_its_reason(
    entry: Unverified, at: Head | None, expected: str
) -> None:
    assert refusal(entry, at) == expected


def test_clocks_compare_as_numbers() -> None:
    tenth = ada.sign(KEY_OP, body={}, hlc=Reading(START_MS + 1, 10_000, ADA))
    text_is_larger = ada.sign(tenth, body={}, hlc=Reading(START_MS + 1, 9_999, ADA))
    assert refusal(read(text_is_larger), head(tenth)) == "hlc must rise"


def test_p6_another_spelling_of_a_signature_does_not_verify() -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = alphabet.index(SECOND.sig[-1])
    for respelled in range(last & ~15, (last & ~15) + 16):
        entry = read(SECOND, sig=SECOND.sig[:-1] + alphabet[respelled])
        if respelled == last:
            assert verify_entry(entry, head(KEY_OP), SIGN_KEY) == SECOND
        else:
            assert refusal(entry, head(KEY_OP)) == "bad signature"


def test_the_first_check_that_fails_gives_the_reason() -> None:
    at = head(THIRD)
    assert refusal(read(ada.key_op()), at) == "a second key op"
    worst = {"type": "task", "sig": "", "body": ABSENT, "pruned": True}
    assert refusal(read(SECOND, **worst), at) == "prev does not match"
    assert refusal(read(SECOND, **worst, prev=THIRD.hash), at) == "seq must rise"
    assert refusal(read(SECOND, **worst, prev=THIRD.hash, seq=9), at) == "hlc must rise"
    later = f"{START_MS + 9}.0000.{ADA}"
    assert refusal(read(SECOND, **worst, prev=THIRD.hash, seq=9, hlc=later), at) == "bad signature"


# A log


def log(
    entries: Iterable[Unverified | Unreadable],
    cursor: Cursor | None = None,
    pinned: KeyBody | None = None,
) -> LogResult:
    return verify_log(ADA, entries, cursor or Cursor(), pinned)


def halted(result: LogResult) -> tuple[int, str]:
    assert result.cursor.halted is not None
    return result.cursor.halted.seq, result.cursor.halted.reason


READ = [read(op) for op in CHAIN]


@given(st.permutations([*READ, READ[1]]))
def test_order_and_repetition_mean_nothing(entries: list[Unverified]) -> None:
    assert log(entries) == LogResult(tuple(CHAIN), Cursor(head(FOURTH)), ada.key)


def test_a_log_goes_on_from_its_cursor() -> None:
    result = log(READ, Cursor(head(SECOND)), ada.key)
    assert result.accepted == (THIRD, FOURTH)
    assert log(READ, result.cursor, ada.key).accepted == ()


def test_entries_of_other_replicas_are_not_its_business() -> None:
    assert log([read(Publisher(BOB, 3).key_op()), *READ]).accepted == tuple(CHAIN)


def test_without_any_key_op_a_log_waits() -> None:
    assert log(READ[1:]) == LogResult((), Cursor(), None)


def test_a_halted_log_takes_nothing_more() -> None:
    cursor = Cursor(head(SECOND), Halt(3, "bad signature", "…"))
    assert log(READ, cursor, ada.key) == LogResult((), cursor, ada.key)


def test_a_failed_entry_halts_and_what_was_accepted_stays() -> None:
    result = log([*READ[:2], read(THIRD, body={"n": 9}), READ[3]])
    assert result.accepted == (KEY_OP, SECOND)
    assert result.cursor.head == head(SECOND)
    assert halted(result) == (3, "bodyHash mismatch")


def test_an_entry_out_of_shape_halts_at_its_seq() -> None:
    unreadable = read_value(json.loads(to_line(THIRD)) | {"type": "Task"})
    result = log([*READ[:2], unreadable, unreadable, READ[3]])
    assert result.accepted == (KEY_OP, SECOND)
    assert halted(result) == (3, "not a v2 op")


def test_two_ops_at_one_seq_halt_there_and_an_op_and_its_stub_do_not() -> None:
    mail = ada.mail(SECOND)
    assert log([*READ[:2], read(mail.stub()), read(mail)]).accepted == (KEY_OP, SECOND, mail)
    result = log([*READ, read(mail)])
    assert result.accepted == (KEY_OP, SECOND)
    assert halted(result) == (3, "two ops share this seq")


def test_another_op_at_the_head_halts_and_below_it_is_skipped() -> None:
    result = log([read(ada.sign(KEY_OP, body="else"))], Cursor(head(SECOND)), ada.key)
    assert halted(result) == (2, "two ops share this seq")
    assert log([read(ada.sign(KEY_OP, body="else"))], Cursor(head(THIRD)), ada.key) == LogResult(
        (), Cursor(head(THIRD)), ada.key
    )


def test_a_key_op_that_is_not_first_halts() -> None:
    result = log([read(ada.sign(None, body={})), read(ada.sign(None, "key", ada.key.to_json(), seq=2))])
    assert halted(result) == (1, "a log must start with its key op")


@pytest.mark.parametrize(
    "body",
    [None, [], {}, {"signPub": 5}, ada.key.to_json() | {"device": ""}, ada.key.to_json() | {"caps": 1}],
)
def test_a_key_op_that_announces_no_key_halts(body: Any) -> None:
    assert halted(log([read(ada.sign(None, "key", body))])) == (1, "malformed key op")


def test_a_key_op_signed_by_another_key_halts() -> None:
    assert halted(log([read(eve.sign(None, "key", ada.key.to_json()))])) == (1, "bad signature")
    crippled = ada.key.to_json() | {"signPub": "!"}
    assert halted(log([read(ada.sign(None, "key", crippled))])) == (1, "bad signature")


@pytest.mark.parametrize(
    "change", [{"device": "laptop"}, {"caps": ["relay"]}, {"legacy": {"throughSeq": 1, "digest": "0" * 64}}]
)
def test_a_log_that_shows_another_key_than_the_pinned_one_halts(change: dict[str, Any]) -> None:
    result = log([read(ada.key_op(**change))], pinned=ada.key)
    assert result.accepted == ()
    seq, reason = halted(result)
    assert seq == 1
    assert "another key than the one pinned" in reason


def test_a_halt_tells_replica_seq_reason_and_what_helps() -> None:
    halt = log([*READ[:2], read(THIRD, body=0)]).cursor.halted
    assert halt is not None
    for part in (ADA, "seq 3", "bodyHash mismatch", "revoke", "push"):
        assert part in halt.text


def test_a_begun_log_needs_the_key_that_began_it() -> None:
    with pytest.raises(ValueError, match="key"):
        log(READ, Cursor(head(SECOND)))


def test_a_log_reads_from_lines() -> None:
    assert log([read_line(to_line(op)) for op in CHAIN]).accepted == tuple(CHAIN)
