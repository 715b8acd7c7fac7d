"""Every source tells the same of the same ops, and says plainly when it cannot be read."""

import os
import sqlite3
import subprocess
import threading
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from crypto.roster.bodies import CutPoint, Revoke
from replica.audit.engine import audit
from replica.audit.from_file import open_file
from replica.audit.from_git import TransportSource, open_branch
from replica.audit.from_store import open_store
from replica.audit.open import open_source
from replica.audit.report import Report
from replica.audit.scratch import Scratch
from replica.audit.source import SourceError
from replica.records import ops
from replica.team import commands
from tests.replica.audit.orchard import Member, Orchard, audit_lines, audit_source, faults, row
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, world
from transports.git import GitTransport
from transports.memory import MemoryTransport, shared
from transports.remotes import DEFAULT_BRANCH, Source, parse_remote


def repository(folder: Path, members: Iterable[Member]) -> Path:
    """A bare repository that these members have published all they signed to."""
    bare = folder / "team.git"
    subprocess.run(["git", "init", "--bare", "--quiet", str(bare)], check=True)
    transport = GitTransport(parse_remote(str(bare), Source.TYPED), folder / "clone")
    transport.refresh()
    for member in members:
        transport.publish(member.replica, member.lines)
    transport.close()
    return bare


def audit_branch(address: str | Path, branch: str = DEFAULT_BRANCH) -> Report:
    with Scratch() as scratch:
        return audit_source(open_branch(str(address), branch), scratch)


def audit_store(machine: Machine) -> Report:
    with Scratch() as scratch:
        return audit_source(open_store(machine.directory.database), scratch, now_ms=machine.clock.ms)


def audit_far_side(machine: Machine) -> Report:
    assert isinstance(machine.transport, MemoryTransport)
    with Scratch() as scratch:
        return audit(TransportSource(machine.transport, "memory"), scratch, machine.clock.ms)


def read_of(report: Report) -> list[tuple[object, ...]]:
    return [
        (each.replica, each.status, each.head, each.ops, each.types, each.fault) for each in report.replicas
    ]


# Any transport


def test_a_transport_is_read_by_its_address(tmp_path: Path) -> None:
    team = Orchard()
    for member in team.members:
        shared("audited").put(member.replica, *member.lines)
    with Scratch() as scratch:
        opened = open_source("memory:audited", tmp_path, DEFAULT_BRANCH, scratch)
        found = audit_source(opened, scratch)
    expected = audit_lines(tmp_path, team.lines)
    assert (found.source, found.team, found.replicas) == ("memory:audited", expected.team, expected.replicas)


@pytest.mark.parametrize("address", ["nothing:there", "dir:/nowhere/at/all", "gopher://host/x"])
def test_an_address_that_leads_nowhere_cannot_be_read(tmp_path: Path, address: str) -> None:
    with Scratch() as scratch, pytest.raises(SourceError):
        audit_source(open_source(address, tmp_path, DEFAULT_BRANCH, scratch), scratch)


# A branch


def test_a_branch_and_a_file_of_its_lines_agree(tmp_path: Path) -> None:
    team = Orchard()
    team.ada.revoke(team.bob)
    team.bob.tasks(2)
    found = audit_branch(repository(tmp_path, team.members))
    expected = audit_lines(tmp_path, team.lines)
    assert (found.team, found.replicas) == (expected.team, expected.replicas)


def test_a_branch_of_another_name_is_read_where_it_is_named(tmp_path: Path) -> None:
    team = Orchard()
    bare = repository(tmp_path, team.members)
    subprocess.run(["git", f"--git-dir={bare}", "branch", "-m", DEFAULT_BRANCH, "dispatch-sync"], check=True)
    assert audit_branch(bare, "dispatch-sync").verified
    with pytest.raises(SourceError, match="no ops"):
        audit_branch(bare)


