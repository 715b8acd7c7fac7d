"""Anyone who can write to a source can fill it: what an audit keeps and lists does not grow with that."""

from pathlib import Path
from random import Random

import pytest

from crypto.keys import Secrets
from crypto.op import to_line
from crypto.roster.bodies import Found
from replica.audit import engine
from replica.audit.from_file import open_file
from replica.audit.progress import Silent
from replica.audit.scratch import Scratch
from replica.audit.survey import Survey
from tests.replica.audit.orchard import BOB, EVE, Member, Orchard, audit_lines, faults, row


def strangers(count: int, replica: str | None = None) -> list[Member]:
    """Replicas that nobody has asked for, or rivals for one id, each with keys of its own."""
    random = Random(7)
    made = []
    for number in range(count):
        member = Member(replica or f"a-{number:08x}", 0)
        member.publisher.secrets = Secrets.generate(random.randbytes)
        pair = {
            "signPub": member.publisher.secrets.sign_pub,
            "sealPub": member.publisher.secrets.seal_pub,
        }
        made.append(member.announce(**pair))
    return made


def test_k6_ids_made_by_the_thousand_are_counted_and_the_roster_is_listed_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LISTED_STRANGERS", 10)
    team, crowd = Orchard(), strangers(50)
    lines = [*team.lines, *(line for each in crowd for line in each.lines)]
    report = audit_lines(tmp_path, lines)
    assert report.verified
    assert len(report.replicas) == 10 + 2
    assert row(report, BOB).status.value == "member"
    assert (report.unlisted.replicas, report.unlisted.ops, report.unlisted.faulty) == (41, 41, 0)
    assert audit_lines(tmp_path, lines, replica=EVE).replicas[0].replica == EVE


def test_a_fault_that_is_not_listed_is_a_fault_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "LISTED_STRANGERS", 0)
    team = Orchard()
    team.eve.tasks(2)
    del team.eve.ops[1]
    report = audit_lines(tmp_path, team.lines)
    assert report.unlisted.faulty == 1
    assert not report.verified


def test_k6_rival_keys_by_the_hundred_are_counted_and_a_few_are_named(tmp_path: Path) -> None:
    team, crowd = Orchard(), strangers(100, EVE)
    report = audit_lines(tmp_path, [*team.lines, *(line for each in crowd for line in each.lines)])
    assert faults(report) == {EVE: ("undecided", None, "undecided key")}
    eve = row(report, EVE)
    assert eve.rival_keys == 100
    assert eve.fault is not None
    assert len(eve.fault.text) < 500


def test_k6_a_founding_that_nobody_signed_costs_the_same_however_many_keys_there_are(tmp_path: Path) -> None:
    assert steps_of_foundings(tmp_path, keys=200) < 2 * steps_of_foundings(tmp_path, keys=20)


def steps_of_foundings(folder: Path, *, keys: int) -> int:
    """How many steps the scratch database takes to look at foundings that no key in their lane signed."""
    forger, path = Member(EVE, 9).announce(), folder / "lines.jsonl"
    made = [Found(f"team {number}", (), forger.key.sign_pub).to_json() for number in range(20)]
    lines = [to_line(forger.publisher.sign(forger.head, "roster", body)) for body in made]
    lines += [line for each in strangers(keys, EVE) for line in each.lines]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    with Scratch() as scratch, open_file(path, scratch) as source:
        survey = Survey(source, scratch, Silent())
        scratch.db.set_progress_handler(step, 1)
        assert list(survey.foundings()) == []
    return steps
