"""Acts of mail: every kind of send, answers, closes, reading, and what must be refused."""

from collections.abc import Callable
from random import Random
from typing import Final, TypeVar

from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.addresses import SYSTEM_ADDRESS
from replica.host import agents, items, principals
from tests.simulation.machine import SimMachine
from tests.simulation.registry import NothingError, act
from tests.simulation.stage import FoundError, Stage

Found = TypeVar("Found")

CHANNELS: Final = ("eng", "ops/night")
_GATE: Final[dict[str, JsonValue]] = {
    "type": "tool-approval",
    "requestId": "q-1",
    "conversation": "c-1",
    "tool": "rm",
    "input": {},
    "floor": False,
}


def words(random: Random) -> str:
    """A body that hardly any other message has."""
    return f"words {random.randrange(10**9)}"


def people(stage: Stage, machine: SimMachine, random: Random) -> list[str]:
    """One to three addresses of people, the sender's own seldom among them."""
    handles = sorted({each.handle for each in stage.machines})
    some = random.sample(handles, min(len(handles), random.choice((1, 1, 2, 3))))
    others = [handle for handle in some if handle != machine.handle or random.random() < 0.2]
    return [f"human:{handle}" for handle in others or handles[:1]]


def send(machine: SimMachine, sender: Sender, to: list[str], body: str, **members: JsonValue) -> Message:
    given = SendInput.from_json({"to": [*to], "kind": "message", "body": body, **members})
    return machine.node.engine.send(sender, given).message


def person(machine: SimMachine) -> Sender:
    return Sender(machine.address, can_decide=True)


def in_turn(stage: Stage, machine: SimMachine) -> list[SimMachine]:
    """All machines, from this one on."""
    at = stage.standing.index(machine)
    return [*stage.standing[at:], *stage.standing[:at]]


def first_with(
    stage: Stage, machine: SimMachine, find: Callable[[SimMachine], list[Found]]
) -> tuple[SimMachine, list[Found]]:
    """The first machine, from this one on, that has what is looked for, and what it has. Raises NothingError."""
    for each in in_turn(stage, machine):
        found = find(each)
        if found:
            return each, found
    raise NothingError


def mail_of(machine: SimMachine, *, questions: bool) -> list[Message]:
    """What is in a person's mailbox: the questions that are open here, or all else."""
    return [
        each
        for each in inbox(machine)
        if each.takes_answer is questions
        and not (questions and (each.choices is None or machine.node.engine.answer_of(each.id)))
    ]


def session_of(machine: SimMachine) -> list[Sender]:
    """The live session of a machine, where it has one."""
    attached = machine.node.host.attached
    return [] if attached is None else [principals.sender(machine.node, attached.session)]


def mail_of_session(machine: SimMachine, *, questions: bool) -> list[tuple[Sender, Message]]:
    """What is in the mailbox of a machine's live session and its work item."""
    return [
        (sender, each)
        for sender in session_of(machine)
        for each in inbox(machine, *principals.mailboxes(machine.node, sender.address))
        if each.takes_answer is questions and (not questions or each.choices is not None)
    ]


def agents_of(machine: SimMachine) -> list[str]:
    """The approved agents of a machine's person that live there."""
    return [
        each.address
        for each in agents.every(machine.store.db)
        if each.status == "approved"
        and each.replica in (None, machine.me)
        and each.address.startswith(f"agent:{machine.handle}/")
    ]


def tasks(machine: SimMachine) -> list[str]:
    return [each.address for each in items.every(machine.store.db)]


def pick(random: Random, found: list[str]) -> str:
    if not found:
        raise NothingError
    return random.choice(found)


def inbox(machine: SimMachine, *addresses: str) -> list[Message]:
    """The mail of a mailbox; of the person's without any."""
    return [
        message
        for address in addresses or (machine.address,)
        for _, message in machine.node.engine.inbox(address)
    ]


@act("send direct", 4)
def _direct(stage: Stage, machine: SimMachine, random: Random) -> None:
    to = people(stage, machine, random)[:1]
    send(machine, person(machine), to, words(random))


@act("send to several", 3)
def _several(stage: Stage, machine: SimMachine, random: Random) -> None:
    to = {*people(stage, machine, random), *people(stage, machine, random), *people(stage, machine, random)}
    if len(to) < 2:
        raise NothingError
    send(machine, person(machine), sorted(to), words(random))


