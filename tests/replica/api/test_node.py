"""What a page shows of this replica and its team: who is in it, its transports, what is wrong, and the op chains."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crypto.op import Op, read_entry
from replica.api import tokens
from replica.node import DirectoryNode, create, opened
from replica.passes import sync_pass
from replica.records import lanes, ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.link import Link
from replica.records.tokens import Tier
from replica.service.changes import Changes
from replica.sync import SyncPass
from replica.team import commands
from replica.ways import Ways
from tests.replica.api.host import Host, User, serving
from tests.replica.world import world
from transports.opening import read_address
from transports.remotes import Source


@contextmanager
def passing(node: DirectoryNode, link: Link) -> Iterator[SyncPass]:
    with Ways(node) as ways, sync_pass(node, ways.open(link)) as sync:
        yield sync


class Team:
    """Ada's served machine, whose team meets in a folder."""

    def __init__(self, folder: Path, host: Host) -> None:
        (folder / "stick").mkdir()
        self.link = Link(read_address(f"dir:{folder / 'stick'}", Source.TYPED))
        self.host = host
        with passing(host.node, self.link) as sync:
            commands.found_team(sync, "Orchard", self.link)

    def sync(self) -> None:
        with passing(self.host.node, self.link) as sync:
            sync.run()


@pytest.fixture
def team(tmp_path: Path, host: Host) -> Team:
    return Team(tmp_path, host)


@pytest.fixture
def bob(tmp_path: Path, team: Team) -> Iterator[DirectoryNode]:
    """A machine of Bob's that asks to be let in."""
    create(tmp_path / "bob", "bob", "laptop")
    with opened(tmp_path / "bob") as node:
        with passing(node, team.link) as sync:
            commands.join(sync, None, team.link)
        team.sync()
        yield node


def test_a_replica_in_no_team_says_so(host: Host, ada: User) -> None:
    got = ada.get("/node/team").json
    assert (got["team"], got["pending"], got["me"]["replica"]) == (None, [], host.node.me)
    assert ada.get("/node/transports").json["transports"] == []
    assert ada.post("/node/team/revoke", {"replica": "x-00000000", "reason": "x"}).status == 409


def test_only_the_person_who_runs_this_machine_uses_any_of_it(host: Host) -> None:
    bot, bob = host.agent("bot"), host.user("human:bob", Tier.OPERATOR)
    paths = ["team", "transports", "problems", "chains", "chains/x/ops", "chains/x/ops/1"]
    paths = [f"/node/{each}" for each in paths]
    for user in (bot, bob):
        assert {user.get(path).status for path in paths} == {403}
    for path in ("/node/team/admit", "/node/team/revoke", "/node/problems/seen"):
        assert bob.post(path, {}).status == 403
    assert {host.stranger.get(path).status for path in paths} == {401}


def test_a_waiting_machine_is_shown_with_its_fingerprint_admitted_and_revoked(
    team: Team, ada: User, bob: DirectoryNode
) -> None:
    (waiting,) = ada.get("/node/team").json["pending"]
    assert waiting == {
        "replica": bob.me,
        "handle": "bob",
        "device": "laptop",
        "fingerprint": bob.identity.fingerprint,
        "by": None,
    }
    wrong = ada.post("/node/team/admit", {"replica": bob.me, "fingerprint": "0000-0000-0000-0000-0000-0000"})
    assert wrong.json["field"] == "fingerprint"
    given = {"replica": bob.me, "fingerprint": bob.identity.fingerprint}
    assert ada.post("/node/team/admit", given).json == {"done": True, "already": False}
    assert ada.post("/node/team/admit", given).json == {"done": True, "already": True}
    shown = ada.get("/node/team").json
    assert shown["pending"] == []
    assert [each["replica"] for each in shown["team"]["members"]] == [team.host.node.me, bob.me]
    assert ada.post("/node/team/admit", {**given, "role": "king"}).json["field"] == "role"
    assert ada.post("/node/team/revoke", {"replica": bob.me}).json["field"] == "reason"
    revoked = ada.post("/node/team/revoke", {"replica": bob.me, "reason": "lost"})
    assert revoked.json == {"done": True, "already": False}
    assert ada.get("/node/team").json["team"]["revoked"][0]["reason"] == "lost"
    assert ada.post("/node/team/revoke", {"replica": team.host.node.me, "reason": "x"}).status == 409
    assert ada.post("/node/team/revoke", {"replica": "eve-00000000", "reason": "x"}).status == 404


