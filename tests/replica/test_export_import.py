"""A log carried by hand: what comes in by a file is judged and applied as what comes in by a transport."""

import io
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.errors import DmpError
from crypto.op import to_line
from replica.audit.from_file import open_file
from replica.audit.progress import Silent
from replica.audit.scratch import Scratch
from replica.chain import apply
from replica.cli import main
from replica.exporting import exported
from replica.importing import Imported, import_file
from replica.records import fork_proofs
from tests.replica.forge import Forger
from tests.replica.shared.acts import put_body, title_of
from tests.replica.world import Machine, World, exchange
from transports.base import Behind


def take_in(machine: Machine, lines: Iterable[bytes]) -> Imported:
    path = machine.directory.root / "log.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with Scratch() as scratch, open_file(path, scratch) as file:
        return import_file(machine.node, file, scratch, Silent())


def log_of(machine: Machine) -> list[bytes]:
    return list(exported(machine.node))


def refused(done: Imported) -> list[tuple[int, str | None, int | None, str]]:
    return [(each.line, each.replica, each.seq, each.reason) for each in done.refused]


def held(machine: Machine) -> set[tuple[str, int, str]]:
    return set(machine.node.store.db.execute("SELECT replica, seq, hash FROM ops"))


@pytest.mark.parametrize("backwards", [False, True])
def test_mail_and_shared_state_come_by_a_file_as_by_a_transport(w: World, backwards: bool) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "carried by hand")
    forger = Forger(ada)
    ada.sync()
    lines = log_of(ada)
    done = take_in(bob, reversed(lines) if backwards else lines)
    assert (done.taken, done.refused_count, done.dropped) == (1, 0, 0)
    assert bob.bodies() == ["carried by hand"]
    assert held(bob) >= held(ada)
    later = Forger(ada)
    assert later.seq == forger.seq + 1
    task = later.op("task", body=put_body("t-0000aa", title="a task", origin="2026-09-21T14:13:20.000Z"))
    assert take_in(bob, [to_line(task)]).taken == 1
    assert title_of(bob) == "a task"


def test_what_is_known_changes_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.send("human:bob", "once")
    exchange(ada, bob)
    before = bob.node.store.db.total_changes, held(bob)
    done = take_in(bob, [*log_of(ada), *log_of(bob)])
    assert (done.taken, done.applied, done.refused_count, done.problems) == (0, 0, 0, [])
    assert (bob.node.store.db.total_changes, held(bob)) == before


