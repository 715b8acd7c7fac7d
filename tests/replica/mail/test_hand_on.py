"""Mail that waits for a work item follows it to where its session lives (federation wire 9.D6, 9.E6, 9.G)."""

from dataclasses import replace

import pytest

from core.message import Message, State
from core.store import registers
from crypto.canonical import JsonValue, decode, parse
from crypto.encoding import b64u
from crypto.op import Op, to_line
from crypto.sealing import unwrap_key
from replica.mail import hand_on
from replica.mail.opened import Contents
from replica.mail.payloads import Refusal
from replica.records import remote
from replica.records.commits import CommitPoint
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange

TASK = "task:t-0000aa"


@pytest.fixture
def team(w: World) -> list[Machine]:
    """Ada assigns a work item to bob, so that bob's machine holds its mail; cy may come to work on it."""
    machines = w.team("ada", "bob", "cy")
    with machines[0].node.store.transaction(CommitPoint.WORK_ITEM) as db:
        registers.edit(db, "task", TASK, {"title": "Prune", "assignee": "human:bob", "status": "todo"})
    exchange(*machines)
    return machines


def begin(machine: Machine) -> str:
    """A session of the work item begins on a machine; the test holds its lock in no process of its own."""
    sessions = machine.node.host.sessions_here
    with machine.node.store.transaction(CommitPoint.SESSION):
        made = sessions.make(machine.node.random, TASK, None, now=machine.node.now())
        sessions.begin(made)
    machine.node.engine.session_started(made.address, TASK)
    return made.address


def held(machine: Machine) -> list[str]:
    """The bodies of what a machine holds for the work item, or has given to its session."""
    return [message.body for _, message in machine.node.engine.inbox(TASK)]


def to_task(machine: Machine, body: str = "mind the roses", **members: JsonValue) -> Message:
    return machine.send(TASK, body, **members)


def test_mail_for_a_work_item_goes_to_its_assignees_machine(team: list[Machine]) -> None:
    ada, bob, cy = team
    sent = to_task(ada)
    exchange(*team)
    assert (held(ada), held(bob), held(cy)) == ([], ["mind the roses"], [])
    assert (ada.row(sent).homes, ada.row(sent).state) == ((bob.me,), "held")


def test_a_wake_request_names_the_one_home_that_may_wake(team: list[Machine]) -> None:
    ada, bob, _ = team
    sent = to_task(ada, wake="request")
    assert ada.row(sent).wake_at == bob.me


def test_the_origin_sends_anew_and_another_holder_forwards_once(team: list[Machine]) -> None:
    """The origin is away: whoever holds the mail hands on its own op, and cy has it from ada all the same."""
    ada, bob, cy = team
    sent = to_task(ada)
    exchange(ada, bob)
    begin(cy)
    exchange(cy, bob, cy)
    assert held(cy) == ["mind the roses"]
    assert cy.message(sent.id).origin == ada.me
    forwards = [each for each in bob.chain() if isinstance(each, Op) and isinstance(each.body, dict)]
    forwards = [each for each in forwards if "forward" in each.body]  # type: ignore[operator]
    assert [each.to for each in forwards] == [(cy.me,)]
    exchange(bob, cy, ada, bob, cy)
    assert held(cy) == ["mind the roses"]


def test_the_origin_hands_on_what_another_home_holds(team: list[Machine]) -> None:
    ada, bob, cy = team
    sent = to_task(ada)
    exchange(ada, bob)
    begin(cy)
    exchange(cy, ada, cy)  # bob is away
    assert held(cy) == ["mind the roses"]
    assert set(ada.row(sent).homes) == {bob.me, cy.me}
    exchange(bob, cy)
    assert held(cy) == ["mind the roses"]


def test_what_a_machine_was_sent_before_its_session_began_is_taken_over_at_once(team: list[Machine]) -> None:
    ada, _, cy = team
    ada.send((TASK, "human:cy"), "to both")
    exchange(*team)
    assert held(cy) == []
    begin(cy)
    assert held(cy) == ["to both"]


