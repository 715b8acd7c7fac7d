"""The steps of a vector on a host in its world, and what was observed (sections 12.4.3-12.4.7)."""

from collections.abc import Iterable
from typing import Protocol

from core.address import parse_address
from core.engine import Engine, Sent
from core.errors import DmpError, not_found
from core.fields import as_text
from core.host import Host
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message, State
from core.presentation import digest_text, push_text
from core.store import Store
from core.validate import validate
from crypto.canonical import JsonValue
from vectors.adapter import a2a
from vectors.adapter.clock import Clock
from vectors.adapter.given import Given
from vectors.adapter.members import Members, Unsupported
from vectors.adapter.symbols import Symbols


class SteppedHost(Host, Protocol):
    """A host that writes down the calls of its hooks, and whose world a vector changes."""

    calls: list[dict[str, str]]

    def change(self, value: JsonValue, /) -> None:
        """Apply the change of a `world` step; the clock's is the steps'."""


class Steps:
    """What the steps of a vector come to, one after the other."""

    def __init__(self, given: Given, store: Store, engine: Engine, host: SteppedHost, clock: Clock) -> None:
        self.store = store
        self.engine = engine
        self.host = host
        self.clock = clock
        self._symbols = Symbols(host.system_address, (message.id for message in given.rows.messages))
        self.outcomes: list[JsonValue] = []
        self._rendered: list[JsonValue] = []

    def step(self, number: int, step: Members) -> None:
        """Run a step. One that the host refuses fails only itself. Raises MalformedError and Unsupported."""
        resolved = Members(self._symbols.resolve(dict(step.as_mapping()), self.messages), step.place)
        try:
            result = self.do(number, resolved)
        except DmpError as error:
            refusal: dict[str, JsonValue] = {"code": str(error.code)}
            if error.field is not None:
                refusal["field"] = error.field
            self.outcomes.append({"ok": False, "error": refusal})
        else:
            self.outcomes.append({"ok": True} if result is None else {"ok": True, "result": result})

    def observation(self) -> dict[str, JsonValue]:
        """Return what section 12.4.7 lists, as it is now."""
        messages = self.messages()
        return {
            "steps": self.outcomes,
            "messages": [message.to_json() for message in messages],
            "deliveries": [
                {
                    "id": each.id,
                    "message": each.message,
                    "recipient": each.recipient,
                    "session": each.session,
                    "via": each.via,
                    "state": each.state,
                }
                for message in messages
                for each in self.engine.deliveries(message.id)
            ],
            "calls": [dict(call) for call in self.host.calls],
            "gateEffects": list(self.engine.effects_applied()),
            "voided": list(self.engine.voided()),
            "channels": [
                {"name": name, "members": list(self.engine.members(name))} for name in self.engine.channels()
            ],
            "render": self._rendered,
        }

    def messages(self) -> list[Message]:
        """Every message, in creation order."""
        ids = self.store.db.execute("SELECT id FROM messages ORDER BY position").fetchall()
        return [message for (each,) in ids if (message := self.engine.message(each)) is not None]

    def do(self, number: int, step: Members) -> JsonValue:
        """Run a step and return its result; None for one that has none. Raises what the host refuses."""
        engine = self.engine
        match step.text("op"):
            case "send":
                given = SendInput.from_json(step.raw("input"))
                return self._sent(number, engine.send(principal(step), given, received=_received(step)))
            case "reply":
                answer = ReplyInput.from_json(step.raw("input"))
                return self._sent(number, engine.reply(principal(step), step.text("message"), answer))
            case "close":
                close = engine.close(step.text("question"), step.text("reason"))
                self._symbols.created(number, close.id)
                return {"message": close.id}
            case "markRead":
                return {"state": engine.mark_read(self._delivery(step)).state}
            case "inbox":
                states = step.each_of("states", *State) if "states" in step else None
                return _ids(message for _, message in engine.inbox(step.text("recipient"), states))
            case "thread":
                return _ids(engine.thread(step.text("thread")))
            case "canRead":
                return {"readable": engine.can_read(principal(step), step.text("message"))}
            case "openBlocking":
                return _ids(engine.open_blocking())
            case "join":
                engine.join(step.text("channel"), step.text("member"))
                return {}
            case "leave":
                return {"removed": engine.leave(step.text("channel"), step.text("member"))}
            case "deliverHeld":
                return self._session_started(step)
            case "recover":
                done = engine.recover()
                return {
                    "retried": done.retried,
                    "reverted": done.reverted,
                    "replayed": done.replayed,
                    "voided": done.voided,
                }
            case "parseAddress":
                return parse_address(as_text(step.raw("input"), "input"), None, self.host.grammar).to_json()
            case "validate":
                return self._validate(step)
            case "render":
                return self._render(number, step)
            case "a2a.validate":
                return a2a.validate(step)
            case "a2a.project":
                return a2a.state(step, self.host.system_address)
            case "a2a.inbound":
                return self._sent(number, engine.send(*a2a.inbound(engine, step)))
            case "world":
                self._change(step.raw("change"))
                return None
            case op:
                raise Unsupported(f"this host has no step {op}")

    def _sent(self, number: int, sent: Sent) -> JsonValue:
        self._symbols.created(number, sent.message.id)
        result: dict[str, JsonValue] = {"message": sent.message.id, "downgraded": sent.downgraded}
        if sent.replayed:
            result["replayed"] = True
        return result

    def _delivery(self, step: Members) -> str:
        message, recipient = step.text("message"), step.text("recipient")
        for delivery in self.engine.deliveries(message):
            if delivery.recipient == recipient:
                return delivery.id
        raise not_found(None, "that message has no delivery to that recipient")

    def _session_started(self, step: Members) -> JsonValue:
        started = self.engine.session_started(step.text("session"), f"task:{step.text('workItem')}")
        return {
            "deliveries": [
                {"message": each.message, "recipient": each.recipient, "state": each.state}
                for each in started
            ]
        }

    def _validate(self, step: Members) -> JsonValue:
        """Run step 4 of section 4.5 alone, after the look-up of step 3."""
        given = SendInput.from_json(step.raw("input"))
        target = self.engine.message(step.text("replyTarget")) if "replyTarget" in step else None
        if given.reply_to is not None and target is None:
            raise not_found("replyTo", "the vector's reply target names no message")
        validate(
            principal(step),
            given,
            target,
            grammar=self.host.grammar,
            system_address=self.host.system_address,
            gate_types=self.host.gate_types,
            received=_received(step),
        )
        return {}

    def _render(self, number: int, step: Members) -> JsonValue:
        message = self.engine.message(step.text("message"))
        if message is None:
            raise not_found(None, "there is no such message to render")
        form = step.one_of("form", "push", "digest") if "form" in step else "push"
        render = push_text if form == "push" else digest_text
        external = step.flag("external") or self.host.external(message.sender) is not None
        text = render(message, external=external)
        self._rendered.append({"step": number, "text": text})
        return {"text": text}

    def _change(self, change: JsonValue) -> None:
        if isinstance(change, dict) and "advanceMs" in change:
            self.clock.advance(Members(change, "change").number("advanceMs"))
        else:
            self.host.change(change)


def principal(step: Members) -> Sender:
    """Who does a step: its member `as`. Raises MalformedError."""
    who = step.object("as")
    return Sender(who.text("address"), who.flag("canDecide"))


def _received(step: Members) -> bool:
    return "origin" in step and step.one_of("origin", "local", "received") == "received"


def _ids(messages: Iterable[Message]) -> JsonValue:
    return {"messages": [message.id for message in messages]}
