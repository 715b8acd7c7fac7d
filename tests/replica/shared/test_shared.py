"""Shared state between machines: what is published, what is applied, and what a hostile teammate can change."""

from pathlib import Path
from sqlite3 import Connection

import pytest

from core.errors import DmpError
from core.store import Store, registers
from crypto.canonical import JsonValue
from crypto.op import Op
from crypto.roster.bodies import Admit, CutPoint, Revoke, Role
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.host import agents, items
from replica.records import problems
from replica.records.commits import CommitPoint
from replica.records.meta import Meta, get, put
from replica.records.schema import MIGRATIONS
from replica.shared import fold, runs
from replica.shared.fold import HANDLERS
from replica.shared.homes import homes, waking_replica
from replica.sync import SyncPass
from replica.team import commands
from replica.team.changes import sign_change
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange, no_sleep

HOUR_MS = 3_600_000


def add_task(machine: Machine, **fields: JsonValue) -> str:
    """Make a work item; return its address."""
    node = machine.node
    with node.store.transaction(CommitPoint.WORK_ITEM) as db:
        return items.add(db, node.random, {"title": "Paint the wall", **fields}, now=node.now()).address


def edit_task(machine: Machine, address: str, **fields: JsonValue) -> None:
    with machine.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        items.edit(db, address, fields)


def task(machine: Machine, address: str) -> items.WorkItem | None:
    return items.find(machine.node.store.db, address)


def register(machine: Machine, address: str, status: str = "approved") -> None:
    node = machine.node
    with node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, node.random, address, "cli", node.me)
        agents.decide(db, address, "approved" if status == "approved" else "revoked")


def run_session(machine: Machine, work_item: str | None, *, live: bool = True) -> str:
    """A session that says it is live, or not begun; return its address."""
    here, node = machine.node.host.sessions_here, machine.node
    with node.store.transaction(CommitPoint.SESSION) as db:
        made = here.make(node.random, work_item, None, now=node.now())
        registers.edit(db, "session", made.address, {"live": live})
    return made.address


def end_session(machine: Machine, address: str) -> None:
    here, node = machine.node.host.sessions_here, machine.node
    with node.store.transaction(CommitPoint.SESSION):
        here.end(here.need(address), now=node.now())


def homes_at(machine: Machine, address: str) -> tuple[str, ...]:
    team = machine.node.team
    assert team is not None
    return homes(machine.node.store.db, team.view, address)


def types(machine: Machine) -> list[str]:
    return [entry.type for entry in machine.chain() if entry.type not in ("key", "roster")]


# Channels


