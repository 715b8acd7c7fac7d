"""Mail that a teammate's own key signed and no honest replica would send: what it may not do here."""

import json
import sqlite3

import pytest

from core.errors import DmpError
from core.message import Message
from core.validate import MAX_REFS
from crypto.canonical import JsonValue
from replica.mail import receive
from replica.mail.payloads import MAX_TARGETS
from replica.node import Node
from replica.records import remote
from tests.replica.forge import Forger
from tests.replica.world import Machine, World, exchange


@pytest.fixture
def pair(w: World) -> list[Machine]:
    """Mallory and bob, in one team."""
    made = w.team("mallory", "bob")
    exchange(*made)
    return made


def target(recipient: str, *homes: Machine, via: str = "direct") -> dict[str, JsonValue]:
    return {"recipient": recipient, "via": via, "homes": [home.me for home in homes]}


def test_one_message_in_several_ops_is_stored_once_and_gains_no_recipients(w: World) -> None:
    """Each home may be told of the targets it homes alone, so several ops carry one message (9.C4, 9.D2)."""
    mallory, bob, cy = w.team("mallory", "bob", "cy")
    exchange(mallory, bob, cy)
    forger = Forger(mallory)
    payload = forger.payload(bob)
    parts = [
        [target("human:bob", bob)],
        [target("human:cy", cy)],
        [target("human:bob", bob), target("human:cy", cy)],
    ]
    forger.publish(
        *(forger.op("mail", payload={**payload, "targets": [*part]}, to=(bob, cy)) for part in parts)
    )
    exchange(bob, cy, rounds=2)
    for machine in (bob, cy):
        assert machine.count("messages") == 1
        assert not machine.problems()
        assert len(remote.readers_of(machine.node.store.db, str(message_id(payload)))) == 1
    assert bob.bodies() == ["forged"]
    assert [row.recipient for row in remote.rows_of(bob.node.store.db, message_id(payload))] == []
    assert cy.bodies() == []  # the first that came named bob alone, and a later one adds nobody


def message_id(payload: dict[str, JsonValue]) -> str:
    message = payload["message"]
    assert isinstance(message, dict)
    return str(message["id"])


@pytest.mark.parametrize(
    "address",
    [
        "human:böb",
        "human:Bob",
        "human:bob ",
        "human:bob\u200b",
        "human:\u0430da",
        "channel:eng",
        "human:",
        "bob",
        "a" * 300,
    ],
)
def test_an_address_of_any_other_form_is_nobodys(pair: list[Machine], address: str) -> None:
    mallory, bob = pair
    forger = Forger(mallory)
    payload = forger.payload(bob)
    forger.publish(
        forger.op("mail", payload={**payload, "targets": [target(address, bob)]}, to=(bob,)),
        forger.mail(bob, **{"from": address}),
        forger.mail(bob, body="and this"),
    )
    bob.sync()
    assert bob.bodies() == ["and this"]
    assert f"malformed:{mallory.me}" in bob.problems()


def test_a_message_names_as_many_recipients_as_there_may_be_and_no_more(pair: list[Machine]) -> None:
    mallory, bob = pair
    forger = Forger(mallory)
    for count in (MAX_TARGETS + 1, MAX_TARGETS):
        payload = forger.payload(bob, body=f"{count} of us")
        crowd = [target(f"human:p{number}", via="channel") for number in range(count - 1)]
        forger.publish(
            forger.op("mail", payload={**payload, "targets": [*crowd, target("human:bob", bob)]}, to=(bob,))
        )
    bob.sync()
    assert bob.bodies() == [f"{MAX_TARGETS} of us"]
    assert bob.count("remote_rows") == MAX_TARGETS - 1


def test_homes_that_are_nobodys_are_left_out_and_are_told_nothing(pair: list[Machine]) -> None:
    mallory, bob = pair
    forger = Forger(mallory)
    payload = forger.payload(bob)
    elsewhere: dict[str, JsonValue] = {
        "recipient": "human:zoe",
        "via": "direct",
        "homes": ["zoe-0000000a", mallory.me],
    }
    forger.publish(
        forger.op("mail", payload={**payload, "targets": [elsewhere, target("human:bob", bob)]}, to=(bob,))
    )
    exchange(bob, rounds=2)
    (row,) = remote.rows_of(bob.node.store.db, message_id(payload))
    assert row.homes == (mallory.me,)
    assert {name for op in bob.chain() for name in op.to or ()} <= {mallory.me}