def test_what_is_no_line_on_a_branch_is_told_with_its_place(tmp_path: Path) -> None:
    team = Orchard()
    bare = tmp_path / "team.git"
    subprocess.run(["git", "init", "--bare", "--quiet", str(bare)], check=True)
    segment = b"".join(line + b"\n" for line in [*team.lines[:5], b"not json", team.bob.lines[0]])
    stream = (
        b"commit refs/heads/%s\ncommitter X <x@example.invalid> 1790000000 +0000\ndata 0\n\n"
        b"M 100644 inline fed/%s/000000000001.jsonl\ndata %d\n%s\n"
        % (DEFAULT_BRANCH.encode(), team.ada.replica.encode(), len(segment), segment)
    )
    subprocess.run(["git", f"--git-dir={bare}", "fast-import", "--quiet"], input=stream, check=True)
    report = audit_branch(bare)
    assert report.verified
    assert report.skipped_count == 2
    assert {(each.replica, each.line, each.reason) for each in report.skipped} == {
        (team.ada.replica, 6, "not JSON"),
        (team.ada.replica, 7, "names another replica"),
    }
    assert row(report, team.ada.replica).ops == 5


@pytest.mark.parametrize("address", ["nowhere", "ext::sh -c true", "-u", "gopher://example.invalid/x"])
def test_t4_a_remote_that_cannot_be_reached_or_may_not_be_is_said_so(tmp_path: Path, address: str) -> None:
    with pytest.raises(SourceError):
        audit_branch(str(tmp_path / address) if address == "nowhere" else address)


def test_a_clone_is_gone_after_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = repository(tmp_path, Orchard().members)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert audit_branch(bare).verified
    assert list(temporary.iterdir()) == []


# A file


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    team = Orchard()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = b"".join(line + b"\n" for line in team.lines)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    with Scratch() as scratch:
        report = audit_source(open_file(pipe, scratch), scratch)
    writer.join()
    assert report.replicas == audit_lines(tmp_path, team.lines).replicas


def test_a_file_that_mixes_replicas_line_by_line_is_read_lane_by_lane(tmp_path: Path) -> None:
    team = Orchard()
    mixed = [line for pair in zip(team.ada.lines, team.bob.lines, strict=True) for line in pair]
    report = audit_lines(tmp_path, [*mixed, *team.eve.lines])
    assert report.replicas == audit_lines(tmp_path, team.lines).replicas


