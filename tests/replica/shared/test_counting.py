"""Which ops count, and when all is folded anew from those that do."""

from pathlib import Path
from sqlite3 import Connection

import pytest

from core.store import Store, registers
from crypto.op import Op
from crypto.roster.bodies import Admit, CutPoint, Revoke, Role
from crypto.roster.view import View
from replica.chain.outcome import Outcome
from replica.records import problems
from replica.records.meta import Meta, get, put
from replica.records.schema import MIGRATIONS
from replica.shared import fold
from replica.shared.fold import HANDLERS
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import (
    add_task,
    homes_at,
    put_body,
    run_body,
    run_session,
    sign,
    title_of,
    types,
    view_of,
)
from tests.replica.world import World, exchange


def test_a_malformed_op_is_told_of_by_its_place_and_stops_nothing(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger = Forger(bob)
    bad = forger.op("task", body={"task": "t-0000aa", "kind": "put", "fields": {"title": 7}})
    forger.publish(
        bad,
        forger.op("channel", body={"channel": "eng", "member": "run:r-0000aa", "joined": True}),
        forger.op("presence", body="here"),
        forger.op("task", body=put_body("t-0000aa", title="Good")),
    )
    cy.send("human:ada", "hello")
    exchange(ada, cy)
    assert ada.bodies() == ["hello"]
    assert title_of(ada) == "Good"
    noted = {each.subject: each for each in problems.all_problems(ada.node.store.db)}
    assert {f"{kind}:{bob.me}" for kind in ("task", "channel", "presence")} <= noted.keys()
    assert (noted[f"task:{bob.me}"].replica, noted[f"task:{bob.me}"].seq) == (bob.me, bad.seq)
    assert "fields.title" in noted[f"task:{bob.me}"].text


def test_an_observer_changes_nothing_but_is_there(w: World) -> None:
    (ada,) = w.team("ada")
    eve = w.machine("eve")
    commands.join(eve.pass_(), None)
    ada.sync()
    sign(ada, Admit(eve.me, "eve", Role.MEMBER, eve.node.identity.fingerprint, observer=True))
    exchange(ada, eve)
    eve.node.engine.join("eng", "human:eve")
    made = add_task(ada)
    run = run_session(ada, made)
    exchange(ada, eve)
    assert types(eve) == []
    forger = Forger(eve)
    forger.publish(
        forger.op("channel", body={"channel": "eng", "member": "human:eve", "joined": True}),
        forger.op("presence", body={"kind": "replica", "build": "b", "device": "d", "wall": 1}),
        forger.op("presence", body=run_body(run.partition(":")[2], made)),
    )
    ada.sync()
    assert ada.node.engine.members("eng") == ()
    assert ada.count("devices") == 1
    assert homes_at(ada, made) == (ada.me,)
    assert "observer" in ada.problems()[f"presence:{eve.me}"]
    assert f"observer:{eve.me}" in ada.problems()


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


def test_an_upgrade_reads_what_was_kept_unread_without_news_from_anybody(tmp_path: Path) -> None:
    first = MIGRATIONS[:3]  # with no tables of shared state
    before = Store.open(tmp_path / "store", first)
    with before.transaction("test"):
        put(before.db, Meta.TIP, "seen")
    before.close()
    after = Store.open(tmp_path / "store", MIGRATIONS)
    assert get(after.db, Meta.TIP) is None
    after.close()


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
    assert fold.is_stale(ada.node.store.db, view_of(ada))
    commands.revoke(ada.pass_(), bob.me, "a newer build")
    ada.sync()
    assert not fold.is_stale(ada.node.store.db, view_of(ada))
