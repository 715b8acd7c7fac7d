"""A lane: lines in any order, some damaged, some hostile, become one chain (federation wire 2.3)."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crypto import judge
from crypto.chain import PREV_MISMATCH, Cursor, is_signed
from crypto.clock import Reading
from crypto.judge import CUT_MISMATCH, SignatureMemory
from crypto.lane import History, LaneResult, read_lane, verified_entries
from crypto.op import ABSENT, ZERO_HASH, Entry, Op, Unverified, to_line
from crypto.walk import Gap, Stall
from tests.crypto.lanes import (
    ALL,
    CHAIN,
    FIFTH,
    KEY_OP,
    LINES,
    MAIL,
    OVERSIZE,
    SECOND,
    SIXTH,
    THIRD,
    ada,
    changed,
    cursor,
    eve,
    halted,
    read,
)
from tests.crypto.publisher import ADA, BOB, START_MS, Publisher, lines

# Order, repetition, storage


@given(st.permutations(LINES + LINES[:3]))
def test_k4_order_and_repetition_mean_nothing(found: list[bytes]) -> None:
    assert read(found) == ALL


@given(st.lists(st.integers(0, 5)), st.permutations(range(6)))
def test_k4_lines_may_come_in_any_passes(sizes: list[int], order: list[int]) -> None:
    """However lines are spread over passes, once all were seen the chain is whole."""
    at, entries, seen = Cursor(), list[Entry](), list[bytes]()
    for index in order:
        seen.append(LINES[index])
        result = read_lane(ADA, seen, at, ada.key, remembered=History(entries))
        at = result.cursor
        entries += result.entries
    assert entries == CHAIN
    assert at == ALL.cursor


def test_a_chain_goes_on_from_its_cursor_and_knows_its_own_head_again() -> None:
    assert read(LINES[2:], at=THIRD) == LaneResult((MAIL, FIFTH, SIXTH), cursor(SIXTH))


def test_a_halted_lane_takes_nothing_more() -> None:
    halt = read([*LINES[:2], changed(THIRD, body=0), to_line(ada.sign(SECOND, body=0))]).cursor
    assert halt.halted is None
    fork = read([*LINES, to_line(ada.sign(SECOND, body=0))])
    assert read_lane(ADA, LINES, fork.cursor, ada.key) == LaneResult((), fork.cursor)


def test_seq_may_skip_and_start_anywhere() -> None:
    late = ada.sign(None, "key", ada.key.to_json(), seq=17)
    later = ada.sign(late, body={}, seq=900)
    assert read(lines([later, late])).entries == (late, later)


# Junk


JUNK: list[bytes] = [
    b"",
    b"junk",
    b"{",
    b"[]",
    b"\xff\xfe",
    b"[" * 5000,
    LINES[2][:-1],
    LINES[4][:90],
    b"x" * 1_048_577,
    to_line(Publisher(BOB, 3).key_op()),
    changed(SECOND, replica=BOB),
    changed(SECOND, v=1),
    changed(SECOND, sig=ABSENT),
]


@given(st.permutations(JUNK + LINES))
@settings(max_examples=20)
def test_k4_junk_is_skipped_and_counted(found: list[bytes]) -> None:
    assert read(found) == replace(ALL, skipped=len(JUNK))


@pytest.mark.parametrize(
    "junk",
    [
        to_line(eve.sign(SECOND, body="forged")),
        changed(THIRD, body={"n": 99}),
        changed(THIRD, seq=99),
        changed(THIRD, hlc=f"{START_MS}.0000.{ADA}"),
        changed(THIRD, sig=THIRD.sig[:-1] + ("A" if THIRD.sig[-1] != "A" else "Q")),
        changed(THIRD, pruned=True, body=ABSENT),
        changed(THIRD, type="TASK"),
        changed(THIRD, hlc="never"),
        OVERSIZE,
        to_line(ada.key_op()).replace(b'"desk"', b'"DESK"'),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_junk_that_claims_a_place_neither_halts_nor_stops_the_honest_line(junk: bytes, first: bool) -> None:
    result = read([junk, *LINES] if first else [*LINES, junk])
    assert (result.entries, result.cursor) == (ALL.entries, ALL.cursor)
    assert (result.stall, result.gap) == (None, None)


def test_p6_a_respelled_signature_is_neither_a_fork_nor_a_halt() -> None:
    """Each of the 16 spellings of the last line's signature, which is another opHash, in place and beside."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    base = alphabet.index(SIXTH.sig[-1]) & ~15
    spellings = {SIXTH.sig[:-1] + alphabet[base + low] for low in range(16)} - {SIXTH.sig}
    assert len(spellings) == 15
    respelled = [changed(SIXTH, sig=sig) for sig in sorted(spellings)]
    assert read([*respelled, *LINES]) == replace(ALL, skipped=15)
    assert read([*LINES[4:], *respelled], at=SIXTH, remembered=History(CHAIN)).cursor == ALL.cursor
    alone = read([*LINES[:5], *respelled])
    assert alone.cursor == cursor(FIFTH)
    assert alone.stall == Stall(6, "bad signature")


