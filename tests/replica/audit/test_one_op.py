"""One op with all that was checked about it: each rule that holds, and each that does not, in words."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from crypto.op import Op, to_line
from crypto.roster.bodies import Role, SetRole
from replica.audit.from_file import open_file
from replica.audit.one_op import OneOp, ops_at
from replica.audit.reading import read_source
from replica.audit.scratch import Scratch
from tests.replica.audit.orchard import ADA, BOB, CY, EVE, NOW_MS, Member, Orchard


def look(folder: Path, lines: Iterable[bytes], replica: str, seq: int) -> list[OneOp]:
    path = folder / "lines.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with Scratch() as scratch, open_file(path, scratch) as source:
        return ops_at(read_source(source, scratch, NOW_MS, keep_marks=True), replica, seq)


def checks(one: OneOp) -> Mapping[str, tuple[bool | None, str]]:
    return {each.what: (each.holds, each.text) for each in one.checks}


def failed(one: OneOp) -> set[str]:
    return {each.what for each in one.checks if each.holds is False}


def test_an_op_that_stands_holds_in_everything(tmp_path: Path) -> None:
    team = Orchard()
    (one,) = look(tmp_path, team.lines, BOB, 3)
    assert one.accepted
    assert one.counts
    assert one.read.hash == team.bob.ops[2].hash
    assert one.body == {"task": "t-1"}
    found = checks(one)
    assert all(holds for holds, _ in found.values())
    assert found["prev"] == (True, "follows op 2, whose hash it names, with a later clock")
    assert found["key"] == (True, f"admitted by {ADA} in op 3")
    assert team.bob.key.fingerprint in found["signature"][1]


def test_who_founded_the_team_needs_no_admission(tmp_path: Path) -> None:
    team = Orchard()
    (one,) = look(tmp_path, team.lines, ADA, 2)
    assert checks(one)["key"] == (True, f"it founded the team {team.team_id}")
    assert one.counts


def test_a_stub_holds_without_its_content(tmp_path: Path) -> None:
    team = Orchard()
    mail = team.bob.head
    lines = [*team.ada.lines, *team.bob.lines[:-1], to_line(mail.stub())]
    (one,) = look(tmp_path, lines, BOB, mail.seq)
    assert one.counts
    assert checks(one)["content"][1].startswith("a stub")
    (whole,) = look(tmp_path, [*lines, to_line(mail)], BOB, mail.seq)
    assert checks(whole)["content"][1] == "its content has the hash that was signed, sealed"


def test_a_damaged_op_is_shown_beside_the_whole_one(tmp_path: Path) -> None:
    team = Orchard()
    damaged = team.bob.lines[2].replace(b'"t-1"', b'"t-9"')
    whole, other = look(tmp_path, [damaged, *team.lines], BOB, 3)
    assert whole.accepted
    assert not other.accepted
    assert checks(other)["content"] == (False, "it is not what its publisher signed (bodyHash mismatch)")
    (alone,) = look(tmp_path, [*team.ada.lines, *team.bob.lines[:2], damaged], BOB, 3)
    assert failed(alone) >= {"content", "chain"}


def test_a_forged_op_is_told_by_its_signature(tmp_path: Path) -> None:
    team, thief = Orchard(), Member(BOB, 9)
    forged = thief.publisher.sign(team.bob.head, body={"task": "t-6"})
    (one,) = look(tmp_path, [*team.lines, to_line(forged)], BOB, forged.seq)
    assert "signature" in failed(one)
    assert not one.counts


def test_both_ops_of_a_fork_are_shown_and_neither_counts(tmp_path: Path) -> None:
    team = Orchard()
    rival = team.bob.rival(team.bob.ops[1], {"rival": True})
    found = look(tmp_path, [*team.lines, to_line(rival)], BOB, 3)
    assert {each.read.hash for each in found} == {team.bob.ops[2].hash, rival.hash}
    for each in found:
        assert not each.counts
        assert checks(each)["signature"][0]
        assert "forks at seq 3" in checks(each)["chain"][1]


def test_what_comes_after_a_cut_links_and_does_not_count(tmp_path: Path) -> None:
    team = Orchard()
    after = team.bob.head
    team.ada.revoke(team.bob)
    late = team.bob.say("task", {"task": "t-late"})
    (one,) = look(tmp_path, team.lines, BOB, late.seq)
    assert one.accepted
    assert not one.counts
    assert checks(one)["rights"] == (False, f"past its cut: {ADA} revoked {BOB} after op {after.seq}")
    (before,) = look(tmp_path, team.lines, BOB, after.seq)
    assert before.counts


def test_a_roster_op_without_the_right_says_why(tmp_path: Path) -> None:
    team, cy = Orchard(), Member(CY, 3).announce()
    grab: Op = team.bob.roster(SetRole(EVE, Role.ADMIN))
    (one,) = look(tmp_path, [*team.lines, *cy.lines], BOB, grab.seq)
    assert one.accepted
    assert not one.counts
    assert checks(one)["rights"][1].startswith("no effect: ")


def test_an_observer_may_say_that_it_is_there_and_nothing_else(tmp_path: Path) -> None:
    team, cy = Orchard(), Member(CY, 3).announce()
    team.ada.admit(cy, observer=True)
    task, here = cy.say("task", {}), cy.say("presence", {})
    lines = [*team.lines, *cy.lines]
    assert failed(look(tmp_path, lines, CY, task.seq)[0]) == {"rights"}
    assert look(tmp_path, lines, CY, here.seq)[0].counts


def test_nobody_s_word_is_taken_where_no_key_is_decided(tmp_path: Path) -> None:
    team, thief = Orchard(), Member(EVE, 9).announce()
    found = look(tmp_path, [*team.lines, *thief.lines], EVE, 1)
    assert len(found) == 2
    for each in found:
        assert checks(each)["signature"][0] is None
        assert not each.counts


def test_who_was_never_admitted_is_not_in_the_team(tmp_path: Path) -> None:
    team = Orchard()
    said = team.eve.say("task", {})
    (one,) = look(tmp_path, team.lines, EVE, said.seq)
    assert checks(one)["key"] == (False, "nobody has admitted this key")
    assert failed(one) == {"key", "rights"}


def test_there_may_be_nothing_at_a_place(tmp_path: Path) -> None:
    assert look(tmp_path, Orchard().lines, BOB, 77) == []