@pytest.mark.parametrize("sent_already", [False, True])
def test_a_question_that_was_closed_is_given_to_no_session(team: list[Machine], sent_already: bool) -> None:
    """Neither to one that begins where it was asked, nor to one that begins elsewhere."""
    ada, bob, cy = team
    asked = to_task(ada, kind="question")
    if sent_already:
        exchange(ada, bob)
    ada.node.engine.close(asked.id, "no need any more")
    begin(ada)
    begin(cy)
    exchange(cy, ada, bob, cy)
    assert (held(ada), held(cy)) == ([], [])
    assert cy.node.engine.message(asked.id) is None
    assert {each.state for each in bob.node.engine.deliveries(asked.id)} == {State.ANSWERED}


def test_a_home_lets_go_of_what_was_given_elsewhere(team: list[Machine]) -> None:
    ada, bob, cy = team
    sent = to_task(ada)
    exchange(ada, bob)
    begin(cy)
    exchange(cy, bob, cy)
    ((delivery, _),) = cy.node.engine.inbox(TASK)
    cy.node.engine.mark_read(delivery.id)
    exchange(cy, bob, ada)
    assert held(bob) == []
    (row,) = remote.rows_of(bob.node.store.db, sent.id)
    assert (row.recipient, row.state, cy.me in row.homes) == (TASK, "read", True)
    assert ada.row(sent).state == "read"