def test_p1_a_line_is_cut_at_line_feeds_alone() -> None:
    body = "\r\n \n \r \v \f \x85 \u2028 \u2029"
    op = ada.sign(KEY_OP, body=body)
    raw = json.dumps(json.loads(to_line(op)), ensure_ascii=False).encode()
    assert b"\n" not in raw
    assert "\u2028".encode() in raw
    assert read([LINES[0], raw]).entries == (KEY_OP, op)


def test_p2_invalid_bytes_read_as_the_replacement_character() -> None:
    op = ada.sign(KEY_OP, body="a\ufffdb")
    raw = to_line(op).replace("\ufffd".encode(), b"\xff")
    assert read([LINES[0], raw]).entries == (KEY_OP, op)


def test_p3_numbers_are_the_doubles_their_literals_name() -> None:
    op = ada.sign(KEY_OP, body=[1e16, 5, 1e21])
    raw = to_line(op).replace(b"[10000000000000000,5,1e+21]", b"[10000000000000000.0, 5.0, 1e21]")
    assert read([LINES[0], raw]).entries == (KEY_OP, op)
    beyond = to_line(op).replace(b"1e+21", b"1e400")
    assert read([LINES[0], beyond]) == LaneResult((KEY_OP,), cursor(KEY_OP), skipped=1)


def test_p4_a_repeated_key_is_accepted_as_its_last_value_and_flagged() -> None:
    flagged = b'{"bod\\u0079":7,' + LINES[1][1:]
    assert read([LINES[0], flagged, *LINES[2:]]) == replace(ALL, flagged=(2,))
    assert read([*LINES, flagged]) == ALL
    assert read([flagged, *LINES[2:], LINES[0], LINES[1]]) == ALL


def test_p4_content_is_preferred_to_its_stub_though_its_line_is_flagged() -> None:
    stub, flagged = to_line(MAIL.stub()), b'{"seq":0,' + LINES[3][1:]
    for found in ([stub, flagged], [flagged, stub]):
        assert read([*LINES[:3], *found, *LINES[4:]]) == replace(ALL, flagged=(4,))


def test_p5_null_is_not_absent() -> None:
    null_body = changed(MAIL, body=None)
    assert read([*LINES[:3], null_body]).stall == Stall(4, "bodyHash mismatch")
    null_to = changed(THIRD, to=None)
    assert read([*LINES[:2], null_to]).stall == Stall(3, "bad recipient list")
    null_pruned = changed(MAIL, pruned=None)
    assert read([*LINES[:3], null_pruned]).entries == tuple(CHAIN[:4])


def test_p7_a_line_nested_too_deep_is_skipped() -> None:
    deep = b'{"body":' + b"[" * 256 + b"]" * 256 + b"," + LINES[2].split(b",", 1)[1]
    result = read([*LINES[:2], deep, *LINES[3:]])
    assert result.entries == (KEY_OP, SECOND)
    assert result.skipped == 1


# Stalls and gaps


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (changed(THIRD, body={"n": 99}), Stall(3, "bodyHash mismatch")),
        (changed(THIRD, type="doc"), Stall(3, "bad signature")),
        (changed(THIRD, type="Doc"), Stall(3, "not a v2 op")),
        (changed(THIRD, seq=7), Stall(7, "bad signature")),
        (changed(THIRD, seq=1), Stall(1, "seq must rise")),
        (changed(THIRD, hlc=str(KEY_OP.hlc)), Stall(3, "hlc must rise")),
        (changed(THIRD, pruned=True, body=ABSENT), Stall(3, "a task op cannot be a stub")),
        (OVERSIZE, Stall(3, "over MAX_OP_BYTES")),
        (to_line(eve.sign(SECOND, body="forged")), Stall(3, "bad signature")),
    ],
)
def test_a_damaged_op_stalls_the_log_and_its_mending_lets_it_go_on(line: bytes, expected: Stall) -> None:
    result = read([*LINES[:2], line, *LINES[3:]])
    assert result.entries == (KEY_OP, SECOND)
    assert result.cursor == cursor(SECOND)
    assert result.stall == expected
    mended = read([line, *LINES[1:]], at=SECOND)
    assert mended.entries == tuple(CHAIN[2:])
    assert mended.stall is None


def test_a_stall_tells_of_the_lowest_claim_whatever_the_order() -> None:
    claims = [
        changed(THIRD, seq=9),
        changed(THIRD, type="DOC"),
        changed(THIRD, body=0),
        changed(THIRD, seq=4),
    ]
    for found in (claims, claims[::-1]):
        assert read([*LINES[:2], *found]).stall == Stall(3, "bodyHash mismatch")