def test_a_team_that_cannot_be_reached_is_503(
    tmp_path: Path, team: Team, ada: User, bob: DirectoryNode
) -> None:
    (tmp_path / "stick").rename(tmp_path / "away")
    given = {"replica": bob.me, "fingerprint": bob.identity.fingerprint}
    got = ada.post("/node/team/admit", given)
    assert (got.status, got.json["code"]) == (503, "unavailable")


def test_a_person_whom_this_machine_stands_in_for_no_more_is_out(team: Team, ada: User) -> None:
    """Section A.1: 403 for a teammate who may not use this host."""
    node = team.host.node
    with passing(node, team.link) as sync:
        commands.set_hosts(sync, node.me, ["carol"])
    carol = team.host.user("human:carol")
    assert carol.get("/api/mailbox").status == 200
    with passing(node, team.link) as sync:
        commands.set_hosts(sync, node.me, drop=["carol"])
    assert carol.get("/api/mailbox").status == 403


def test_transports_are_shown_with_how_they_fared(team: Team, ada: User) -> None:
    team.sync()
    (main,) = ada.get("/node/transports").json["transports"]
    assert (main["use"], main["address"]) == ("main", team.link.shown)


def test_problems_are_shown_with_what_to_do_and_seen(host: Host, ada: User) -> None:
    kind = next(each for each in subjects.KINDS if each.seen)
    subject = kind.of("x")
    with host.node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, problems.Problem(subject, "it is so", at=host.node.now()))
    (shown,) = ada.get("/node/problems").json["problems"]
    assert (shown["subject"], shown["remedy"], shown["seen"]) == (subject, kind.remedy, False)
    assert ada.post("/node/problems/seen", {"subject": subject}).json == {"done": True, "already": False}
    assert ada.get("/node/problems").json["problems"][0]["seen"] is True
    assert ada.post("/node/problems/seen", {"subject": "nothing"}).status == 404


# Chains


