"""What a teammate's own key can sign, at random: nothing in it stops a pass, nothing is tried again for ever."""

import json
import logging
from random import Random
from typing import Any

import pytest

from crypto.canonical import JsonValue
from tests.replica.forge import Forger
from tests.replica.odd import bent
from tests.replica.world import Machine, World, exchange


@pytest.fixture(autouse=True)
def loose_seals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile teammate may seal what has no canonical form."""
    monkeypatch.setattr("crypto.sealing.canonical", lambda value: json.dumps(value).encode())


def honest_payloads(forger: Forger, bob: Machine, ids: list[str]) -> list[tuple[str, Any]]:
    """Payloads of every kind, about messages that are there."""
    asked, mine, answer = ids
    at = "2026-09-21T14:13:20.000Z"
    entries: list[JsonValue] = [
        {"t": "delivery", "message": mine, "recipient": "human:ada", "state": "read", "at": at},
        {"t": "settle", "question": asked, "answer": answer, "at": at},
        {"t": "settle", "question": asked, "answer": "m-close", "closed": "enough", "at": at},
        {"t": "settle", "question": "m-unknown", "answer": "m-other", "at": at},
        {"t": "refused", "message": mine, "reason": "limited: no", "at": at},
        {"t": "refused", "message": answer, "reason": "limited: no", "at": at},
        {"t": "refused", "message": "op-4", "reason": "unavailable: again", "at": at},
    ]
    reply: dict[str, JsonValue] = {"replyTo": mine, "thread": mine}
    told: list[JsonValue] = [{"type": "message", "id": mine}]
    notice: dict[str, JsonValue] = {"from": "agent:dispatch", "kind": "notice", "refs": told}
    question: dict[str, JsonValue] = {"kind": "question", "choices": ["yes"], "blocking": True}
    early: dict[str, JsonValue] = {"kind": "answer", "replyTo": "m-later", "thread": "m-later", "choice": "y"}
    mails = [
        forger.payload(bob),
        forger.payload(bob, **reply),
        forger.payload(bob, **question),
        forger.payload(bob, **notice),
        forger.payload(bob, **early),
        forger.payload(bob, **reply, kind="answer"),
        forger.payload(bob, data={"type": "x-mine", "n": 1}, wake="request", urgent=True),
    ]
    return [("state", {"entries": [entry]}) for entry in entries] + [("mail", mail) for mail in mails]


@pytest.mark.parametrize("seed", range(3))
def test_no_content_stops_a_pass_or_is_tried_for_ever(
    w: World, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    asked = ada.ask("human:bob")
    mine = bob.send("human:ada", "hello")
    exchange(ada, bob, cy)
    answer = bob.answer(asked, "yes")
    bob.sync()
    forger, random = Forger(ada), Random(seed)
    made = []
    for number in range(280):
        type_, payload = random.choice(honest_payloads(forger, bob, [asked.id, mine.id, answer.id]))
        payload = bent(payload, random)
        if number % 7 == 0 and isinstance(payload, dict) and isinstance(payload.get("entries"), list):
            payload["entries"] *= 3
        made.append(forger.op(type_, payload=payload, to=(bob,)))
    forger.publish(*made)
    cy.send("human:bob", "meanwhile")
    cy.sync()
    with caplog.at_level(logging.WARNING):
        bob.sync()
    assert "meanwhile" in bob.bodies()
    assert [record.getMessage() for record in caplog.records] == []
    reasons = {reason for (reason,) in bob.node.store.db.execute("SELECT reason FROM parked")}
    assert not [reason for reason in reasons if "could not be applied" in reason]