def test_a_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    team = Orchard()
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"\r\n".join(team.lines))
    with Scratch() as scratch:
        report = audit_source(open_file(path, scratch), scratch)
    assert report.replicas == audit_lines(tmp_path, team.lines).replicas


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"# Orchard\n\nNot a log.\n", b'{"replica":"bob-0000000b"}\n']
)
def test_a_file_without_an_op_cannot_be_audited(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "README.md"
    path.write_bytes(content)
    with Scratch() as scratch, pytest.raises(SourceError, match="no ops"):
        audit_source(open_file(path, scratch), scratch)


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_opened_is_said_so(tmp_path: Path, name: str) -> None:
    with Scratch() as scratch, pytest.raises(SourceError, match="cannot read") as caught:
        audit_source(open_source(str(tmp_path / name), tmp_path, DEFAULT_BRANCH, scratch), scratch)
    assert "`dmp export`" in caught.value.hint


def test_no_op_of_the_replica_asked_for_cannot_be_audited(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no ops of such a replica"):
        audit_lines(tmp_path, Orchard().lines, replica="zed-00000000")
    lines = [*Orchard().lines, *Member("bob-0000000c", 8).announce().lines]
    with pytest.raises(SourceError, match="2 replicas begin with that"):
        audit_lines(tmp_path, lines, replica="bob-")


def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("replica.audit.index.AuditIndex.consume", full)
    with pytest.raises(SourceError, match="temporary file: database or disk is full"):
        audit_lines(tmp_path, Orchard().lines)


# A store


@pytest.fixture
def team(tmp_path: Path) -> Iterable[World]:
    with world(tmp_path) as made:
        yield made


def test_a_store_and_the_far_side_it_synced_with_agree(team: World) -> None:
    ada, bob = team.team("ada", "bob")
    ada.send("human:bob", "Ship it?")
    for machine in (ada, bob, ada):
        machine.sync()
    expected = audit_far_side(ada)
    assert expected.verified
    assert sum(each.ops for each in expected.replicas) > 5
    for machine in (ada, bob):
        report = audit_store(machine)
        assert report.team == expected.team
        assert read_of(report) == read_of(expected)


def test_a_machine_that_waits_is_seen_from_a_store(team: World) -> None:
    ada, eve = team.machine("ada"), team.machine("eve")
    commands.found_team(ada.pass_(), "Orchard")
    commands.join(eve.pass_(), None)
    ada.sync()
    report = audit_store(ada)
    assert report.verified
    assert row(report, eve.me).status.value == "pending"


def test_a_chain_the_store_has_halted_is_a_fault_though_the_op_is_not_kept(team: World) -> None:
    ada, bob = team.team("ada", "bob")
    forger = Forger(bob)
    rivals = [forger.op("task", body={"n": 1})]
    forger.seq, forger.prev = rivals[0].seq, rivals[0].prev
    rivals.append(forger.op("task", body={"n": 2}))
    forger.publish(*rivals)
    ada.sync()
    expected = audit_far_side(ada)
    assert set(faults(expected)) == {bob.me}
    assert faults(audit_store(ada)) == faults(expected)


def test_roster_ops_verified_ahead_of_their_place_count_as_they_do_for_the_replica(team: World) -> None:
    ada, bob = team.team("ada", "bob")
    db = ada.node.store.db
    known = ops.position(db, bob.me)
    assert known is not None
    forger = Forger(bob)
    forger.op("task", body={})
    gone = forger.op("roster", body=Revoke(bob.me, CutPoint(1, "ab" * 32), "gone").to_json())
    with ada.node.store.transaction("test") as writing:
        ops.insert(writing, gone)
    assert row(audit_store(ada), bob.me).status.value == "revoked"


def test_an_audit_of_a_store_sees_one_moment_while_others_write(team: World) -> None:
    ada, _ = team.team("ada", "bob")
    before = row(audit_store(ada), ada.me).ops
    with Scratch() as scratch, open_store(ada.directory.database) as source:
        ada.send("human:bob", "Later")
        ada.sync()
        report = audit(source, scratch, ada.clock.ms)
    assert row(report, ada.me).ops == before
    assert row(audit_store(ada), ada.me).ops == before + 1


def test_a_store_that_is_missing_damaged_or_of_another_version_is_said_so(tmp_path: Path) -> None:
    path = tmp_path / "state.db"

    def message() -> str:
        with Scratch() as scratch, pytest.raises(SourceError) as raised:
            audit_source(open_store(path), scratch)
        return raised.value.message

    assert "there is no store" in message()
    path.write_bytes(b"this is no database, however long it is made" * 100)
    assert "cannot read the store" in message()
    path.unlink()
    db = sqlite3.connect(path)
    assert "older version" in message()
    db.execute("PRAGMA user_version = 999")
    db.close()
    assert "newer version" in message()


def test_a_store_damaged_in_the_middle_is_said_so(team: World) -> None:
    (ada,) = team.team("ada")
    path = ada.directory.database
    ada.node.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ada.node.close()
    data = bytearray(path.read_bytes())
    for page in range(1, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(data)
    with Scratch() as scratch, pytest.raises(SourceError, match="cannot read"):
        audit_source(open_store(path), scratch)


def test_a_line_changed_in_a_store_is_found(team: World) -> None:
    ada, bob = team.team("ada", "bob")
    db = ada.node.store.db
    (line,) = db.execute("SELECT line FROM ops WHERE replica = ? AND seq = 1", (bob.me,)).fetchone()
    changed = bytes(line).replace(b'"handle":"bob"', b'"handle":"rob"')
    assert changed != bytes(line)
    db.execute("UPDATE ops SET line = ? WHERE replica = ? AND seq = 1", (changed, bob.me))
    db.execute("DELETE FROM claims")
    report = audit_store(ada)
    assert faults(report) == {bob.me: ("no-key", 1, "bodyHash mismatch")}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("ops.line", value) for value in (5, None, "text")),
        *(("cursors.replica", value) for value in (5, "../etc", b"bob-0000000b")),
        *(("cursors.seq", value) for value in (None, "text")),
        *(("cursors.hlc", value) for value in (5, None, b"")),
        *(("cursors.halted_seq", value) for value in ("text", b"")),
    ],
)
def test_a_store_with_tables_of_somebody_s_own_making_is_said_so(
    team: World, tmp_path: Path, column: str, value: object
) -> None:
    (ada,) = team.team("ada")
    path = tmp_path / "state.db"
    ada.node.store.db.execute("VACUUM INTO ?", (str(path),))
    table, _, name = column.partition(".")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})"))
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        db.execute(f"DROP TABLE {table}")
        db.execute(f"CREATE TABLE {table} ({columns})")  # any value in any column
        db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)
        db.execute(f"UPDATE {table} SET {name} = ?", (value,))
    with Scratch() as scratch, pytest.raises(SourceError, match="cannot read the store"):
        audit_source(open_store(path), scratch)
