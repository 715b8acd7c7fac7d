"""Runs the kit's vectors of the classes `envelope` and `host-core` on the engine (section 12.4).

The host is scripted from a vector's `given`, its steps drive the engine on a fresh store in memory, and
what happened is judged by the vector's `then`. `needs` says which vectors want what this host does not do.
"""

import itertools
import json
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.address import Grammar, is_identifier, parse_address
from core.engine import Engine, Sent
from core.errors import DmpError, not_found
from core.gate_data import has_gate_data
from core.host import AgentStatus, External, Limits, WakeError, WakeRuling
from core.ids import Ulids
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Delivery, Message, Standing, State, Via
from core.received import message_from_json
from core.store import Store
from core.store.deliveries import insert_deliveries
from core.store.messages import insert_message
from core.store.schema import MIGRATIONS
from core.timestamp import milliseconds, timestamp
from core.validate import validate

SYSTEM = "agent:dispatch"
START = "2026-09-23T10:00:00.000Z"

Vector = dict[str, Any]
Outcome = dict[str, Any]


def load(vectors: Path) -> list[Vector]:
    """Return every vector of the two classes below a folder."""
    files = [file for name in ("envelope", "host-core") for file in sorted((vectors / name).glob("*.json"))]
    return [vector for file in files for vector in json.loads(file.read_bytes())["vectors"]]


def needs(vector: Vector) -> str | None:
    """Say what a vector needs that this host does not do; None when it can run."""
    given, when, then = vector["given"], vector["when"], vector["then"]
    expected = then.get("steps", [])
    ops = {step["op"] for step in when}
    if "render" in ops:
        return "rendering"
    if "channels" in given or "implicit" in given or "channels" in then or ops & {"join", "leave"}:
        return "channels"
    if any(has_gate_data(step.get("input", {}).get("data")) for step in when if step["op"] != "parseAddress"):
        return "gates"
    if any(
        word in json.dumps(vector) for word in ('"voided": ["', '"voided": 1', '"gateEffects": ["', "$gate")
    ):
        return "gates"
    for index, step in enumerate(when):
        refused = index < len(expected) and expected[index] and not expected[index]["ok"]
        if step["op"] == "send" and step["input"].get("wake") == "request" and not refused:
            return "wakes"
    if any(word in json.dumps(then) for word in ('"limited"', '"downgraded": true', "$notice")):
        return "guardrails"
    return None


@dataclass
class ScriptedHost:
    """A host that answers from a vector's world and records the hooks it is called with."""

    grammar: Grammar
    given: dict[str, Any]
    system_address: str = SYSTEM
    calls: list[dict[str, str]] = field(default_factory=list)
    gate_types: Collection[str] = ("wake",)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        items = self.given.get("workItems", [])
        self.live = {f"task:{item['id']}": item.get("liveSession") for item in items}
        self.of: dict[str, str] = {}
        for item in items:
            for session in filter(None, (item.get("liveSession"), *item.get("sessions", ()))):
                self.of[session] = f"task:{item['id']}"
        self.auxiliary = set(self.given.get("auxSessions", ()))
        self.failing = set(self.given.get("failPush", ()))
        self.status = {agent["address"]: agent["status"] for agent in self.given.get("agents", ())}
        self.muted = {agent["address"] for agent in self.given.get("agents", ()) if agent.get("muted")}

    def live_session(self, work_item: str) -> str | None:
        return self.live.get(work_item)

    def is_live(self, session: str) -> bool:
        return session in self.auxiliary or session in self.live.values()

    def work_item(self, session: str) -> str | None:
        return self.of.get(session)

    def sessions(self, work_item: str) -> Collection[str]:
        return [session for session, item in self.of.items() if item == work_item]

    def agent_status(self, agent: str) -> AgentStatus | None:
        return self.status.get(agent)

    def is_muted(self, agent: str) -> bool:
        return agent in self.muted

    def owner(self, target: str) -> str | None:
        return self.given.get("owner")

    def implicit_members(self, channel: str) -> Collection[str]:
        members: list[str] = self.given.get("implicit", {}).get(channel, [])
        return members

    def external(self, address: str) -> External | None:
        return None

    def rule_wake(self, target: str, message: Message) -> WakeRuling:
        self.calls.append({"hook": "decide", "target": target, "message": message.id})
        ruling: WakeRuling = self.given.get("rulings", {}).get(target, "deny")
        return ruling

    def why_not_woken(self, target: str) -> str | None:
        return None

    def wake(self, target: str, message: Message) -> None:
        self.calls.append({"hook": "wake", "target": target, "message": message.id})
        result = self.given.get("wakeResults", {}).get(target, {"ok": True})
        if not result["ok"]:
            raise WakeError(result["reason"])

    def apply_effect(self, gate: Message, answer: Message) -> None:
        self.calls.append({"hook": "onAnswered", "message": gate.id, "answer": answer.id})

    def reaches(self, session: str) -> bool:
        return True

    def push(self, session: str, message: Message) -> None:
        self._session_hook("push", session, message)

    def notify(self, session: str, message: Message) -> None:
        self._session_hook("notify", session, message)

    def notify_human(self, human: str, message: Message) -> None:
        self.calls.append({"hook": "notifyHuman", "actor": human, "message": message.id})

    def published(self, message: Message) -> None:
        self.calls.append({"hook": "published", "message": message.id})

    def _session_hook(self, hook: str, session: str, message: Message) -> None:
        self.calls.append({"hook": hook, "session": session, "message": message.id})
        if session in self.failing:
            raise RuntimeError("scripted to fail")

    def change(self, change: dict[str, Any]) -> None:
        """Apply a `world` step's change; the clock's is the run's."""
        match change:
            case {"startSession": {"workItem": item, "session": session}}:
                self.live[f"task:{item}"] = session
                self.of[session] = f"task:{item}"
            case {"endSession": {"workItem": item}}:
                self.live[f"task:{item}"] = None
            case {"failPush": sessions}:
                self.failing = set(sessions)
            case {"agentStatus": {"address": address, "status": status}}:
                self.status[address] = status
            case _:
                raise NotImplementedError(f"a change of the world: {change}")


