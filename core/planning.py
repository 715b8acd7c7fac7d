"""From the `to` a sender wrote to the deliveries it means (sections 3.5-3.7, 4.6, 6.1)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from core.errors import DmpError, forbidden, invalid, not_found
from core.federation import Target
from core.gate_data import has_gate_data
from core.host import Host
from core.message import Message, State, Via


@dataclass(frozen=True, slots=True)
class Planned:
    """A delivery to be: the recipient, the route, and the state and session it starts with."""

    recipient: str
    via: Via
    state: State
    session: str | None = None


def rewrite(host: Host, to: tuple[str, ...], replied: Message) -> tuple[str, ...]:
    """Return what each entry of a reply's `to` stands for, in the sender's order (section 4.6).

    A session that has ended becomes its work item, where it sent the message replied to or was one it was
    sent to.
    """
    heard = (replied.sender, *replied.to)
    return tuple(successor(host, entry) if entry in heard else entry for entry in to)


def collapse(to: tuple[str, ...], rewritten: tuple[str, ...]) -> tuple[str, ...]:
    """Return the `to` of a reply as it is stored: entries that became equal are one (section 4.6)."""
    if rewritten == to:
        return to
    became = {new for old, new in zip(to, rewritten, strict=True) if new != old}
    kept: list[str] = []
    for entry in rewritten:
        if entry not in became or entry not in kept:
            kept.append(entry)
    return tuple(kept)


def resolve(
    host: Host, sender: str, rewritten: tuple[str, ...], recipients: Callable[[str], Iterable[str] | None]
) -> list[Target]:
    """Return the recipients of a send, once each, without those that never get one (sections 3.5, 3.7).

    `rewritten` has an entry for each the sender wrote; `recipients` returns those of a channel by its bare name,
    None where it is unknown. A target's field is the first of the sender's own `to[i]` that resolved to it,
    whatever its route. Raises DmpError `not-found` there for an unknown channel.
    """
    dropped = (sender, host.system_address, host.work_item(sender) if sender.startswith("run:") else None)
    targets: dict[str, Target] = {}
    for index, entry in enumerate(rewritten):
        field = f"to[{index}]"
        scheme, _, name = entry.partition(":")
        via = Via.CHANNEL if scheme == "channel" else Via.DIRECT
        found = recipients(name) if via is Via.CHANNEL else (entry,)
        if found is None:
            raise not_found(field, "no channel of that name has members; address people by name")
        for recipient in found:
            first = targets.get(recipient)
            if first is None:
                targets[recipient] = Target(recipient, via, field)
            elif via is Via.DIRECT:
                targets[recipient] = replace(first, via=via)
    return [target for target in targets.values() if target.recipient not in dropped]


def refuse_export(host: Host, message: Message, replied: Message | None, targets: Iterable[Target]) -> None:
    """Refuse a send that would take gate data out through a binding: to any recipient that is external (section 5.8).

    Raises DmpError `forbidden` on `data`.
    """
    if not has_gate_data(message.data) and (replied is None or not has_gate_data(replied.data)):
        return
    if any(host.external(target.recipient) is not None for target in targets):
        raise forbidden("data", "gate data never leaves this host; address local recipients alone")


def admitted(host: Host, message: Message, targets: Iterable[Target]) -> list[Target]:
    """Return the targets without those reached through a binding that the host skips (section 8.8).

    Raises DmpError as the host refuses one that was addressed directly, on the caller's own `to[i]`.
    """
    return [
        target
        for target in targets
        if host.external(target.recipient) is None or _is_admitted(host, message, target)
    ]


def _is_admitted(host: Host, message: Message, target: Target) -> bool:
    direct = target.via is Via.DIRECT
    try:
        return host.admit_external(target.recipient, message, direct=direct)
    except DmpError as refusal:
        if direct:
            raise DmpError(refusal.code, refusal.message, target.field) from None
        return False


def plan(
    host: Host, message: Message, target: Target, replied: Message | None, muted: bool
) -> Planned | None:
    """Return how a target's delivery starts: the table of section 6.1. None for one that gets no delivery.

    `replied` is the message replied to. Raises DmpError `invalid` on the caller's own `to[i]`.
    """
    recipient, via = target.recipient, target.via
    started = _start(host, recipient, via, muted)
    if started is not None or via is Via.CHANNEL:
        return started
    held = Planned(recipient, via, State.HELD)
    if replied is not None and recipient == replied.sender:
        return held
    human_wakes = message.wake == "request" and message.sender.startswith("human:")
    if human_wakes and host.work_item(recipient) is not None:
        return held
    raise invalid(target.field, "that session has ended; address its work item instead")


def plan_received(host: Host, recipient: str, via: Via, muted: bool) -> Planned | None:
    """Return how the delivery of a message from another replica starts here (section F.5, step 8).

    As a local send's would; but a session that has ended leaves its mail to its work item, or holds it where
    it stands for none (federation wire 9.D6). None for a target that gets no delivery.
    """
    started = _start(host, recipient, via, muted)
    if started is not None or via is Via.CHANNEL:
        return started
    work_item = host.work_item(recipient)
    return Planned(recipient, via, State.HELD) if work_item is None else _start(host, work_item, via, muted)


def plan_again(host: Host, recipient: str, via: Via) -> Planned:
    """Return where a delivery of a gate that is open again goes: as a new one would, or `held` (section 5.7)."""
    return _start(host, recipient, via, False) or Planned(recipient, via, State.HELD)


def _start(host: Host, recipient: str, via: Via, muted: bool) -> Planned | None:
    """Return the start of a delivery to anyone but a session that has ended, which gives None."""
    if muted:
        return Planned(recipient, via, State.READ)
    match recipient.partition(":")[0]:
        case "human":
            return Planned(recipient, via, State.NOTIFIED)
        case "task":
            session = host.live_session(recipient)
        case "run":
            if not host.is_live(recipient):
                return None
            session = recipient
        case _:
            session = None
    return Planned(recipient, via, State.HELD if session is None else State.SENDING, session)


def successor(host: Host, recipient: str) -> str:
    """Return the work item of a session that has ended, and any other recipient as it is."""
    if not recipient.startswith("run:") or host.is_live(recipient):
        return recipient
    return host.work_item(recipient) or recipient