@act("send to a channel", 3)
def _channel(_: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, person(machine), [f"channel:{random.choice((*CHANNELS, CHANNELS[0]))}"], words(random))


@act("send to a work item", 4)
def _work_item(_: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, person(machine), [pick(random, tasks(machine))], words(random))


@act("send to an agent", 2)
def _agent(_: Stage, machine: SimMachine, random: Random) -> None:
    known = [each.address for each in agents.every(machine.store.db)]
    send(machine, person(machine), [pick(random, known)], words(random))


@act("send to a session", 3)
def _session(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, known = first_with(stage, machine, lambda each: each.node.host.sessions_here.every())
    send(machine, person(machine), [random.choice(known).address], words(random))


@act("send from a session", 5)
def _from_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, (sender,) = first_with(stage, machine, session_of)
    send(machine, sender, people(stage, machine, random), words(random))


@act("send from an agent", 2)
def _from_agent(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, known = first_with(stage, machine, agents_of)
    sender = principals.sender(machine.node, random.choice(known))
    send(machine, sender, people(stage, machine, random), words(random))


@act("send urgently", 2)
def _urgent(stage: Stage, machine: SimMachine, random: Random) -> None:
    to = [*people(stage, machine, random), *tasks(machine)[:1]]
    send(machine, person(machine), to, words(random), urgent=True)


@act("send to wake", 2)
def _wake(_: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, person(machine), [pick(random, tasks(machine))], words(random), wake="request")


@act("ask", 5)
def _ask(stage: Stage, machine: SimMachine, random: Random) -> None:
    to = people(stage, machine, random)
    send(machine, person(machine), to, words(random), kind="question", choices=["yes", "no"], blocking=True)


@act("ask from a session", 3)
def _ask_from_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, (sender,) = first_with(stage, machine, session_of)
    to = people(stage, machine, random)
    send(machine, sender, to, words(random), kind="question", choices=["yes", "no"])


@act("ask about a work item", 3)
def _ask_about(_: Stage, machine: SimMachine, random: Random) -> None:
    to = [pick(random, tasks(machine))]
    send(machine, person(machine), to, words(random), kind="question", choices=["yes", "no"])


@act("hand off", 1.5)
def _hand_off(stage: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, person(machine), people(stage, machine, random), words(random), kind="handoff")


@act("notify", 1)
def _notice(stage: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, person(machine), people(stage, machine, random), words(random), kind="notice")


@act("send twice under one key", 1.5)
def _twice(stage: Stage, machine: SimMachine, random: Random) -> None:
    to, body, key = people(stage, machine, random), words(random), f"k-{random.randrange(1000)}"
    first = send(machine, person(machine), to, body, idempotencyKey=key)
    again = send(machine, person(machine), to, body, idempotencyKey=key)
    if first.id != again.id:
        raise FoundError(f"{machine.me} sent {first.id} again as {again.id} under one idempotency key")


@act("answer", 7)
def _answer(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Answer a question of the mailbox, to its sender and perhaps to others."""
    machine, found = first_with(stage, machine, lambda each: mail_of(each, questions=True))
    question = random.choice(found)
    extra = people(stage, machine, random) if random.random() < 0.3 else []
    to = sorted({question.sender, *extra} - {machine.address}) or [question.sender]
    choice = random.choice(question.choices or ("yes",))
    send(machine, person(machine), to, words(random), kind="answer", replyTo=question.id, choice=choice)


@act("answer from a session", 3)
def _answer_from_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Let a session answer a question; where none waits for one, its person asks its work item first."""
    machine, (sender,) = first_with(stage, machine, session_of)
    found = mail_of_session(machine, questions=True)
    if not found:
        box = [principals.mailboxes(machine.node, sender.address)[-1]]
        send(machine, person(machine), box, words(random), kind="question", choices=["yes", "no"])
        found = mail_of_session(machine, questions=True)
    if not found:
        raise NothingError
    sender, question = random.choice(found)
    choice = random.choice(question.choices or ("yes",))
    machine.node.engine.reply(sender, question.id, ReplyInput(words(random), choice=choice))


@act("reply", 4)
def _reply(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, lambda each: mail_of(each, questions=False))
    machine.node.engine.reply(person(machine), random.choice(found).id, ReplyInput(words(random)))


@act("reply to a session", 6)
def _reply_to_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    def said(each: SimMachine) -> list[Message]:
        return [one for one in mail_of(each, questions=False) if one.sender.startswith("run:")]

    machine, found = first_with(stage, machine, said)
    machine.node.engine.reply(person(machine), random.choice(found).id, ReplyInput(words(random)))


@act("reply from a session", 6)
def _reply_from_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    machine, found = first_with(stage, machine, lambda each: mail_of_session(each, questions=False))
    sender, message = random.choice(found)
    machine.node.engine.reply(sender, message.id, ReplyInput(words(random)))


@act("close", 3)
def _close(stage: Stage, machine: SimMachine, random: Random) -> None:
    def open_here(each: SimMachine) -> list[str]:
        query = "SELECT id FROM messages WHERE kind IN ('question', 'handoff') AND origin IS NULL ORDER BY id"
        asked = [row[0] for row in each.store.db.execute(query).fetchall()]
        return [one for one in asked if each.node.engine.answer_of(one) is None]

    machine, found = first_with(stage, machine, open_here)
    machine.node.engine.close(random.choice(found), words(random))


@act("read", 3)
def _read(stage: Stage, machine: SimMachine, random: Random) -> None:
    def unread(each: SimMachine) -> list[str]:
        boxes = [each.address, *tasks(each)]
        return [one.id for address in boxes for one, _ in each.node.engine.inbox(address)]

    machine, found = first_with(stage, machine, unread)
    machine.node.engine.mark_read(random.choice(found))


# What stays on its machine


@act("raise a gate", 3)
def _gate(stage: Stage, machine: SimMachine, random: Random) -> None:
    system = Sender(SYSTEM_ADDRESS)
    raised = send(
        machine,
        system,
        [machine.address],
        words(random),
        kind="question",
        data=_GATE,
        blocking=True,
        choices=["approve", "approve-session", "deny"],
    )
    stage.left[raised.id] = machine.me


@act("answer a gate", 4)
def _answer_gate(stage: Stage, machine: SimMachine, random: Random) -> None:
    def gates(each: SimMachine) -> list[Message]:
        return [one for one in mail_of(each, questions=True) if isinstance(one.data, dict)]

    machine, found = first_with(stage, machine, gates)
    gate = random.choice(found)
    given = ReplyInput(words(random), choice=random.choice(gate.choices or ("approve",)))
    answer = machine.node.engine.reply(person(machine), gate.id, given).message
    stage.left[answer.id] = machine.me


@act("write to the overseer", 1)
def _overseer(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Start a thread that is local-only whoever joins it."""
    sent = send(machine, person(machine), [f"agent:{machine.handle}/overseer"], words(random))
    stage.left[sent.id] = machine.me


@act("send what is local-only", 3)
def _local_only(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Try to send a teammate what must stay, in each of the ways there are; it is refused where it would leave."""
    team = machine.node.team
    if team is None or not team.ready(machine.me):
        raise NothingError
    elsewhere = [
        member.handle
        for member in team.view.members.values()
        if member.handle != machine.handle and set(team.view.replicas_of(member.handle)) - {machine.me}
    ]
    to, members = [f"human:{pick(random, sorted(elsewhere))}"], dict[str, JsonValue]()
    gates = [each.id for each in inbox(machine) if isinstance(each.data, dict)]
    kept = [i for i, at in sorted(stage.left.items()) if at == machine.me and machine.node.engine.message(i)]
    replied = random.choice((gates, kept, []))
    if replied:
        members["replyTo"] = random.choice(replied)
    else:
        to.append(f"agent:{machine.handle}/overseer")
    sender = person(machine)
    try:
        sent_now = send(machine, sender, to, words(random), **members)
    except DmpError as error:
        if error.code not in (Code.FORBIDDEN, Code.UNAVAILABLE, Code.NOT_FOUND, Code.INVALID):
            raise FoundError(f"{machine.me} refused local-only mail as {error.code}") from error
        if error.code is not Code.FORBIDDEN:
            raise
        return
    raise FoundError(f"{machine.me} took {sent_now.id} for {to}, which is local-only")
