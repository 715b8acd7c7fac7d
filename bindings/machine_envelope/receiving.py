"""What the listener does with a call, in the store: an envelope is verified and spent before anything else is done.

Reading needs no envelope: it changes nothing. A message needs one, also one that goes on with a task.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bindings.a2a import exchange, paging
from bindings.a2a.allowed import Caller
from bindings.a2a.extensions import EXTENSIONS, WORK
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
        try:
            credential = verify(metadata[key], message, self.policy, node.wall())
            ours = active & {*EXTENSIONS}
            self._check_skill(message, ours)
            spend(node, credential, self.most)
        except RejectedError as error:
            raise rejected(error) from None
        kept = {name: each for name, each in metadata.items() if name != key}
        request: dict[str, JsonValue] = {**params, "message": {**message, "metadata": kept}}
        return exchange.send_message(node, client, request, ours)

    def _check_skill(self, message: Object, active: frozenset[str]) -> None:
        if message.get("taskId"):
            return  # it goes on with what was taken
        metadata = message.get("metadata")
        work = metadata.get(WORK) if isinstance(metadata, dict) and WORK in active else None
        skill = work.get("skill") if isinstance(work, dict) else "ask"
        if skill in ("ask", "handoff") and skill not in self.skills:
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