def test_a_membership_reaches_every_machine_and_the_later_word_stands(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.node.engine.join("eng", "human:bob")
    exchange(ada, bob)
    assert bob.node.engine.members("eng") == ("human:bob",)
    bob.clock.ms += 1_000
    bob.node.engine.leave("eng", "human:bob")
    exchange(ada, bob)
    assert [each.node.engine.members("eng") for each in (ada, bob)] == [(), ()]
    assert ada.node.engine.channels() == ("eng",)
    assert types(ada) == types(bob) == ["channel"]


def test_two_who_join_apart_are_both_in(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    ada.node.engine.join("eng", "human:ada")
    bob.node.engine.join("eng", "human:bob")
    exchange(ada, bob)
    for each in (ada, bob):
        assert each.node.engine.members("eng") == ("human:ada", "human:bob")


def test_what_was_joined_before_the_team_is_told_to_it_unless_it_has_a_word_on_it(w: World) -> None:
    (ada,) = w.team("ada")
    ada.node.engine.join("eng", "human:ada")
    ada.node.engine.leave("eng", "human:ada")
    bob = w.machine("bob")
    for member in ("human:ada", "human:bob"):
        bob.node.engine.join("eng", member)
    ada.sync()
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    exchange(ada, bob)
    for each in (ada, bob):
        assert each.node.engine.members("eng") == ("human:bob",)


def test_a_member_that_never_federates_stays_on_its_machine(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    ada.node.engine.join("eng", "agent:ada/overseer")
    exchange(ada, bob)
    assert ada.node.engine.members("eng") == ("agent:ada/overseer",)
    assert bob.node.engine.members("eng") == ()
    assert types(ada) == []


# Work items


def test_a_work_item_reaches_every_machine_and_merges_field_by_field(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    made = add_task(ada, priority="low", labels=["paint"])
    exchange(ada, bob)
    assert task(bob, made) == task(ada, made)
    (op,) = [entry for entry in ada.chain() if entry.type == "task"]
    edit_task(ada, made, title="Paint the door")
    edit_task(bob, made, priority="high")
    exchange(ada, bob)
    for each in (ada, bob):
        found = task(each, made)
        assert found is not None
        assert (found.title, found.priority, found.labels) == ("Paint the door", "high", ("paint",))
        assert each.count("register_edits") == 0
    changed = next(entry for entry in bob.chain() if entry.type == "task")
    assert changed.body["fields"] == {"priority": "high"}  # type: ignore[union-attr, index, call-overload]
    assert op.body["origin"] == op.body["fields"]["created"]  # type: ignore[union-attr, index, call-overload]


def test_an_edit_counts_here_at_once_and_gets_its_clock_when_it_is_published(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    edit_task(ada, made, title="Mine, first")
    found = task(ada, made)
    assert found is not None
    assert found.title == "Mine, first"
    bob.clock.ms += 60_000
    edit_task(bob, made, title="Bob's")
    bob.sync()
    ada.clock.ms += 120_000
    ada.sync()  # published after bob's, so later than bob's
    bob.sync()
    assert [each.title for each in (task(ada, made), task(bob, made)) if each] == ["Mine, first"] * 2


def test_the_members_of_an_epic_elsewhere_are_members_of_its_channel(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    epic = add_task(ada, kind="epic")
    made = add_task(ada, parent=epic.partition(":")[2])
    exchange(ada, bob)
    assert bob.node.host.implicit_members(f"epic/{epic.partition(':')[2]}") == [made]


def test_a_work_item_that_was_removed_is_gone_until_it_is_written_to_again(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    forger = Forger(bob)
    name = made.partition(":")[2]
    forger.publish(forger.op("task", body={"task": name, "kind": "remove"}))
    ada.sync()
    assert task(ada, made) is None
    forger.publish(forger.op("task", body={"task": name, "kind": "put", "fields": {"status": "working"}}))
    ada.sync()
    found = task(ada, made)
    assert found is not None
    assert (found.title, found.status) == ("Paint the wall", "working")


def test_of_two_work_items_with_one_id_the_earlier_is_meant(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    early, late = Forger(bob), Forger(cy)
    early.ms, late.ms = early.ms + 10, early.ms + 5_000
    first = early.op("task", body=_put("t-0000aa", origin="one", title="First"))
    second = late.op("task", body=_put("t-0000aa", origin="two", title="Second", priority="high"))
    late.publish(second)
    ada.sync()
    assert _title(ada) == "Second"
    early.publish(first)
    ada.sync()
    assert _title(ada) == "First"
    found = task(ada, "task:t-0000aa")
    assert found is not None
    assert found.priority is None
    assert "seq 2" in ada.problems()[f"task:{cy.me}"]


def _put(name: str, origin: str | None = None, **fields: JsonValue) -> JsonValue:
    made: dict[str, JsonValue] = {"task": name, "kind": "put", "fields": fields}
    return made if origin is None else {**made, "origin": origin}


def _title(machine: Machine) -> str | None:
    found = task(machine, "task:t-0000aa")
    return None if found is None else found.title


def test_a_malformed_op_is_told_of_by_its_place_and_stops_nothing(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(bob)
    bad = forger.op("task", body={"task": "t-0000aa", "kind": "put", "fields": {"title": 7}})
    forger.publish(
        bad,
        forger.op("channel", body={"channel": "eng", "member": "run:r-0000aa", "joined": True}),
        forger.op("presence", body="here"),
        forger.op("task", body=_put("t-0000aa", title="Good")),
    )
    cy.send("human:ada", "hello")
    exchange(ada, cy)
    assert ada.bodies() == ["hello"]
    assert _title(ada) == "Good"
    noted = {each.subject: each for each in problems.all_problems(ada.node.store.db)}
    assert {f"{kind}:{bob.me}" for kind in ("task", "channel", "presence")} <= noted.keys()
    assert (noted[f"task:{bob.me}"].replica, noted[f"task:{bob.me}"].seq) == (bob.me, bad.seq)
    assert "fields.title" in noted[f"task:{bob.me}"].text


# Agents


def test_an_agent_is_known_everywhere_with_its_status(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    register(ada, "agent:ada/helper")
    exchange(ada, bob)
    assert bob.node.host.agent_status("agent:ada/helper") == "approved"
    assert homes_at(bob, "agent:ada/helper") == homes_at(ada, "agent:ada/helper") == (ada.me,)
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, "agent:ada/helper", "revoked")
    exchange(ada, bob)
    assert bob.node.host.agent_status("agent:ada/helper") == "revoked"
    assert types(ada) == ["agent", "agent"]


def test_nobody_registers_an_agent_of_another_person(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    row: dict[str, JsonValue] = {
        "address": "agent:ada/helper",
        "displayName": "x",
        "client": "x",
        "status": "approved",
    }
    forger.publish(forger.op("agent", body=row))
    ada.sync()
    assert ada.node.host.agent_status("agent:ada/helper") is None
    assert "does not speak for ada" in ada.problems()[f"agent:{bob.me}"]


def test_an_agent_registered_here_wins_here_over_what_other_machines_publish(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    desk = w.machine("ada", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "ada").encode())
    exchange(ada, desk)
    register(ada, "agent:ada/helper")
    exchange(ada, desk)
    forger = Forger(desk)
    row: dict[str, JsonValue] = {
        "address": "agent:ada/helper",
        "displayName": "x",
        "client": "x",
        "status": "revoked",
    }
    forger.publish(forger.op("agent", body=row))
    ada.sync()
    assert ada.node.host.agent_status("agent:ada/helper") == "approved"


def test_agents_of_a_revoked_replica_are_revoked(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    register(cy, "agent:cy/helper")
    exchange(ada, bob, cy)
    assert bob.node.host.agent_status("agent:cy/helper") == "approved"
    commands.revoke(ada.pass_(), cy.me, "stolen")
    exchange(ada, bob)
    assert bob.node.host.agent_status("agent:cy/helper") == "revoked"
    assert homes_at(bob, "agent:cy/helper") == ()


# Presence and homes


def test_a_live_session_homes_its_work_item_then_its_assignee_does(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    made = add_task(ada)
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {()}
    edit_task(ada, made, assignee="human:bob")
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(bob.me,)}
    run = run_session(cy, made)
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(cy.me,)}
    end_session(cy, run)
    assert homes_at(cy, made) == (bob.me,)  # its own word counts at once
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(bob.me,)}
    edit_task(ada, made, assignee="agent:cy/helper")
    exchange(ada, bob, cy)
    assert {homes_at(each, made) for each in (ada, bob, cy)} == {(cy.me,)}


def test_mail_to_a_work_item_is_held_where_it_lives(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada, assignee="human:bob")
    exchange(ada, bob, cy)
    sent = ada.send(made, "for whoever works on it")
    exchange(ada, bob, cy)
    assert ada.row(sent).state == "held"
    assert [each.body for _, each in bob.node.engine.inbox(made)] == ["for whoever works on it"]
    assert cy.count("messages") == 0


def test_mail_to_a_work_item_of_nobody_stays(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    sent = ada.send(made, "for whoever works on it")
    assert [each.recipient for each in ada.node.engine.deliveries(sent.id)] == [made]
    assert ada.count("remote_rows") == 0


def test_an_auxiliary_session_homes_nothing(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(forger.op("presence", body=_run("r-0000aa", made, runKind="review")))
    ada.sync()
    assert homes_at(ada, made) == ()


def _run(run: str, work_item: str | None, **changes: JsonValue) -> dict[str, JsonValue]:
    name = None if work_item is None else work_item.partition(":")[2]
    return {"kind": "run", "run": run, "task": name, "runKind": "execute", "live": True, **changes}


def test_a_session_that_two_replicas_claim_is_nobodys_until_an_admin_says_whose(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada)
    exchange(ada, bob, cy)
    run = run_session(bob, made)
    exchange(ada, bob, cy)
    bound = runs.binding(ada.node.store.db, run).claim
    assert bound is not None
    assert bound.replica == bob.me
    thief = Forger(cy)
    thief.publish(thief.op("presence", body=_run(run.partition(":")[2], made)))
    ada.sync()
    found = runs.binding(ada.node.store.db, run)
    assert (found.claim, found.contested) == (None, True)
    assert homes_at(ada, made) == ()
    subject = f"run-conflict:{run.partition(':')[2]}"
    assert subject in ada.problems()
    word: JsonValue = {"kind": "resolve", "run": run.partition(":")[2], "replica": cy.me}
    thief.publish(thief.op("presence", body=word))
    ada.sync()
    assert runs.binding(ada.node.store.db, run).contested  # cy is no admin
    with ada.node.store.transaction(CommitPoint.SESSION) as db:
        for other, field in ((run, "replica"), ("run:r-0000aa", "session")):
            with pytest.raises(DmpError) as caught:
                runs.resolve(db, other, ada.me)
            assert caught.value.field == field
        runs.resolve(db, run, bob.me)
    ada.sync()
    bob.sync()
    for each in (ada, bob):
        found = runs.binding(each.node.store.db, run)
        assert found.claim is not None
        assert found.claim.replica == bob.me
        assert homes_at(each, made) == (bob.me,)
        assert subject not in each.problems()


def test_a_session_is_its_first_owners_again_once_the_other_is_revoked(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    made = add_task(ada)
    exchange(ada, bob, cy)
    run = run_session(bob, made)
    exchange(ada, bob, cy)
    thief = Forger(cy)
    thief.publish(thief.op("presence", body=_run(run.partition(":")[2], made)))
    ada.sync()
    commands.revoke(ada.pass_(), cy.me, "a thief")
    ada.sync()
    bob.sync()
    for each in (ada, bob):
        found = runs.binding(each.node.store.db, run)
        assert found.claim is not None
        assert found.claim.replica == bob.me
        assert f"run-conflict:{run.partition(':')[2]}" not in each.problems()


def test_a_replica_that_keeps_running_says_that_it_is_there_once_an_hour(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    passes = SyncPass(ada.node, ada.transport, sleep=no_sleep, running=True)
    for minutes in (0, 10, 40, 20):
        ada.clock.ms += minutes * 60_000
        bob.clock.ms = ada.clock.ms
        passes.run()
        bob.sync()
    assert types(ada) == ["presence", "presence"]
    ((wall,),) = bob.node.store.db.execute("SELECT wall FROM devices WHERE replica = ?", (ada.me,)).fetchall()
    assert wall == ada.clock.ms
    assert types(bob) == []


def test_the_machine_that_may_wake_a_work_item_is_the_one_heard_of_last(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    desk = w.machine("bob", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "bob").encode())
    ada.sync()
    desk.sync()
    made = add_task(ada, assignee="human:bob")
    exchange(ada, bob, desk)
    at = homes_at(ada, made)
    assert set(at) == {bob.me, desk.me}
    team = ada.node.team
    assert team is not None
    for machine in (bob, desk):
        ada.clock.ms += HOUR_MS
        machine.clock.ms = ada.clock.ms
        SyncPass(machine.node, machine.transport, sleep=no_sleep, running=True).run()
        ada.sync()
        assert waking_replica(ada.node.store.db, team.view, made, at) == machine.me


def test_sessions_that_ended_before_the_team_are_not_told_to_it(w: World) -> None:
    ada = w.machine("ada")
    end_session(ada, run_session(ada, None))
    ada.clock.ms += 1_000
    commands.found_team(ada.pass_(), "Orchard")
    live = run_session(ada, None)
    ada.sync()
    assert [claim.run for claim in runs.bound(ada.node.store.db)] == [live]


def test_a_session_elsewhere_stands_for_its_work_item(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    made = add_task(ada)
    run = run_session(bob, made)
    exchange(ada, bob)
    assert ada.node.host.work_item(run) == made
    assert list(ada.node.host.sessions(made)) == list(bob.node.host.sessions(made)) == [run]
    assert ada.node.host.live_session(made) is None  # it lives on bob's machine


def test_an_agent_that_waits_on_another_machine_is_approved_there(w: World) -> None:
    ada, _ = w.team("ada", "bob")
    desk = w.machine("ada", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "ada").encode())
    exchange(ada, desk)
    with ada.node.store.transaction(CommitPoint.AGENT) as db:
        agents.register(db, ada.node.random, "agent:ada/helper", "cli", ada.me)
    exchange(ada, desk)
    with (
        pytest.raises(DmpError, match="another machine"),
        desk.node.store.transaction(CommitPoint.AGENT) as db,
    ):
        agents.register(db, desk.node.random, "agent:ada/helper", "cli", desk.me)
    with desk.node.store.transaction(CommitPoint.AGENT) as db:
        agents.decide(db, "agent:ada/helper", "revoked")  # any machine of its person's may end it
    exchange(desk, ada)
    told = registers.published_fields(ada.node.store.db, "agent", "agent:ada/helper")
    assert told["status"] == "revoked"


def test_the_text_of_teammates_is_read_as_one_short_line(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(forger.op("task", body=_put("t-0000aa", title="Up\nand " + "down " * 200)))
    ada.sync()
    title = _title(ada)
    assert title is not None
    assert title.startswith("Up and down")
    assert len(title) <= items.MAX_TITLE_BYTES


# Refolding


def test_an_upgrade_reads_what_was_kept_unread_without_news_from_anybody(tmp_path: Path) -> None:
    first = MIGRATIONS[:3]  # with no tables of shared state
    before = Store.open(tmp_path / "store", first)
    with before.transaction("test"):
        put(before.db, Meta.TIP, "seen")
    before.close()
    after = Store.open(tmp_path / "store", MIGRATIONS)
    assert get(after.db, Meta.TIP) is None
    after.close()


def test_what_a_revoked_replica_said_after_its_cut_is_undone_and_before_it_stands(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    cy.node.engine.join("eng", "human:cy")
    exchange(ada, bob, cy)
    cut = cy.chain()[-1]
    cy.node.engine.join("eng", "human:ada")
    exchange(ada, bob, cy)
    assert bob.node.engine.members("eng") == ("human:ada", "human:cy")
    sign(ada, Revoke(cy.me, CutPoint(cut.seq, cut.hash), "stolen"))
    exchange(ada, bob)
    for each in (ada, bob):
        assert each.node.engine.members("eng") == ("human:cy",)


def sign(machine: Machine, change: Revoke | Admit) -> None:
    with machine.node.store.transaction(CommitPoint.ROSTER_SIGNED) as db:
        sign_change(machine.node, db, change)


def test_a_type_that_a_later_build_knows_is_applied_then(w: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(forger.op("weather", body={"sky": "clear"}))
    exchange(ada)
    (settled,) = ada.node.store.db.execute("SELECT settled FROM ops WHERE type = 'weather'").fetchone()
    assert settled == 0

    def weather(db: Connection, _view: View, op: Op) -> Outcome:
        assert isinstance(op.body, dict)
        registers.merge(db, "task", "weather", "sky", op.body["sky"], op.hlc)
        return Outcome.APPLIED

    monkeypatch.setitem(HANDLERS, "weather", weather)
    ada.sync()
    assert registers.fields_of(ada.node.store.db, "task", "weather") == {"sky": "clear"}
    (settled,) = ada.node.store.db.execute("SELECT settled FROM ops WHERE type = 'weather'").fetchone()
    assert settled == 1


def test_an_observer_changes_nothing_but_is_there(w: World) -> None:
    (ada,) = w.team("ada")
    eve = w.machine("eve")
    commands.join(eve.pass_(), None)
    ada.sync()
    sign(ada, Admit(eve.me, "eve", Role.MEMBER, eve.node.identity.fingerprint, observer=True))
    exchange(ada, eve)
    eve.node.engine.join("eng", "human:eve")
    exchange(ada, eve)
    assert types(eve) == []
    forger = Forger(eve)
    forger.publish(
        forger.op("channel", body={"channel": "eng", "member": "human:eve", "joined": True}),
        forger.op("presence", body={"kind": "replica", "build": "b", "device": "d", "wall": 1}),
    )
    ada.sync()
    assert ada.node.engine.members("eng") == ()
    assert ada.count("devices") == 1
    assert f"observer:{eve.me}" in ada.problems()


def test_nothing_is_folded_anew_while_the_roster_cannot_be_read(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(bob)
    forger.publish(
        forger.op("weather", body={"sky": "clear"}),
        forger.op("roster", body={"rv": 1, "action": "promote-all"}),
        forger.op("channel", body={"channel": "eng", "member": "human:bob", "joined": True}),
    )
    ada.sync()
    team = ada.node.team
    assert team is not None
    assert team.view.unknown is not None
    assert ada.node.engine.members("eng") == ()
    monkeypatch.setitem(HANDLERS, "weather", HANDLERS["channel"])
    ada.sync()
    assert fold.is_stale(ada.node.store.db, _view(ada))
    commands.revoke(ada.pass_(), bob.me, "a newer build")
    ada.sync()
    assert not fold.is_stale(ada.node.store.db, _view(ada))


def _view(machine: Machine) -> View:
    team = machine.node.team
    assert team is not None
    return team.view