@pytest.mark.parametrize(
    "line", [b"", LINES[2][:50], changed(THIRD, prev="0" * 64), changed(THIRD, replica=BOB)]
)
def test_an_op_that_is_gone_is_told_by_what_follows_it(line: bytes) -> None:
    result = read([*LINES[:2], line, *LINES[3:]])
    assert result.entries == (KEY_OP, SECOND)
    assert (result.stall, result.gap) == (None, Gap(4))


def test_an_op_that_is_remembered_ahead_of_the_head_is_no_rival_of_itself_where_those_before_it_are_gone() -> (
    None
):
    """Roster ops count before their chain was read up to them."""
    remembered = History([*CHAIN[:2], FIFTH])
    result = read(LINES[4:], at=SECOND, remembered=remembered)
    assert (result.entries, result.cursor) == ((), cursor(SECOND))
    assert result.gap == Gap(5)
    rival = ada.sign(MAIL, body="another story")
    assert halted(read([*LINES[4:], to_line(rival)], at=SECOND, remembered=remembered)) == (5, PREV_MISMATCH)
    assert read(LINES[2:], at=SECOND, remembered=remembered).cursor == cursor(SIXTH)


def test_junk_with_a_later_seq_is_no_gap() -> None:
    result = read([*LINES[:3], to_line(eve.sign(FIFTH, body=0)), to_line(eve.sign(SIXTH, body=0))])
    assert (result.stall, result.gap, result.waiting) == (None, None, 2)


# Halts


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (ada.sign(SECOND, body=0, hlc=SECOND.hlc), (3, "hlc must rise")),
        (ada.sign(SECOND, "key", ada.key.to_json()), (3, "a second key op")),
    ],
)
def test_what_its_publisher_signed_and_breaks_a_rule_halts_the_log(op: Op, expected: tuple[int, str]) -> None:
    result = read([*LINES[:2], to_line(op)])
    assert result.entries == (KEY_OP, SECOND)
    assert result.cursor.head == cursor(SECOND).head
    assert halted(result) == expected


def test_a_signed_op_below_the_head_that_follows_it_halts_the_log() -> None:
    late = ada.sign(KEY_OP, body=0, seq=9)
    assert halted(read([LINES[0], to_line(late), to_line(ada.sign(late, body=0, seq=5))])) == (
        5,
        "seq must rise",
    )


def test_sealed_content_that_breaks_its_rules_halts_only_as_its_publisher_signed_it() -> None:
    value = json.loads(to_line(MAIL)) | {"type": "task"}
    assert read([*LINES[:3], json.dumps(value).encode()]).stall == Stall(4, "bad signature")


def test_the_halt_names_replica_seq_reason_and_what_helps() -> None:
    halt = read([*LINES, to_line(ada.sign(SECOND, body="two"))]).cursor.halted
    assert halt is not None
    for part in (ADA, "seq 3", "two ops share this seq", "revoke", "push"):
        assert part in halt.text


# The start of a log


def test_without_its_key_op_a_log_waits() -> None:
    result = read(LINES[1:])
    assert (result.entries, result.cursor, result.stall) == ((), Cursor(), None)


def test_the_claims_of_other_keys_are_not_the_business_of_a_log() -> None:
    rival = eve.key_op()
    claims = lines([rival, eve.sign(rival, "roster", {})])
    assert read([*claims, *LINES]).cursor == ALL.cursor
    assert read(claims) == LaneResult((), Cursor(), waiting=2)


def test_a_key_op_that_was_damaged_stalls_the_log() -> None:
    assert read([changed(KEY_OP, type="key", hlc=f"{START_MS}.0000.{ADA}")]).stall == Stall(
        1, "bad signature"
    )
    assert read([to_line(KEY_OP).replace(b'"desk"', b'"DESK"')]).stall == Stall(1, "bodyHash mismatch")


def test_two_key_ops_under_one_key_are_a_fork() -> None:
    second = ada.key_op(device="laptop")
    for found in ([LINES[0], to_line(second)], [to_line(second), LINES[0]]):
        result = read(found)
        assert result.entries == ()
        assert halted(result) == (1, "two ops share this seq")


def test_a_key_op_that_shows_another_key_than_the_decided_one_halts() -> None:
    seq, reason = halted(read(lines([ada.key_op(sealPub=eve.secrets.seal_pub)])))
    assert seq == 1
    assert "another key than the one pinned" in reason


def test_a_key_op_out_of_its_rules_halts() -> None:
    assert halted(read(lines([ada.key_op(device="")]))) == (1, "malformed key op")


# Clocks, cuts, content that comes late