def test_a_hostile_file_is_refused_line_by_line_and_the_rest_goes_in(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger, thief = Forger(ada), Forger(w.machine("thief"))
    good, second = forger.mail(bob), forger.mail(bob)
    damaged = to_line(second).replace(b'"nonce":"', b'"nonce":"A', 1)
    stranger = to_line(thief.op("key", body={}))
    unsigned = to_line(good).replace(b'"sig":"', b'"sig":"AAAA', 1)
    lines = [
        b"no json",
        unsigned,
        stranger,
        damaged,
        to_line(good),
        b'{"replica":7}',
        b"",
        to_line(second)[:90],
    ]
    done = take_in(bob, lines)
    assert bob.bodies() == ["forged"]
    assert done.taken == 1
    assert refused(done) == [
        (1, None, None, "not JSON"),
        (2, ada.me, good.seq, "bad signature"),
        (3, thief.machine.me, 1, "no key of its replica is admitted"),
        (4, ada.me, second.seq, "bodyHash mismatch"),
        (6, None, None, "names no replica"),
        (8, None, None, "not JSON"),
    ]
    assert take_in(bob, [to_line(second)]).taken == 1


def test_an_op_without_the_one_before_it_waits_for_it(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    first, second = forger.mail(bob), forger.mail(bob, body="later")
    done = take_in(bob, [to_line(second)])
    assert refused(done) == [(1, ada.me, second.seq, "it waits, or links to nothing that is known here")]
    assert take_in(bob, [to_line(second), to_line(first)]).taken == 2


def test_mail_that_breaks_a_rule_is_refused_as_from_a_transport(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    made = Forger(ada).mail(bob, **{"from": "human:carol"})
    done = take_in(bob, [to_line(made)])
    assert (done.taken, bob.bodies()) == (1, [])
    assert [each.kind.prefix for each in done.problems] == ["speaks-for"]


def test_an_interrupted_import_goes_on_where_it_was(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    lines = [to_line(forger.mail(bob, body=f"number {number}")) for number in range(7)]
    monkeypatch.setattr(apply, "BATCH", 2)
    batches = iter(range(2))
    whole = apply.Applier._in_one

    def some(self: apply.Applier, *given: object) -> None:
        if next(batches, None) is None:
            raise KeyboardInterrupt
        whole(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(apply.Applier, "_in_one", some)
    with pytest.raises(KeyboardInterrupt):
        take_in(bob, lines)
    assert len(bob.bodies()) == 4
    monkeypatch.setattr(apply.Applier, "_in_one", whole)
    assert take_in(bob, lines).taken == 3
    assert sorted(bob.bodies()) == [f"number {number}" for number in range(7)]


def test_more_than_is_read_at_a_time_comes_in_all_the_same(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    lines = [to_line(forger.mail(bob, body=f"number {number}")) for number in range(6)]
    monkeypatch.setattr("replica.importing.PASS_BYTES", 1500)
    assert take_in(bob, reversed(lines)).taken == 6


def test_a_machine_that_is_let_in_by_the_same_file_is_heard(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ops may be read before those that admit it."""
    monkeypatch.setattr("replica.importing.PASS_BYTES", 500)
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    aaron = w.machine("aaron")
    w.admit(ada, aaron)
    exchange(ada, aaron)
    aaron.send("human:bob", "let in meanwhile")
    exchange(aaron, ada)
    done = take_in(bob, [*aaron.lane(), *log_of(ada)])
    assert done.refused_count == 0
    assert bob.bodies() == ["let in meanwhile"]


def test_a_fork_in_a_file_halts_its_log_and_is_kept_as_proof(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    one, other = Forger(bob), Forger(bob)
    other.ms += 500
    first, second = one.mail(ada), other.mail(ada)
    take_in(ada, [to_line(first)])
    done = take_in(ada, [to_line(second)])
    assert f"halt:{bob.me}" in {each.subject for each in done.problems}
    assert [each.proof.replica for each in fork_proofs.kept(ada.node.store.db)] == [bob.me]


def test_r1_what_the_own_key_signed_elsewhere_stops_this_replica(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    with pytest.raises(DmpError, match="signed with this replica's key"):
        take_in(ada, [to_line(Forger(ada).mail(bob))])


def test_t5_what_no_transport_has_taken_is_not_exported(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    before = log_of(ada)
    ada.send("human:bob", "not gone yet")
    w.remote.reject_next(1)
    with pytest.raises(Behind):
        ada.pass_(budget_seconds=0.0).run()
    assert ada.count("unpublished") > 0
    assert log_of(ada) == before


def dmp(capsys: pytest.CaptureFixture[str], machine: Machine, *arguments: str, code: int = 0) -> str:
    assert main.run([*arguments, "--dir", str(machine.directory.root)]) == code
    return capsys.readouterr().out


def test_the_commands_carry_a_log_by_file_and_by_pipe(
    w: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.send("human:bob", "hello")
    ada.sync()
    file = tmp_path / "team.jsonl"
    told = json.loads(dmp(capsys, ada, "export", str(file), "--json"))
    lines = file.read_bytes().splitlines(keepends=True)
    assert (told["lines"], told["bytes"], told["replicas"]) == (len(lines), file.stat().st_size, 2)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("team")] == ["team.jsonl"]
    assert dmp(capsys, ada, "export") == file.read_text()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"junk\n" + b"".join(lines))))
    found = json.loads(dmp(capsys, bob, "import", "-", "--json", code=1))
    assert (found["taken"], found["refused"], found["refusedLines"][0]["line"]) == (1, 1, 1)
    assert "Took in 0 ops" in dmp(capsys, bob, "import", str(file))
    assert bob.bodies() == ["hello"]
    dmp(capsys, bob, "import", str(tmp_path / "none"), code=2)
    dmp(capsys, w.machine("alone"), "import", str(file), code=1)


def test_an_export_follows_a_link_fills_a_pipe_and_trusts_no_file_that_lay_there(
    w: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (ada,) = w.team("ada")
    export = ("export", "--dir", str(ada.directory.root))
    (others := tmp_path / "others").write_bytes(b"of somebody else")
    (tmp_path / "log.jsonl.part").symlink_to(others)
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "real")
    assert main.run([*export, str(tmp_path / "log.jsonl")]) == 0
    assert (tmp_path / "log.jsonl").is_symlink()
    whole = (tmp_path / "real").read_bytes()
    assert whole.count(b"\n") == len(log_of(ada))
    assert others.read_bytes() == b"of somebody else"
    os.mkfifo(pipe := tmp_path / "pipe")
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main.run([*export, str(pipe)]) == 0
        assert os.read(reading, len(whole) + 1) == whole
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith(".dmp")) == []
    assert main.run([*export, str(tmp_path / "none" / "log")]) == 1
    assert "cannot write" in capsys.readouterr().err