def test_refs_are_kept_as_they_are_and_lead_to_nothing(pair: list[Machine]) -> None:
    mallory, bob = pair
    secret = bob.send("human:bob", "a secret")
    forger = Forger(mallory)
    kept: list[JsonValue] = [
        {"type": "message", "id": secret.id},
        {"type": "x-later", "id": "../../etc", "at": "1"},
    ]
    forger.publish(
        forger.mail(bob, body="kept", refs=kept),
        forger.mail(bob, body="many", refs=kept[:1] * (MAX_REFS + 1)),
        forger.mail(bob, body="long", refs=[{"type": "file", "id": "x" * 513}]),
        forger.mail(bob, body="broken", refs=[{"type": "file", "id": "one\u2028two"}]),
        forger.mail(bob, body="shape", refs=[{"type": "file"}]),
    )
    bob.sync()
    (found,) = [message for message in bob.inbox() if message.origin == mallory.me]
    assert [ref.to_json() for ref in found.refs] == kept
    assert [op.type for op in bob.chain() if op.to] == ["state"]  # what is named is not sent


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d half"])
def test_half_a_character_is_in_no_message(
    pair: list[Machine], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sender may write its payload as it likes, since receivers only parse it (1.5)."""
    mallory, bob = pair
    forger = Forger(mallory)
    with monkeypatch.context() as lenient:
        lenient.setattr("crypto.sealing.canonical", lambda payload: json.dumps(payload).encode())
        ops = [
            forger.mail(bob, body=text),
            forger.mail(bob, data={"type": "x-any", text: 1}),
            forger.mail(bob, refs=[{"type": "file", "id": text}]),
            forger.state(bob, {"t": "refused", "message": "m-1", "reason": text, "at": "now"}),
        ]
    forger.publish(*ops, forger.mail(bob, body="whole"))
    bob.sync()
    assert bob.bodies() == ["whole"]
    assert f"malformed:{mallory.me}" in bob.problems()


def test_an_id_that_speaks_of_content_makes_nobody_publish_again(w: World) -> None:
    """`op-<seq>` in a refusal tells of missing content; as the id of a message it is a message's."""
    mallory, bob = w.team("mallory", "bob")
    sent = bob.send("human:mallory", "said once")
    exchange(mallory, bob)
    (mail,) = [op for op in bob.chain() if op.type == "mail"]
    before = len(bob.lane())
    forger = Forger(mallory)
    forger.publish(forger.mail(bob, id=f"op-{mail.seq}", thread=f"op-{mail.seq}", body=""))
    bob.sync()
    assert bob.row(sent).state == "notified"
    assert len([line for line in bob.lane()[before:] if b'"type":"mail"' in line]) == 0


def test_a_reply_to_itself_or_in_a_thread_of_no_root_is_refused(pair: list[Machine]) -> None:
    mallory, bob = pair
    first = bob.send("human:mallory", "first")
    reply = bob.send("human:mallory", "second", replyTo=first.id)
    exchange(bob, mallory)
    forger = Forger(mallory)
    forger.publish(
        forger.mail(bob, id="m-a", thread="m-a", replyTo="m-a"),
        forger.mail(bob, thread=reply.id, replyTo=reply.id),
        forger.mail(bob, thread=first.id),
        forger.mail(bob, thread=first.id, replyTo=reply.id, body="fair"),
    )
    bob.sync()
    assert [body for body in bob.bodies() if body in ("forged", "fair")] == ["fair"]
    with pytest.raises(DmpError):
        bob.send("human:mallory", "to what is not here", replyTo="m-a")


@pytest.mark.parametrize("lead_ms", [299_000, 300_001])
def test_a_messages_clock_may_lead_its_op_by_five_minutes(pair: list[Machine], lead_ms: int) -> None:
    mallory, bob = pair
    forger = Forger(mallory)
    op = forger.mail(bob, hlc=f"{forger.ms + lead_ms:013d}.0000.{mallory.me}")
    forger.publish(op, forger.mail(bob, body="after"))
    bob.clock.ms = forger.ms
    bob.sync()
    assert ("forged" in bob.bodies()) is (lead_ms <= 300_000)
    assert "after" in bob.bodies()


def test_mail_that_fails_after_it_has_written_leaves_nothing_and_takes_nothing_with_it(
    w: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever of a batch has no fault is applied, before it and after it, once."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)

    def fail(db: sqlite3.Connection, node: Node, question: Message) -> None:
        raise RuntimeError(question.id)

    for number in range(3):
        ada.send("human:bob", f"before {number}")
    question = ada.ask("human:bob")
    ada.send("human:bob", "after")
    ada.sync()
    with monkeypatch.context() as patched:
        patched.setattr(receive, "question_arrived", fail)
        bob.sync()
    assert bob.bodies() == ["before 0", "before 1", "before 2", "after"]
    db = bob.node.store.db
    for table, column in {"messages": "id", "deliveries": "message", "readers": "message"}.items():
        assert db.execute(f"SELECT 1 FROM {table} WHERE {column} = ?", (question.id,)).fetchone() is None
    assert db.execute("SELECT count(*) FROM parked").fetchone() == (1,)
    bob.sync()
    assert len(bob.bodies()) == 5
    assert db.execute("SELECT count(*) FROM parked").fetchone() == (0,)