def test_mail_to_a_work_item_with_no_home_is_sent_when_it_has_one(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    to_task(ada)
    exchange(ada, bob)
    assert held(bob) == []
    begin(bob)
    exchange(bob, ada, bob)
    assert held(bob) == ["mind the roses"]


def test_nothing_from_before_the_team_is_handed_on(w: World) -> None:
    ada = w.machine("ada")
    to_task(ada, "from before")
    commands.found_team(ada.pass_(), "Orchard")
    bob = w.machine("bob")
    commands.join(bob.pass_(), commands.invite(ada.pass_(), "bob").encode())
    exchange(ada, bob)
    begin(bob)
    exchange(bob, ada, bob)
    assert held(bob) == []


def forward(
    forger: Forger, to: Machine, original: Op, target: str = TASK, *, reader: Machine | None = None
) -> Op:
    """A forward of an op that the forger's machine, or the reader it has the key from, can open."""
    reader = reader or forger.machine
    secrets = reader.node.identity.secrets
    key = unwrap_key(
        original.sealed,
        replica=original.replica,
        seq=original.seq,
        type="mail",
        me=reader.me,
        private=secrets.seal_private,
    )
    body: JsonValue = {"forward": parse(decode(to_line(original))).value}
    return forger.op("mail", body=body, payload={"target": target, "key": b64u(key)}, to=(to,))


def mail_of(machine: Machine) -> Op:
    """The last mail op of a machine."""
    found = [each for each in machine.chain() if isinstance(each, Op) and each.type == "mail"]
    return found[-1]


def test_a_forward_for_who_does_not_live_here_or_was_no_target_is_dropped(team: list[Machine]) -> None:
    ada, bob, cy = team
    to_task(ada)
    exchange(*team)
    forger = Forger(bob)
    forger.publish(
        forward(forger, cy, mail_of(ada)),  # no session of the work item lives at cy's
        forward(forger, cy, mail_of(ada), "human:cy"),
    )
    cy.sync()
    assert (held(cy), cy.bodies()) == ([], [])
    assert cy.problems().keys() >= {f"mail-drop:{bob.me}", f"malformed:{bob.me}"}


def test_what_was_handed_on_and_is_handed_back_is_held_once(team: list[Machine]) -> None:
    """Two machines that hold the same mail hand it to each other, each before it knows that the other has it."""
    ada, bob, cy = team
    to_task(ada)
    exchange(ada, bob)
    run = begin(cy)
    exchange(cy, bob)
    here = cy.node.host.sessions_here
    with cy.node.store.transaction(CommitPoint.SESSION):
        here.end(here.need(run), now=cy.node.now())
    exchange(cy, bob)
    forger = Forger(cy)
    forger.publish(forward(forger, bob, mail_of(ada), reader=bob))
    bob.sync()
    assert held(bob) == ["mind the roses"]
    assert bob.count("parked") == 0


def elsewhere(forger: Forger, at: Machine) -> Op:
    """Mail for the work item in an op that the forger's machine never published, in place of one that it did."""
    forger.seq -= 1
    payload = forger.payload(at, to=[TASK])
    payload["targets"] = [{"recipient": TASK, "via": "direct", "homes": [at.me]}]
    return forger.op("mail", payload=payload, to=(at,))


def refusals(machine: Machine, to: Machine) -> list[tuple[str, str]]:
    """The messages that a machine told another it refused, with the reasons."""
    said = [
        op for op in machine.chain() if isinstance(op, Op) and op.type == "state" and to.me in (op.to or ())
    ]
    entries = [entry for op in said for entry in Contents(to.node).state(op)]
    return [(each.message, each.reason) for each in entries if isinstance(each, Refusal)]


def test_a_forward_of_what_no_log_holds_is_refused_as_unverifiable_and_its_origin_told(
    team: list[Machine],
) -> None:
    """Only the origin's own log says what it published: a key that signed elsewhere too is not enough (9.G3)."""
    ada, bob, cy = team
    begin(cy)
    exchange(*team)
    forged = elsewhere(Forger(ada), bob)
    forger = Forger(bob)
    forger.publish(forward(forger, cy, forged))
    cy.sync()
    reason = f"unverifiable: the op handed on is not in the log of {ada.me}"
    assert (held(cy), cy.problems()[f"mail-drop:{bob.me}"]) == ([], reason)
    assert refusals(cy, ada) == [(f"m-forged-{forged.seq}", reason)]


def test_a_forward_of_what_its_origin_did_not_sign_is_dropped_and_nobody_is_told(team: list[Machine]) -> None:
    """No member can have another refuse what a third one sends by handing on what it made up itself."""
    ada, bob, cy = team
    begin(cy)
    exchange(*team)
    forged = elsewhere(Forger(ada), bob)
    forged = replace(forged, sig=elsewhere(Forger(bob), bob).sig)
    forger = Forger(bob)
    forger.publish(forward(forger, cy, forged))
    cy.sync()
    assert (held(cy), refusals(cy, ada), refusals(cy, bob)) == ([], [], [])
    assert cy.problems()[f"mail-drop:{bob.me}"].startswith("unverifiable: ")


def test_a_forward_waits_for_the_op_it_hands_on(team: list[Machine]) -> None:
    ada, bob, cy = team
    begin(cy)
    exchange(*team)
    later = Forger(ada)
    payload = later.payload(bob, to=[TASK])
    payload["targets"] = [{"recipient": TASK, "via": "direct", "homes": [bob.me]}]
    original = later.op("mail", payload=payload, to=(bob,))
    forger = Forger(bob)
    forger.publish(forward(forger, cy, original))
    cy.sync()
    assert (held(cy), cy.count("parked")) == ([], 1)
    later.publish(original)
    cy.sync()
    assert (held(cy), cy.count("parked")) == (["forged"], 0)


def test_what_is_read_on_one_machine_of_a_person_is_read_on_the_others_but_no_question(w: World) -> None:
    """M5: a question that waits is never hidden on the word of another machine."""
    ada, bob = w.team("ada", "bob")
    tower = w.machine("bob", "tower")
    commands.join(tower.pass_(), commands.invite(ada.pass_(), "bob").encode())
    exchange(ada, bob, tower)
    ada.send("human:bob", "hello")
    ada.ask("human:bob")
    exchange(ada, bob, tower)
    for delivery, _ in tower.node.engine.inbox("human:bob"):
        tower.node.engine.mark_read(delivery.id)
    exchange(tower, bob)
    states = [delivery.state for delivery, _ in bob.node.engine.inbox("human:bob")]
    assert states == [State.READ, State.NOTIFIED]


def test_a_message_whose_op_is_gone_is_not_forwarded(team: list[Machine]) -> None:
    ada, bob, _ = team
    sent = to_task(ada)
    exchange(ada, bob)
    bob.node.store.db.execute("UPDATE readers SET carrier = NULL")
    assert hand_on.forward_of(bob.node.store.db, bob.node, sent.id) is None


def test_what_turns_out_not_to_be_its_publishers_is_noted_when_it_is_judged_at_last(w: World) -> None:
    """Kept mail is not dropped in silence once it is known whose session its sender is."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    forger, owner = Forger(cy), Forger(bob)
    forger.publish(forger.mail(ada, **{"from": "run:r-0000aa"}))
    ada.sync()
    assert ada.count("parked") == 1
    body: JsonValue = {"kind": "run", "run": "r-0000aa", "task": None, "runKind": "x", "live": True}
    owner.publish(owner.op("presence", body=body))
    ada.sync()
    assert (ada.bodies(), ada.count("parked")) == ([], 0)
    assert f"speaks-for:{cy.me}" in ada.problems()


def test_what_a_revoked_replica_published_after_its_cut_is_not_handed_on_either(team: list[Machine]) -> None:
    ada, bob, cy = team
    begin(cy)
    exchange(*team)
    forger = Forger(bob)
    payload = forger.payload(ada, to=[TASK])
    payload["targets"] = [{"recipient": TASK, "via": "direct", "homes": [ada.me]}]
    after = forger.op("mail", payload=payload, to=(ada,))
    commands.revoke(ada.pass_(), bob.me, "left")
    forger.publish(after)
    exchange(ada, cy)
    # Ada could read it, and hands it on all the same.
    handing = Forger(ada)
    handing.publish(forward(handing, cy, after))
    cy.sync()
    assert held(cy) == []


def test_a_replica_that_never_ran_a_work_item_takes_none_of_its_mail_over(team: list[Machine]) -> None:
    """A report alone empties no home: its publisher must have claimed a session of the work item."""
    ada, bob, cy = team
    sent = to_task(ada)
    exchange(*team)
    forger = Forger(cy)
    report = {"t": "delivery", "message": sent.id, "recipient": TASK, "state": "read", "at": "now"}
    forger.publish(forger.state(bob, report), forger.state(ada, report))
    exchange(bob, ada)
    assert held(bob) == ["mind the roses"]
    assert (ada.row(sent).state, ada.row(sent).homes) == ("held", (bob.me,))


def test_an_observer_hands_nothing_on(w: World, team: list[Machine]) -> None:
    """What it says is believed nowhere, so what waits on it for a work item stays there."""
    ada, bob, _ = team
    eve = w.machine("eve")
    code = commands.invite(ada.pass_(), "eve", observer=True)
    commands.join(eve.pass_(), code.encode())
    exchange(ada, bob, eve)
    free = "task:t-0000bb"
    waiting = eve.send(free, "nobody homes it")
    with ada.node.store.transaction(CommitPoint.WORK_ITEM) as db:
        registers.edit(db, "task", free, {"title": "Weed", "assignee": "human:bob", "status": "ready"})
    exchange(ada, bob)
    sessions = bob.node.host.sessions_here
    with bob.node.store.transaction(CommitPoint.SESSION):
        sessions.begin(sessions.make(bob.node.random, free, None, now=bob.node.now()))
    exchange(bob, eve, bob)
    assert not [entry for entry in eve.chain() if entry.type in ("mail", "state")]
    assert eve.node.engine.deliveries(waiting.id)[0].state is State.HELD
    assert remote.rows_of(eve.node.store.db, waiting.id) == []  # as it would say of what went out
