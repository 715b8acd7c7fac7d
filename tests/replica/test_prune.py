"""Own mail that everybody has is taken back, on the branch and here; nothing else is (federation wire 6.11, 6.12)."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from crypto.op import Op, Stub, read_entry
from replica.chain.prune import DAY_MS, compact
from replica.records import ops, transports
from replica.records.commits import CommitPoint
from replica.records.link import Link
from replica.records.meta import Meta, put
from replica.team import commands
from tests.replica.killer import KilledError, Killer, When
from tests.replica.world import Machine, World, exchange, world
from transports.base import Behind
from transports.git.transport import GitTransport
from transports.remotes import Source, parse_remote


@pytest.fixture
def made(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made


def over_git(made: World, *handles: str) -> list[Machine]:
    """A team on a branch of a bare repository."""
    bare = made.folder / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    machines = [made.machine(handle) for handle in handles]
    for machine in machines:
        machine.transport = _git(made, bare, machine.node.handle)
    first, *others = machines
    commands.found_team(first.pass_(), "Orchard")
    for other in others:
        made.admit(first, other)
    return machines


def _git(made: World, bare: Path, name: str) -> GitTransport:
    transport = GitTransport(parse_remote(str(bare), Source.TYPED), made.folder / f"git-{name}")
    made.stack.callback(transport.close)
    return transport


def later(days: float, *machines: Machine) -> None:
    for machine in machines:
        machine.clock.ms += int(days * DAY_MS)


def far(machine: Machine) -> list[Op | Stub]:
    """The mail and states of a machine, as the branch has them."""
    entries = [read_entry(raw) for raw in machine.lane()]
    return [entry for entry in entries if entry.type in ("mail", "state")]


def here(machine: Machine) -> list[Op | Stub]:
    return [entry for entry in machine.chain() if entry.type in ("mail", "state")]


def test_mail_that_everybody_has_becomes_a_stub_on_the_branch_and_here_once_it_is_old(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob)
    before = [entry.hash for entry in far(ada)]
    assert all(isinstance(entry, Op) for entry in far(ada))
    later(8, ada, bob)
    ada.sync()
    assert all(isinstance(entry, Stub) for entry in far(ada))
    assert [entry.hash for entry in far(ada)] == [entry.hash for entry in here(ada)] == before
    assert all(isinstance(entry, Stub) for entry in here(ada))
    assert bob.bodies() == ["Ripe?"]


def test_mail_of_this_week_stays_whoever_has_it(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob)
    for _ in range(3):
        later(2, ada, bob)
        ada.sync()
        assert all(isinstance(entry, Op) for entry in [*far(ada), *here(ada)])
    later(2, ada, bob)
    ada.sync()
    assert all(isinstance(entry, Stub) for entry in [*far(ada), *here(ada)])


def test_what_was_pruned_is_never_mended_back_and_the_log_goes_on(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "one")
    exchange(ada, bob)
    later(8, ada, bob)
    ada.sync()
    put_whole_again(ada, bob)
    for number in range(2):
        ada.send("human:bob", f"more {number}")
        exchange(ada, bob)
    assert isinstance(far(ada)[0], Stub)
    assert sorted(bob.bodies()) == ["more 0", "more 1", "one"]
    assert not ada.problems()
    assert not bob.problems()


def put_whole_again(*machines: Machine) -> None:
    """Let the next pass of each compare and read every lane from its start."""
    for machine in machines:
        with machine.node.store.db as db:
            put(db, Meta.READ_ALL_AT, None)


def test_what_somebody_has_not_acknowledged_stays(made: World) -> None:
    ada, bob, cal = over_git(made, "ada", "bob", "cal")
    exchange(ada, bob, cal)
    ada.send(("human:bob", "human:cal"), "Ripe?")
    ada.sync()
    bob.sync()
    later(8, ada, bob)
    ada.sync()
    assert any(isinstance(entry, Op) for entry in far(ada))
    cal.sync()
    ada.sync()
    later(1, ada)
    ada.sync()
    assert cal.bodies() == ["Ripe?"]
    assert all(isinstance(entry, Stub) for entry in far(ada) if entry.type == "mail")


def test_who_was_revoked_holds_up_nothing(made: World) -> None:
    ada, bob, cal = over_git(made, "ada", "bob", "cal")
    exchange(ada, bob, cal)
    ada.send(("human:bob", "human:cal"), "Ripe?")
    exchange(ada, bob)
    commands.revoke(ada.pass_(), cal.me, "lost")
    exchange(ada, bob)
    assert isinstance(ada.transport, GitTransport)
    done = compact(ada.node, ada.transport)
    assert done.ops
    assert done.saved > 100
    assert not done.held_up_by


def test_what_was_taken_back_is_taken_back_on_the_other_branches_too(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    bare = made.folder / "second.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    second, main = _git(made, bare, "second"), ada.transport
    with ada.node.store.transaction(CommitPoint.VISITED) as db:
        transports.add(db, Link(str(bare)))

    def sync() -> list[type]:
        report = ada.pass_(open_=lambda link: second if link.remote == str(bare) else main).run()
        assert not report.faults
        second.refresh()
        entries = [read_entry(line.raw) for line in second.lane(ada.me)]
        return [type(entry) for entry in entries if entry.type == "mail"]

    ada.send("human:bob", "Ripe?")
    assert sync() == [Op]
    exchange(ada, bob)
    later(8, ada, bob)
    sync()
    later(1, ada)
    assert sync() == [Stub]
    ada.send("human:bob", "Yes?")
    assert sync() == [Stub, Op]


def test_a_silent_member_that_holds_it_up_is_told_of(made: World) -> None:
    ada, bob, cal = over_git(made, "ada", "bob", "cal")
    exchange(ada, bob, cal)
    ada.send(("human:bob", "human:cal"), "Ripe?")
    exchange(ada, bob)
    later(32, ada)
    ada.sync()
    assert any(each == f"transport:bloat:{cal.me}" for each in ada.problems())
    later(-31.5, ada)
    cal.sync()
    later(33, ada)
    ada.sync()
    assert not any(each.startswith("transport:bloat") for each in ada.problems())


def test_a_branch_of_more_than_a_gigabyte_is_told_of_until_it_is_smaller(
    made: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ada,) = over_git(made, "ada")
    for size, told in ((2**30, False), (3 * 2**29, True), (2**30, False)):
        monkeypatch.setattr(ada.transport, "stored_bytes", lambda size=size: size)
        later(1, ada)
        ada.sync()
        assert ("transport:bloat:branch" in ada.problems()) is told
        assert not told or ada.problems()["transport:bloat:branch"] == "the branch takes 1.5 GiB"


def test_a_push_by_somebody_else_in_between_costs_nothing(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob)
    ada.transport.refresh()
    bob.send("human:ada", "Nearly.")
    bob.sync()
    assert isinstance(ada.transport, GitTransport)
    whole = far_without_refresh(ada)
    with pytest.raises(Behind):
        compact(ada.node, ada.transport)
    assert all(isinstance(entry, Op) for entry in here(ada))
    exchange(ada, bob)
    assert compact(ada.node, ada.transport).ops >= len(whole)
    exchange(ada, bob)
    assert ada.bodies() == ["Nearly."]
    assert all(isinstance(entry, Stub) for entry in far(ada))


def test_it_can_be_turned_off(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob)
    ada.directory.config_file.write_text('[pruning]\nafter_days = "off"\n')
    again = made.open(ada.directory.root, ada.clock)  # the file is read once
    again.transport = ada.transport
    later(25, again)
    again.sync()
    assert all(isinstance(entry, Op) for entry in far(again))


def far_without_refresh(machine: Machine) -> list[bytes]:
    return [line.raw for line in machine.transport.lane(machine.me) if b'"sealed"' in line.raw]


def test_a_crash_between_the_branch_and_the_store_is_made_up_for(made: World) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob)
    kept = list(ops.lines_of(ada.node.store.db, ada.me))
    assert isinstance(ada.transport, GitTransport)
    compact(ada.node, ada.transport)
    with ada.node.store.db as db:  # as if the store had not come to it
        db.executemany(
            "UPDATE ops SET line = ? WHERE replica = ? AND seq = ?", [(raw, ada.me, seq) for seq, raw in kept]
        )
        put(db, Meta.PRUNED_THROUGH, None)
    put_whole_again(ada)
    ada.sync()
    assert all(isinstance(entry, Stub) for entry in far(ada))
    done = compact(ada.node, ada.transport)
    assert (done.saved, done.ops) == (0, len(here(ada)))
    assert all(isinstance(entry, Stub) for entry in here(ada))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("commit", [1, 2, 3])
def test_a_crash_around_a_commit_of_pruning_loses_nothing(made: World, commit: int, when: When) -> None:
    ada, bob = over_git(made, "ada", "bob")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob)
    hashes = [entry.hash for entry in here(ada)]
    later(8, ada, bob)
    ada.node.store.observer = Killer((CommitPoint.PRUNED, when, commit))
    with pytest.raises(KilledError):
        ada.sync()
    ada.node.close()
    again = made.open(ada.directory.root, ada.clock)
    again.transport = ada.transport
    again.sync()
    assert [entry.hash for entry in here(again)] == [entry.hash for entry in far(again)] == hashes
    assert all(isinstance(entry, Stub) for entry in (*here(again), *far(again)))
    again.send("human:bob", "And now?")
    exchange(again, bob)
    assert sorted(bob.bodies()) == ["And now?", "Ripe?"]


def test_a_newcomer_reads_the_stubs_and_what_comes_after_them(made: World) -> None:
    ada, bob, cal = over_git(made, "ada", "bob", "cal")
    ada.send("human:bob", "Ripe?")
    exchange(ada, bob, cal)
    assert isinstance(ada.transport, GitTransport)
    compact(ada.node, ada.transport)
    dan = made.machine("dan")
    dan.transport = _git(made, made.folder / "team.git", "dan")
    made.admit(ada, dan)
    exchange(ada, bob, dan)
    assert not dan.problems()
    assert dan.bodies() == []
    ada.send("human:dan", "Welcome.")
    exchange(ada, dan)
    assert dan.bodies() == ["Welcome."]