def test_c1_an_op_past_the_horizon_waits_and_the_log_with_it() -> None:
    result = read(LINES, horizon_ms=MAIL.hlc.ms - 1)
    assert result.entries == tuple(CHAIN[:3])
    assert result.held == MAIL.hlc
    assert (result.stall, result.gap, result.skipped, result.waiting) == (None, None, 0, 3)
    assert read(LINES[2:], at=THIRD, horizon_ms=SIXTH.hlc.ms).entries == tuple(CHAIN[3:])


@given(
    st.permutations(
        [*LINES[:2], to_line(ada.sign(SECOND, body=0, hlc=Reading(START_MS * 2, 0, ADA))), LINES[2]]
    )
)
def test_k4_a_rival_past_the_horizon_is_a_rival(found: list[bytes]) -> None:
    result = read(found, horizon_ms=START_MS + 1000)
    assert result.entries == (KEY_OP, SECOND)
    assert halted(result) == (3, "two ops share this seq")


def test_a_cut_holds_the_chain_to_the_op_its_revocation_names() -> None:
    assert read(LINES, cut=(THIRD.seq, THIRD.hash)) == ALL
    assert read(LINES, cut=(0, ZERO_HASH)) == ALL
    assert read(LINES, cut=(99, "9" * 64)) == ALL
    other = read(LINES, cut=(THIRD.seq, "9" * 64))
    assert other.entries == (KEY_OP, SECOND)
    assert halted(other) == (3, CUT_MISMATCH)


def test_a_chain_that_passes_its_cut_by_is_another_history() -> None:
    skipping = ada.sign(SECOND, body={}, seq=5)
    result = read([*LINES[:2], to_line(skipping)], cut=(THIRD.seq, THIRD.hash))
    assert result.entries == (KEY_OP, SECOND)
    assert halted(result) == (5, CUT_MISMATCH)


def test_a_cut_below_the_head_is_checked_where_it_is_remembered() -> None:
    cut = (THIRD.seq, "9" * 64)
    assert halted(read([], at=SIXTH, cut=cut, remembered=History(CHAIN))) == (3, CUT_MISMATCH)
    assert read([], at=SIXTH, cut=cut).cursor == cursor(SIXTH)
    assert halted(read([], at=THIRD, cut=cut)) == (3, CUT_MISMATCH)


def test_k2_content_of_a_stub_is_taken_later() -> None:
    missing: dict[str, Any] = {"wanted": {MAIL.hash}, "remembered": History(CHAIN), "at": SIXTH}
    assert read([*LINES[3:], to_line(MAIL.stub())], **missing).restored == (MAIL,)
    sealed = json.loads(to_line(MAIL))["sealed"] | {"nonce": "AAAA"}
    assert read([changed(MAIL, sealed=sealed), to_line(MAIL.stub())], **missing).restored == ()


def test_r1_what_a_key_signed_is_told_from_everything_else_in_a_lane() -> None:
    foreign = ada.sign(FIFTH, body="signed elsewhere")
    junk = [*JUNK, to_line(eve.sign(FIFTH, body=0)), changed(SIXTH, body="no")]
    found = [*junk, to_line(foreign), LINES[1], to_line(MAIL.stub())]
    assert list(verified_entries(ADA, found, ada.secrets.signer.public)) == [foreign, SECOND, MAIL.stub()]


# Work


class Counting:
    """Counts the signatures that are verified."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        monkeypatch.setattr(judge, "is_signed", self._is_signed)

    def _is_signed(self, entry: Unverified, key: bytes) -> bool:
        self.count += 1
        return is_signed(entry, key)


def flood(count: int) -> list[bytes]:
    return [changed(THIRD, seq=3 + n, body={"n": n}) for n in range(1, count + 1)]


def test_a_flood_that_claims_one_place_costs_each_line_once(monkeypatch: pytest.MonkeyPatch) -> None:
    junk, memory, counting = flood(500), SignatureMemory(), Counting(monkeypatch)
    found = [*junk[:250], *LINES, *junk[250:]]
    assert read(found, memory=memory).cursor == ALL.cursor
    assert counting.count <= len(found)
    counting.count = 0
    assert read(found[:-1], memory=memory).cursor == ALL.cursor
    assert counting.count <= len(LINES)


def test_one_signature_over_many_contents_is_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    copies = [changed(THIRD, body={"n": 100 + n}) for n in range(300)]
    counting = Counting(monkeypatch)
    assert read([*LINES[:2], *copies]).stall == Stall(3, "bodyHash mismatch")
    assert counting.count <= 4
    assert read([*copies, *LINES]).cursor == ALL.cursor


def test_the_memory_of_signatures_is_bounded() -> None:
    memory = SignatureMemory(limit=10)
    found = [*LINES[:2], *flood(50)]
    assert read(found, memory=memory).stall == Stall(4, "bad signature")
    assert len(memory) == 10
