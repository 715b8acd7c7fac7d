"""What the listener does with a call, in the store: an envelope is verified and spent before anything else is done.

Reading needs no envelope: it changes nothing. A message needs one, also one that goes on with a task.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bindings.a2a import exchange, paging, sending
from bindings.a2a.allowed import Caller
from bindings.a2a.extensions import EXTENSIONS
from bindings.a2a.work import HandoffRequest, StatusRequest
from bindings.machine_envelope.acquiring import Acquisition
from bindings.machine_envelope.errors import Refusal, Wrong, refused, rejected
from bindings.machine_envelope.extension import URI
from bindings.machine_envelope.spending import spend
from bindings.machine_envelope.verifying import Policy, RejectedError, verify
from core.errors import DmpError
from crypto.canonical import JsonValue
from replica.node import Node

Object = Mapping[str, JsonValue]

_NO_PUSH: Final = (
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
)
_UNSUPPORTED: Final = ("SendStreamingMessage", "SubscribeToTask", "CancelTask")


@dataclass(frozen=True, slots=True)
class Receiver:
    """What this host requires. `skills` are those it takes here, `most` is how many spent envelopes it remembers."""

    policy: Policy
    acquisition: Acquisition
    skills: frozenset[str]
    most: int

    def call(
        self, node: Node, client: Caller, method: str, params: Object, active: frozenset[str]
    ) -> dict[str, JsonValue]:
        """Answer a call of a method of A2A 1.0. Raises Refusal.

        `active` are the extensions that the request's header names.
        """
        ours = active & {*EXTENSIONS}
        try:
            match method:
                case "SendMessage":
                    return dict(self._send(node, client, params, active))
                case "GetTask":
                    task, length = _task_id(params), paging.read_count(params, "historyLength")
                    return dict(exchange.get_task(node, client, task, length, ours))
                case "ListTasks":
                    return dict(exchange.list_tasks(node, client, dict(params), ours))
        except DmpError as error:
            raise refused(error) from None
        if method in _UNSUPPORTED:
            raise Refusal(
                Wrong.UNSUPPORTED_OPERATION,
                "this listener takes messages, and tells of their tasks when asked",
            )
        if method in _NO_PUSH:
            raise Refusal(Wrong.PUSH_NOTIFICATION_NOT_SUPPORTED, "this listener calls nobody back")
        if method == "GetExtendedAgentCard":
            raise Refusal(Wrong.EXTENDED_CARD_NOT_CONFIGURED, "there is no more to this agent's card")
        raise Refusal(Wrong.METHOD_NOT_FOUND, "there is no such method")

    def _send(self, node: Node, client: Caller, params: Object, active: frozenset[str]) -> Object:
        if URI not in active:
            raise Refusal(
                Wrong.EXTENSION_REQUIRED,
                "name the extension's URI in the header A2A-Extensions",
                acquisition=self.acquisition.describe(),
            )
        message = params.get("message")
        if not isinstance(message, dict):
            raise Refusal(Wrong.INVALID_PARAMS, "a request has a message, which is an object", "message")
        metadata, key = message.get("metadata"), self.policy.metadata_key
        if not isinstance(metadata, dict) or metadata.get(key) is None:
            raise Refusal(
                Wrong.ENVELOPE_REQUIRED,
                f"put an envelope for this message into its metadata, as {key}",
                acquisition=self.acquisition.describe(),
            )
        ours = active & {*EXTENSIONS}
        kept = {name: each for name, each in metadata.items() if name != key}
        bare: dict[str, JsonValue] = {**message, "metadata": kept}
        try:
            credential = verify(metadata[key], message, self.policy, node.wall())
            self._check_skill(sending.read_message(bare, ours))
            spend(node, credential, self.most)
        except RejectedError as error:
            raise rejected(error) from None
        return exchange.send_message(node, client, {**params, "message": bare}, ours)

    def _check_skill(self, incoming: sending.Incoming) -> None:
        """See that a message is for a skill that is taken here. Raises Refusal.

        One that goes on with a task, or asks how handoffs stand, is for none.
        """
        if incoming.task is not None or isinstance(incoming.work, StatusRequest):
            return
        skill = "handoff" if isinstance(incoming.work, HandoffRequest) else "ask"
        if skill not in self.skills:
            raise Refusal(
                Wrong.UNSUPPORTED_OPERATION,
                f"this listener takes messages for the skills {', '.join(sorted(self.skills))}; its host's other "
                "card tells what is taken without envelopes",
            )


def _task_id(params: Object) -> str:
    found = params.get("id")
    if not isinstance(found, str) or not found:
        raise Refusal(Wrong.INVALID_PARAMS, "a request for a task has the task's id", "id")
    return found
