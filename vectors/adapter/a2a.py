"""The steps of the A2A binding: what a client sends, and the state of its tasks (sections 8, 12.4.3)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from bindings.a2a.envelope import read_envelope
from bindings.a2a.extensions import ENVELOPE, WORK
from bindings.a2a.external import from_client
from bindings.a2a.inbound import answering, opening
from bindings.a2a.metadata import check_size
from bindings.a2a.projection import DELETED, Deleted, Facts, OpenGate, TaskState, WorkItem, project
from bindings.a2a.work import read_work
from core.engine import Engine
from core.errors import not_found
from core.fields import as_text
from core.gate_data import has_gate_data
from core.inputs import Sender, SendInput
from core.message import Message, State
from core.store.messages import message_by_id
from crypto.canonical import JsonValue
from vectors.adapter.given import stored_message
from vectors.adapter.members import Members, Unsupported

CLIENT: Final = "agent:owner/a2a.client"
OWNER: Final = "human:owner"
"""Who stands in the root of a task whose facts name nobody."""

_ROOT: Final[dict[str, JsonValue]] = {
    "id": "m-root",
    "from": CLIENT,
    "to": [OWNER],
    "kind": "question",
    "body": "Is it final?",
    "blocking": True,
}

_FACTS: Final = frozenset(
    (
        "skill",
        "root",
        "canceledAt",
        "declinedAt",
        "answer",
        "openQuestions",
        "openGates",
        "task",
        "dropped",
        "recipientTaskDropped",
        "rootDeliveries",
        "scope",
    )
)


def validate(step: Members) -> JsonValue:
    """Check an extension's metadata as the only metadata of one message."""
    raw = step.raw("raw")
    if step.one_of("extension", "envelope", "work") == "envelope":
        check_size({"metadata": {ENVELOPE: raw}})
        read_envelope(raw)
    else:
        check_size({"metadata": {WORK: raw}})
        read_work(raw)
    return {}


# What a client sends


@dataclass(frozen=True, slots=True)
class _OwnerAlone:
    """What a client of a vector's world may name: the owner, and what its own tasks show it (section 12.4.2)."""

    engine: Engine
    client: str
    owner: str

    @property
    def humans(self) -> Collection[str]:
        return (self.owner,)

    def work_items(self) -> Collection[str]:
        return ()

    def may_see(self, message_id: str) -> bool:
        message = self.engine.message(message_id)
        return message is not None and self._is_visible(message) and self._is_of_a_task(message)

    def _is_visible(self, message: Message) -> bool:
        delivered = self.engine.deliveries(message.id)
        return message.sender == self.client or any(each.recipient == self.client for each in delivered)

    def _is_of_a_task(self, message: Message | None) -> bool:
        """Whether a message's chain of replies reaches a question of the client's."""
        while message is not None:
            if message.sender == self.client and message.kind == "question":
                return True
            message = None if message.reply_to is None else self.engine.message(message.reply_to)
        return False


def inbound(engine: Engine, step: Members) -> tuple[Sender, SendInput]:
    """Who sends what, where a message arrives through the binding. Raises DmpError as the binding refuses it."""
    client, raw = step.text("as"), step.raw("envelope")
    check_size({"metadata": {ENVELOPE: raw}})
    envelope = read_envelope(raw)
    parts = step.raw("parts") if "parts" in step else []
    content = from_client(as_text(step.raw("body"), "body"), parts if isinstance(parts, list) else [parts])
    permitted = _OwnerAlone(engine, client, engine.host.owner(client) or "")
    if "answers" not in step:
        return Sender(client), opening(permitted, envelope, content)
    question = message_by_id(engine.store.db, step.text("answers"))
    if question is None:
        raise not_found("taskId", "no task asks that question")
    return Sender(client), answering(permitted, envelope, content, question)


# States


def state(step: Members, system_address: str) -> JsonValue:
    """The state of a task with these facts; each that is not named takes its default."""
    projected = project(_facts(step.object("facts")), system_address)
    found: dict[str, JsonValue] = {"state": projected.state.value}
    if projected.stage is not None:
        found["stage"] = projected.stage
    if projected.state is TaskState.AUTH_REQUIRED:
        found["gates"] = [gate.to_json() for gate in projected.gates]
    return found


def _facts(facts: Members) -> Facts:
    unknown = sorted(set(facts.names()) - _FACTS)
    if unknown:
        raise Unsupported(f"the facts have {', '.join(unknown)}, which this host does not know")
    named = {name for name in facts.names() if facts.raw(name) is not None}
    root = _message(facts.object("root").as_mapping() if "root" in named else {}, "facts.root", _ROOT)
    default: Mapping[str, JsonValue] = root.to_json()

    def messages(name: str) -> tuple[Message, ...]:
        return tuple(_message(each.as_mapping(), each.place, default) for each in facts.objects(name))

    scope, questions = messages("scope"), messages("openQuestions")
    answer = facts.object("answer").as_mapping() if "answer" in named else None
    return Facts(
        root,
        skill=facts.one_of("skill", "ask", "handoff") if "skill" in named else "ask",
        canceled_at=facts.text("canceledAt") if "canceledAt" in named else None,
        declined_at=facts.text("declinedAt") if "declinedAt" in named else None,
        answer=None if answer is None else _message(answer, "facts.answer", default),
        open_questions=questions,
        open_gates=tuple(
            OpenGate(each.text("id"), each.text("type"), each.text("openedAt"))
            for each in facts.objects("openGates")
        ),
        work_item=_work_item(facts) if "task" in named else None,
        dropped=facts.one_of("dropped", "client", "other") if "dropped" in named else None,
        recipient_dropped=facts.flag("recipientTaskDropped"),
        root_deliveries=tuple(facts.each_of("rootDeliveries", *State)),
        scope=scope,
        gated=frozenset(each.id for each in (root, *scope, *questions) if has_gate_data(each.data)),
    )


def _message(raw: Mapping[str, JsonValue], place: str, default: Mapping[str, JsonValue]) -> Message:
    """A message of which the facts say only what matters."""
    return stored_message(Members({**default, **raw}, place), 0)


def _work_item(facts: Members) -> WorkItem | Deleted:
    if facts.raw("task") == DELETED:
        return DELETED
    item = facts.object("task")
    return WorkItem(item.text("id"), item.text("title"), item.text("status"), item.flag("approved"))