class Run:
    """One vector on one fresh host."""

    def __init__(self, vector: Vector, grammar: Grammar) -> None:
        self.vector = json.loads(json.dumps(vector).replace("$system", SYSTEM))
        given = self.vector["given"]
        self.host = ScriptedHost(grammar, given)
        self.now = milliseconds(given.get("clock", START))
        self.store = Store.open(":memory:", MIGRATIONS)
        self.engine = Engine(self.store, self.host, lambda: self.now, Ulids(os.urandom))
        self.made: dict[str, str] = {}
        self.seeded = self._seed(given.get("store", {}))
        self.outcomes: list[Outcome] = []

    def failures(self) -> list[str]:
        """Run the steps and return what the vector expected and did not get."""
        try:
            for number, step in enumerate(self.vector["when"], 1):
                self.outcomes.append(self._step(number, self._resolved(step)))
            return list(self._judge(self._resolved(self.vector["then"])))
        finally:
            self.store.close()

    # Steps

    def _seed(self, rows: dict[str, Any]) -> set[str]:
        with self.store.transaction("seed") as db:
            for row in rows.get("messages", ()):
                plain = {
                    "thread": row["id"],
                    "replyTo": None,
                    "refs": [],
                    "urgent": False,
                    "blocking": False,
                    "wake": "none",
                    "createdAt": timestamp(self.now),
                }
                message = message_from_json({**plain, **row})
                standing = Standing.ACCEPTED if row["kind"] == "answer" else None
                insert_message(db, replace(message, standing=standing))
            insert_deliveries(
                db,
                [
                    Delivery(
                        row["id"],
                        row["message"],
                        row["recipient"],
                        Via(row.get("via", "direct")),
                        State(row["state"]),
                        row["session"],
                        timestamp(self.now),
                    )
                    for row in rows.get("deliveries", ())
                ],
            )
        return {row["id"] for row in rows.get("messages", ())}

    def _resolved(self, value: Any) -> Any:
        """Replace `$sN` by the id of the message step N created."""
        if isinstance(value, str):
            return re.sub(r"\$s([0-9]+)", lambda found: self.made.get(found[0], found[0]), value)
        if isinstance(value, list):
            return [self._resolved(item) for item in value]
        if isinstance(value, dict):
            return {key: self._resolved(item) for key, item in value.items()}
        return value

    def _step(self, number: int, step: dict[str, Any]) -> Outcome:
        try:
            result = self._do(step)
        except DmpError as error:
            field = {} if error.field is None else {"field": error.field}
            return {"ok": False, "error": {"code": str(error.code), **field}}
        if isinstance(result, Sent):
            self.made[f"$s{number}"] = result.message.id
            replayed = {"replayed": True} if result.replayed else {}
            result = {"message": result.message.id, "downgraded": False, **replayed}
        elif step["op"] == "close":
            self.made[f"$s{number}"] = result["message"]
        return {"ok": True, "result": result}

    def _do(self, step: dict[str, Any]) -> Any:
        engine = self.engine
        principal = Sender(step["as"]["address"], step["as"]["canDecide"]) if "as" in step else Sender(SYSTEM)
        received = step.get("origin") == "received"
        match step["op"]:
            case "parseAddress":
                return parse_address(step["input"], None, self.host.grammar).to_json()
            case "validate":
                return self._validate(principal, SendInput.from_json(step["input"]), step, received)
            case "send":
                return engine.send(principal, SendInput.from_json(step["input"]), received=received)
            case "reply":
                return engine.reply(principal, step["message"], ReplyInput.from_json(step["input"]))
            case "close":
                return {"message": engine.close(step["question"], step["reason"]).id}
            case "markRead":
                deliveries = engine.deliveries(step["message"])
                named = [each.id for each in deliveries if each.recipient == step["recipient"]]
                return {"state": engine.mark_read(named[0] if named else "d-absent").state}
            case "inbox":
                states = [State(state) for state in step["states"]] if "states" in step else None
                return {"messages": [message.id for _, message in engine.inbox(step["recipient"], states)]}
            case "thread":
                return {"messages": [message.id for message in engine.thread(step["thread"])]}
            case "canRead":
                return {"readable": engine.can_read(principal, step["message"])}
            case "openBlocking":
                return {"messages": [message.id for message in engine.open_blocking()]}
            case "deliverHeld":
                started = engine.session_started(step["session"], f"task:{step['workItem']}")
                return {
                    "deliveries": [
                        {"message": each.message, "recipient": each.recipient, "state": each.state}
                        for each in started
                    ]
                }
            case "recover":
                done = engine.recover()
                return {"retried": done.retried, "reverted": done.reverted, "replayed": 0, "voided": 0}
            case "world":
                change = step["change"]
                if "advanceMs" in change:
                    self.now += change["advanceMs"]
                else:
                    self.host.change(change)
                return None
        raise NotImplementedError(step["op"])

    def _validate(self, sender: Sender, given: SendInput, step: dict[str, Any], received: bool) -> Any:
        target = self.engine.message(step["replyTarget"]) if "replyTarget" in step else None
        if given.reply_to is not None and target is None:
            raise not_found("replyTo", "no such message")
        validate(
            sender,
            given,
            target,
            grammar=self.host.grammar,
            system_address=SYSTEM,
            received=received,
        )
        return {}

    # Judgement

    def _judge(self, then: dict[str, Any]) -> Iterator[str]:
        messages = [self._message(message_id) for message_id in self._ids()]
        by_id = {message["id"]: message for message in messages}
        order = list(by_id)
        named = self._named(by_id)
        for number, (expected, outcome) in enumerate(
            zip(then.get("steps", ()), self.outcomes, strict=False), 1
        ):
            if expected is not None and not subset(expected, outcome):
                yield f"step {number}: expected {expected}, got {outcome}"
        listed = [row["id"] for row in then.get("messages", ())]
        for row in then.get("messages", ()):
            if not subset(row, by_id.get(row["id"])):
                yield f"message {row} is {by_id.get(row['id'])}"
        if [each for each in order if each in listed] != listed:
            yield f"messages come in the order {order}, not {listed}"
        others = [
            each
            for each in messages
            if each["id"] not in named and not (each["kind"] == "notice" and each["from"] == SYSTEM)
        ]
        if then.get("noOtherMessages") and others:
            yield f"other messages: {others}"
        yield from self._judge_deliveries(then)
        calls = [call for call in self.host.calls if call["message"] in named]
        if "calls" in then and calls != then["calls"]:
            yield f"calls: expected {then['calls']}, got {calls}"
        rest = iter(calls)
        if not all(call in rest for call in then.get("callsInclude", ())):
            yield f"calls: {then['callsInclude']} are not among {calls}"
        yield from self._judge_ids(order)

    def _judge_deliveries(self, then: dict[str, Any]) -> Iterator[str]:
        for message_id in then.get("noDeliveries", ()):
            if self.engine.deliveries(message_id):
                yield f"{message_id} has deliveries"
        rows = then.get("deliveries", ())
        for message_id in {row["message"] for row in rows}:
            found = [
                {
                    "message": each.message,
                    "recipient": each.recipient,
                    "via": each.via,
                    "state": each.state,
                    "session": each.session,
                }
                for each in self.engine.deliveries(message_id)
            ]
            wanted = [row for row in rows if row["message"] == message_id]
            if len(found) != len(wanted) or not all(
                any(subset(row, each) for each in found) for row in wanted
            ):
                yield f"deliveries: expected {wanted}, got {found}"

    def _judge_ids(self, order: list[str]) -> Iterator[str]:
        generated = [each for each in order if each not in self.seeded]
        if generated != sorted(generated):
            yield f"ids do not rise: {generated}"
        delivery_ids = [each.id for message_id in generated for each in self.engine.deliveries(message_id)]
        for each in itertools.chain(generated, delivery_ids):
            if not is_identifier(each) or not re.fullmatch("[md]-[0-9a-hjkmnp-tv-z]{26}", each):
                yield f"not an id of this host: {each}"
        if len(set(delivery_ids)) != len(delivery_ids):
            yield f"delivery ids repeat: {delivery_ids}"

    def _ids(self) -> list[str]:
        return [row[0] for row in self.store.db.execute("SELECT id FROM messages ORDER BY position")]

    def _message(self, message_id: str) -> dict[str, Any]:
        message = self.engine.message(message_id)
        assert message is not None
        return message.to_json()

    def _named(self, by_id: dict[str, Any]) -> set[str]:
        """Return the ids of seeded messages and of those the vector names anywhere."""
        text = json.dumps([self.vector["when"], self.vector["then"]])
        symbols = {symbol for symbol in self.made if re.search(re.escape(symbol) + r"(?![0-9])", text)}
        return self.seeded | {self.made[symbol] for symbol in symbols}


def subset(expected: Any, found: Any) -> bool:
    """Match as section 12.4.5 says: an object checks its own members, anything else compares as JSON."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            name in found and subset(value, found[name]) for name, value in expected.items()
        )
    return bool(json.dumps(expected, sort_keys=True) == json.dumps(found, sort_keys=True))
