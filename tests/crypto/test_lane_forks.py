"""Two histories in one lane: where they part, the log halts, whatever the order (federation wire 2.3)."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crypto.chain import is_signed
from crypto.lane import History
from crypto.op import ABSENT, ZERO_HASH, Unverified, read_line, tampering, to_line
from tests.crypto.lanes import (
    ALL,
    CHAIN,
    FIFTH,
    KEY_OP,
    LINES,
    MAIL,
    SECOND,
    SIXTH,
    ada,
    changed,
    cursor,
    halted,
    read,
)
from tests.crypto.publisher import ADA, lines


@given(st.permutations([*LINES, to_line(ada.sign(SECOND, body="two"))]))
def test_k4_two_signed_ops_at_one_seq_halt_the_log_there(found: list[bytes]) -> None:
    result = read(found)
    assert result.entries == (KEY_OP, SECOND)
    assert halted(result) == (3, "two ops share this seq")


@given(st.permutations([*LINES, to_line(ada.sign(SECOND, body="two", seq=5, prev=KEY_OP.hash))]))
def test_k4_two_signed_ops_after_one_halt_the_log_at_the_later_seq(found: list[bytes]) -> None:
    """The rival shares its prev with seq 2 and its seq with seq 5."""
    result = read(found)
    assert result.entries == tuple(CHAIN[:4])
    assert halted(result) == (5, "two ops share this seq")


def test_of_two_seqs_after_one_op_the_lower_is_the_chain() -> None:
    low, high = ada.sign(SECOND, body="low", seq=5), ada.sign(SECOND, body="high", seq=8)
    between = ada.sign(low, body="between", seq=7)
    beyond = ada.sign(between, body="beyond", seq=9)
    for found in ([high, low, between, beyond], [beyond, between, low, high]):
        result = read([*LINES[:2], *lines(found)])
        assert result.entries == (KEY_OP, SECOND, low, between)
        assert halted(result) == (8, "prev does not match")


def test_a_rival_of_a_consumed_op_halts_the_log() -> None:
    rival = to_line(ada.sign(SECOND, body="two"))
    result = read([rival], at=FIFTH, remembered=History(CHAIN[:5]))
    assert result.entries == ()
    assert result.cursor.head == cursor(FIFTH).head
    assert halted(result) == (3, "two ops share this seq")


def test_a_rival_in_a_seq_that_was_skipped_halts_the_log_by_its_prev() -> None:
    high = ada.sign(SECOND, body="high", seq=8)
    low = to_line(ada.sign(SECOND, body="low", seq=5))
    result = read([low], at=high, remembered=History([KEY_OP, SECOND, high]))
    assert halted(result) == (5, "prev does not match")


def test_a_later_op_after_a_consumed_one_halts_the_log_by_its_prev() -> None:
    result = read([to_line(ada.sign(SECOND, body="high", seq=99))], at=FIFTH, remembered=History(CHAIN[:5]))
    assert halted(result) == (99, "prev does not match")


def test_a_rival_of_the_head_itself_halts_the_log() -> None:
    rival = to_line(ada.sign(MAIL, body="two"))
    assert halted(read([LINES[4], rival], at=FIFTH)) == (5, "two ops share this seq")


def test_what_is_remembered_no_longer_is_no_fork() -> None:
    assert read([to_line(ada.sign(SECOND, body="two"))], at=SIXTH).cursor == cursor(SIXTH)


def test_only_what_both_verify_is_a_fork() -> None:
    """A rival header under a good signature whose content was damaged proves nothing yet."""
    rival = ada.sign(SECOND, body="two")
    assert read([*LINES, changed(rival, body="three")]).cursor == cursor(SIXTH)
    assert read([*LINES, changed(rival, pruned=True, body=ABSENT)]).cursor == cursor(SIXTH)


def test_an_op_and_its_stub_are_no_fork_and_content_is_preferred() -> None:
    stub = to_line(MAIL.stub())
    assert read([*LINES, stub]) == ALL
    assert read([stub, *LINES]) == ALL
    assert read([*LINES[:3], stub, *LINES[3:]]) == ALL
    pruned = read([*LINES[:3], stub, *LINES[4:]])
    assert pruned.entries == (*CHAIN[:3], MAIL.stub(), *CHAIN[4:])
    assert pruned.cursor == cursor(SIXTH)


def test_two_rivals_that_neither_can_follow_are_a_fork() -> None:
    """Both are signed, and both have clocks that do not rise."""
    rivals = [ada.sign(SECOND, body=n, hlc=SECOND.hlc) for n in (1, 2)]
    assert halted(read([*LINES[:2], *lines(rivals)])) == (3, "two ops share this seq")


# Against a second, simple implementation of the rules


def expected(found: Sequence[bytes]) -> tuple[list[str], int | None]:
    """The hashes accepted and the seq of the fork, straight from the definitions in `crypto.walk`."""
    authentic: dict[str, Unverified] = {}
    for line in found:
        entry = read_line(line)
        if not isinstance(entry, Unverified) or entry.replica != ADA or tampering(entry) is not None:
            continue
        if is_signed(entry, ada.secrets.signer.public):
            authentic[entry.hash] = entry
    chain: list[Unverified] = []
    while True:
        prev = chain[-1].hash if chain else ZERO_HASH
        after = [entry for entry in authentic.values() if entry.prev == prev]
        if not after or (not chain and after[0].type != "key"):
            break
        chain.append(min(after, key=lambda entry: (entry.seq, entry.hash)))
    on_chain = {entry.hash for entry in chain}
    seqs, prevs = {entry.seq for entry in chain}, {entry.prev for entry in chain}
    rivals = [
        entry.seq
        for entry in authentic.values()
        if entry.hash not in on_chain and (entry.seq in seqs or entry.prev in prevs)
    ]
    fork = min(rivals, default=None)
    return [entry.hash for entry in chain if fork is None or entry.seq < fork], fork


@st.composite
def forked_lanes(draw: st.DrawFn) -> list[bytes]:
    """Lines of a tree of signed ops with seqs that rise along each branch, some damaged, shuffled."""
    ops = [KEY_OP]
    for n in range(draw(st.integers(0, 9))):
        parent = ops[draw(st.integers(max(0, len(ops) - 3), len(ops) - 1))]
        ops.append(ada.sign(parent, body={"n": n}, seq=parent.seq + draw(st.integers(1, 3))))
    found = lines(ops)
    found += [changed(op, body="damaged") for op in draw(st.lists(st.sampled_from(ops), max_size=3))]
    return list(draw(st.permutations(found)))


@given(forked_lanes(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_k4_a_tree_of_ops_has_one_outcome(found: list[bytes], random: Any) -> None:
    hashes, fork = expected(found)
    result = read(found)
    assert [entry.hash for entry in result.entries] == hashes
    assert (None if result.cursor.halted is None else result.cursor.halted.seq) == fork
    again = found + [random.choice(found) for _ in range(3)]
    random.shuffle(again)
    repeated = read(again)
    assert (repeated.entries, repeated.cursor, repeated.stall, repeated.gap) == (
        result.entries,
        result.cursor,
        result.stall,
        result.gap,
    )
