"""What never leaves its host, and is never taken in from another (F.5)."""

from core.errors import forbidden
from core.gate_data import has_gate_data, is_marker
from core.message import Message
from replica.addresses import never_federates


def refuse_local_only(message: Message, replied: Message | None, root: Message | None, field: str) -> None:
    """Refuse a message that may not cross between replicas.

    `replied` is the stored message it replies to and `root` the stored first one of its thread. Raises DmpError
    `forbidden`: on `data` for gate data, else on `field`, which names the recipient elsewhere.
    """
    if has_gate_data(message.data) or (replied is not None and has_gate_data(replied.data)):
        raise forbidden("data", "gate data never leaves its host")
    if _stays(message):
        raise forbidden(
            field, "someone or something in this message is never reached through federation; write apart"
        )
    if root is not None and _stays(root):
        raise forbidden(field, "this thread began with a message that never leaves its host; start another")


def is_local_only(message: Message, replied: Message | None, root: Message | None) -> bool:
    """Whether a message is one that may not cross between replicas, whoever it goes to."""
    return (
        _stays(message)
        or (replied is not None and has_gate_data(replied.data))
        or (root is not None and _stays(root))
    )


def _stays(message: Message) -> bool:
    """Whether a message is local-only whatever it replies to."""
    return (
        has_gate_data(message.data)
        or is_marker(message.data)
        or any(never_federates(address) for address in (message.sender, *message.to))
    )