@pytest.fixture(scope="module")
def two_chains(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where a machine of Ada's is that knows her chain and Bob's; Bob's id."""
    folder = tmp_path_factory.mktemp("chains")
    with pytest.MonkeyPatch.context() as patch, world(folder) as w:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        ada, bob = w.team("ada", "bob")
        for index in range(5):
            for machine in (ada, bob):
                machine.clock.ms += 1_000
                machine.send(f"human:{'bob' if machine is ada else 'ada'}", f"mail {index}")
                machine.sync()
        ada.sync()
        return ada.directory.root, bob.me


@pytest.fixture
def lanes_of_two(tmp_path: Path, two_chains: tuple[Path, str]) -> Iterator[tuple[Host, User, str]]:
    """A copy of that machine, served, which signs nothing; Bob's id."""
    made, bob = two_chains
    root = tmp_path / "copy"
    shutil.copytree(made, root)
    with Changes(root / "state.db") as changes, serving(root, changes) as port, opened(root) as node:
        yield Host(root, port, node), User(port, tokens.make(node).secret), bob


def test_chains_are_lanes_with_their_ends(lanes_of_two: tuple[Host, User, str]) -> None:
    host, user, bob = lanes_of_two
    found = {each["replica"]: each for each in user.get("/node/chains").json["chains"]}
    assert set(found) == {host.node.me, bob}
    assert (found[bob]["handle"], found[bob]["standing"], found[bob]["me"]) == ("bob", "member", False)
    assert found[host.node.me]["me"] is True
    for each in found.values():
        assert each["first"] == 1
        assert each["count"] == each["last"]
        assert each["firstMs"] < each["lastMs"]
        assert (each["halted"], each["fork"], each["cut"]) == (None, None, None)


def test_a_fork_and_a_halt_are_seen_in_their_lane(lanes_of_two: tuple[Host, User, str]) -> None:
    host, user, bob = lanes_of_two
    with host.node.store.transaction(CommitPoint.FAULTS) as db:
        db.execute(
            "UPDATE cursors SET halted_seq = 3, halted_reason = 'x', halted_text = 'y' WHERE replica = ?",
            (bob,),
        )
        db.execute("INSERT INTO forks (replica, seq, reason) VALUES (?, 3, 'shared seq')", (bob,))
        db.execute(
            "INSERT INTO rivals (replica, hash, type, line) SELECT replica, hash, type, line FROM ops "
            "WHERE replica = ? AND seq = 3",
            (bob,),
        )
    found = {each["replica"]: each for each in user.get("/node/chains").json["chains"]}
    assert found[bob]["halted"] == {"seq": 3, "reason": "x", "text": "y"}
    assert found[bob]["fork"]["seq"] == 3
    assert len(found[bob]["fork"]["rivals"]) == 1


def test_ops_come_by_pages_as_they_are_drawn(lanes_of_two: tuple[Host, User, str]) -> None:
    host, user, bob = lanes_of_two
    whole = user.get(f"/node/chains/{host.node.me}/ops").json
    assert whole["next"] is None
    columns = ("seqs", "times", "types", "stubs", "recipients")
    assert len({len(whole[name]) for name in columns}) == 1
    assert whole["times"] == sorted(whole["times"])
    kinds = [whole["typeNames"][each] for each in whole["types"]]
    assert kinds[0] == "key"
    mail = kinds.index("mail")
    assert whole["recipientLists"][whole["recipients"][mail]] == [bob]
    assert {"kind": "admit", "replica": bob, "toSeq": None}.items() <= whole["links"][-1].items()
    seqs: list[int] = []
    at: int | None = 1
    while at is not None:
        page = user.get(f"/node/chains/{host.node.me}/ops?from={at}&limit=3").json
        seqs += page["seqs"]
        at = page["next"]
    assert seqs == whole["seqs"]


def test_the_ops_of_a_time_are_found(lanes_of_two: tuple[Host, User, str]) -> None:
    _, user, bob = lanes_of_two
    whole = user.get(f"/node/chains/{bob}/ops").json
    for ms in (0, *whole["times"], *(each + 1 for each in whole["times"])):
        expected = [seq for seq, at in zip(whole["seqs"], whole["times"], strict=True) if at >= ms]
        assert user.get(f"/node/chains/{bob}/ops?at={ms}").json["seqs"] == expected, ms
    assert user.get(f"/node/chains/{bob}/ops?at=1&from=1").status == 400
    assert user.get("/node/chains/eve-00000000/ops").status == 404


def test_an_op_is_shown_whole_with_what_can_be_read_of_it(lanes_of_two: tuple[Host, User, str]) -> None:
    _, user, bob = lanes_of_two
    whole = user.get(f"/node/chains/{bob}/ops").json
    kinds = [whole["typeNames"][each] for each in whole["types"]]
    mail = user.get(f"/node/chains/{bob}/ops/{whole['seqs'][kinds.index('mail')]}").json
    assert mail["content"]["kind"] == "mail"
    assert mail["content"]["message"]["body"] == "mail 0"
    assert mail["stub"] is False
    key = user.get(f"/node/chains/{bob}/ops/1").json
    assert (key["type"], key["body"]["handle"], key["content"]) == ("key", "bob", None)
    second = user.get(f"/node/chains/{bob}/ops/{key['next']}").json
    assert second["prev"] == key["hash"]
    for seq in ("0", "99", "x", "-1", "9" * 30, "1.0"):
        assert user.get(f"/node/chains/{bob}/ops/{seq}").status == 404


def test_a_stub_is_shown_as_one(lanes_of_two: tuple[Host, User, str]) -> None:
    host, user, bob = lanes_of_two
    whole = user.get(f"/node/chains/{bob}/ops").json
    index = [whole["typeNames"][each] for each in whole["types"]].index("mail")
    with host.node.store.transaction(CommitPoint.PRUNED) as db:
        line = ops.line_at(db, bob, whole["seqs"][index])
        assert line is not None
        entry = read_entry(line)
        assert isinstance(entry, Op)
        ops.replace(db, entry.stub())
    assert user.get(f"/node/chains/{bob}/ops").json["stubs"][index] == 1
    shown = user.get(f"/node/chains/{bob}/ops/{whole['seqs'][index]}").json
    assert (shown["stub"], shown["body"], shown["content"]) == (True, None, None)


def test_an_op_is_found_by_halving_whatever_gaps_there_are(lanes_of_two: tuple[Host, User, str]) -> None:
    host, _, bob = lanes_of_two
    db = host.node.store.db
    (extent,) = [each for each in lanes.extents(db) if each.replica == bob]
    with host.node.store.transaction(CommitPoint.FAULTS) as db:
        db.execute("DELETE FROM ops WHERE replica = ? AND seq IN (2, 3, 5)", (bob,))
    kept = [(each.seq, each.ms) for each in lanes.ops_from(db, bob, 1, 100)]
    for ms in {each + more for _, each in kept for more in (-1, 0, 1)}:
        expected = next((seq for seq, at in kept if at >= ms), extent.last + 1)
        at = lanes.op_at(db, bob, lanes.seq_at(db, extent, ms))
        assert (extent.last + 1 if at is None else at.seq) == expected
