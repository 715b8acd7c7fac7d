"""Acts of mail: every kind of send, answers, closes, reading, and what must be refused."""

from random import Random
from typing import Final

from core.errors import Code, DmpError
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message
from crypto.canonical import JsonValue
from replica.addresses import SYSTEM_ADDRESS
from replica.host import agents, items, principals
from tests.simulation.machine import SimMachine
from tests.simulation.registry import NothingError, act
from tests.simulation.stage import FoundError, Stage

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


def session_of(machine: SimMachine) -> Sender:
    """The live session of a machine."""
    attached = machine.node.host.attached
    if attached is None:
        raise NothingError
    return principals.sender(machine.node, attached.session)


def agent_of(machine: SimMachine, random: Random) -> Sender:
    """An approved agent of a machine's person that lives there."""
    known = [
        each.address
        for each in agents.every(machine.store.db)
        if each.status == "approved" and each.replica in (None, machine.me)
    ]
    if not known:
        raise NothingError
    return principals.sender(machine.node, random.choice(known))


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
    send(machine, person(machine), [f"channel:{random.choice(CHANNELS)}"], words(random))


@act("send to a work item", 4)
def _work_item(_: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, person(machine), [pick(random, tasks(machine))], words(random))


@act("send to an agent", 2)
def _agent(_: Stage, machine: SimMachine, random: Random) -> None:
    known = [each.address for each in agents.every(machine.store.db)]
    send(machine, person(machine), [pick(random, known)], words(random))


@act("send to a session", 1)
def _session(_: Stage, machine: SimMachine, random: Random) -> None:
    known = [each.address for each in machine.node.host.sessions_here.every()]
    send(machine, person(machine), [pick(random, known)], words(random))


@act("send from a session", 3)
def _from_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, session_of(machine), people(stage, machine, random), words(random))


@act("send from an agent", 2)
def _from_agent(stage: Stage, machine: SimMachine, random: Random) -> None:
    send(machine, agent_of(machine, random), people(stage, machine, random), words(random))


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


@act("ask from a session", 1.5)
def _ask_from_session(stage: Stage, machine: SimMachine, random: Random) -> None:
    to = people(stage, machine, random)
    send(machine, session_of(machine), to, words(random), kind="question", choices=["yes", "no"])


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
    questions = [message for message in inbox(machine) if message.takes_answer and message.choices]
    if not questions:
        raise NothingError
    question = random.choice(questions)
    extra = people(stage, machine, random) if random.random() < 0.3 else []
    to = sorted({question.sender, *extra} - {machine.address}) or [question.sender]
    choice = random.choice(question.choices or ("yes",))
    send(machine, person(machine), to, words(random), kind="answer", replyTo=question.id, choice=choice)


@act("answer from a session", 1)
def _answer_from_session(_: Stage, machine: SimMachine, random: Random) -> None:
    sender = session_of(machine)
    boxes = principals.mailboxes(machine.node, sender.address)
    questions = [each for each in inbox(machine, *boxes) if each.takes_answer and each.choices]
    if not questions:
        raise NothingError
    question = random.choice(questions)
    choice = random.choice(question.choices or ("yes",))
    machine.node.engine.reply(sender, question.id, ReplyInput(words(random), choice=choice))


@act("reply", 4)
def _reply(_: Stage, machine: SimMachine, random: Random) -> None:
    found = [message for message in inbox(machine) if not message.takes_answer]
    if not found:
        raise NothingError
    machine.node.engine.reply(person(machine), random.choice(found).id, ReplyInput(words(random)))


@act("reply to a session", 2)
def _reply_to_session(_: Stage, machine: SimMachine, random: Random) -> None:
    found = [each for each in inbox(machine) if each.sender.startswith("run:") and not each.takes_answer]
    if not found:
        raise NothingError
    machine.node.engine.reply(person(machine), random.choice(found).id, ReplyInput(words(random)))


@act("reply from a session", 1.5)
def _reply_from_session(_: Stage, machine: SimMachine, random: Random) -> None:
    sender = session_of(machine)
    boxes = principals.mailboxes(machine.node, sender.address)
    found = [message for message in inbox(machine, *boxes) if not message.takes_answer]
    if not found:
        raise NothingError
    machine.node.engine.reply(sender, random.choice(found).id, ReplyInput(words(random)))


@act("close", 2)
def _close(_: Stage, machine: SimMachine, random: Random) -> None:
    rows = machine.store.db.execute(
        "SELECT id FROM messages WHERE kind IN ('question', 'handoff') AND origin IS NULL ORDER BY id"
    )
    machine.node.engine.close(pick(random, [row[0] for row in rows]), words(random))


@act("read", 3)
def _read(_: Stage, machine: SimMachine, random: Random) -> None:
    boxes = [machine.address, *tasks(machine)]
    found = [each.id for address in boxes for each, _ in machine.node.engine.inbox(address)]
    machine.node.engine.mark_read(pick(random, found))


# What stays on its machine


@act("raise a gate", 2)
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


@act("answer a gate", 2)
def _answer_gate(stage: Stage, machine: SimMachine, random: Random) -> None:
    gates = [each for each in inbox(machine) if each.takes_answer and isinstance(each.data, dict)]
    if not gates:
        raise NothingError
    gate = random.choice(gates)
    choice = random.choice(gate.choices or ("approve",))
    given = ReplyInput(words(random), choice=choice)
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
    to = [f"human:{pick(random, sorted(elsewhere))}"]
    members: dict[str, JsonValue] = {}
    sender = person(machine)
    match random.randrange(3):
        case 0:
            to.append(f"agent:{machine.handle}/overseer")
        case 1:
            members["replyTo"] = pick(
                random, [each.id for each in inbox(machine) if isinstance(each.data, dict)]
            )
        case 2:
            sent = [i for i, at in sorted(stage.left.items()) if at == machine.me]
            mine = [i for i in sent if machine.node.engine.message(i) is not None]
            members["replyTo"] = pick(random, mine)
    try:
        sent_now = send(machine, sender, to, words(random), **members)
    except DmpError as error:
        if error.code not in (Code.FORBIDDEN, Code.UNAVAILABLE, Code.NOT_FOUND, Code.INVALID):
            raise FoundError(f"{machine.me} refused local-only mail as {error.code}") from error
        if error.code is not Code.FORBIDDEN:
            raise
        return
    raise FoundError(f"{machine.me} took {sent_now.id} for {to}, which is local-only")
