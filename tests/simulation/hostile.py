"""Acts of hostile replicas: what they may do with their own keys.

Each adds the replica that broke the rules to `stage.dishonest`: nothing is promised to it, nor about what it says.
"""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from core.message import Message
from crypto.acks import Acks, sign_acks
from crypto.canonical import JsonValue, parse
from crypto.encoding import b64u
from crypto.op import Op, Unverified, read_entry, read_line
from crypto.roster.bodies import Action, Admit, CutPoint, Revoke, Role, SetHosts, SetRole
from replica.host import items
from replica.team import commands
from tests.replica.odd import bent
from tests.simulation.machine import SimMachine
from tests.simulation.mail import words
from tests.simulation.registry import NothingError, act
from tests.simulation.stage import Stage
from tests.simulation.team import admin, newcomer
from tests.simulation.team import team_of as ready_team
from tests.simulation.villain import (
    WEIGHT,
    Villain,
    fall,
    lane,
    some,
    villain,
)

_HOUR: Final = 3_600_000


def messages(machine: SimMachine) -> list[Message]:
    """What a machine holds."""
    rows = machine.store.db.execute("SELECT id FROM messages ORDER BY id").fetchall()
    found = (machine.node.engine.message(row[0]) for row in rows)
    return [each for each in found if each is not None]


def _held(by: Villain, fits: Callable[[Message], bool]) -> tuple[SimMachine, Message]:
    """A message that an honest machine holds, and that machine."""
    found = [
        (machine, message)
        for machine in by.others()
        if machine.me not in by.stage.dishonest
        for message in messages(machine)
        if fits(message)
    ]
    chosen: tuple[SimMachine, Message] = some(found, by.random)
    return chosen


@act("hostile: forge a sender", WEIGHT)
def _forge(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    to, other = by.victim(), random.choice(by.others())
    sender = random.choice(
        [
            other.address,
            f"agent:{other.handle}/claude",
            f"agent:{by.machine.handle}/unheard-of",
            "agent:dispatch",
            "run:r-0000aa",
            "task:t-0000aa",
            "human:nobody",
        ]
    )
    by.publish(by.mail(to, **{"from": sender, "kind": random.choice(("message", "notice"))}))


@act("hostile: steal a seal", 1.5 * WEIGHT)
def _steal(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Publish as one's own what somebody else sealed."""
    by = villain(stage, machine, random)
    entry = read_entry(some(_mails(by), random))
    assert isinstance(entry, Op)
    by.publish(by.op("mail", sealed=entry.sealed))


def _mails(by: Villain) -> list[bytes]:
    """The mail ops of others, as they were published."""
    return [
        raw
        for other in by.others()
        for raw in lane(by.side, other.me)
        if b'"type":"mail"' in raw and b'"pruned":' not in raw and isinstance(read_line(raw), Unverified)
    ]


@act("hostile: replay", 1.5 * WEIGHT)
def _replay(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Put what was said before into its own lane again, and into others'."""
    by = villain(stage, machine, random)
    whose = by.victim().me
    raws = lane(by.side, whose)
    again = random.sample(raws, min(len(raws), 8))
    by.side.put(whose, *again)
    by.side.put(by.me, *again)


@act("hostile: fork", WEIGHT)
def _fork(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Sign two ops with one seq, or two after one, and go on from either."""
    one, other = _two_hands(stage, machine, random)
    other.ms += 1 + random.randrange(500)
    other.seq += random.choice((0, 0, 1, 4))
    made = [*_words_of(one, random.randrange(1, 4)), *_words_of(other, random.randrange(1, 4))]
    random.shuffle(made)
    one.publish(*made)


@act("hostile: fork what was read long ago", 1.5 * WEIGHT)
def _old_fork(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    reads = [read_line(raw) for raw in lane(by.side, by.me)]
    own = [each for each in reads if isinstance(each, Unverified) and each.replica == by.me]
    after = some(own, random)
    by.seq, by.prev, by.ms = after.seq + 1, after.hash, after.hlc.ms + 1
    by.publish(*_words_of(by, random.randrange(1, 3)))


@act("hostile: equivocate", WEIGHT)
def _equivocate(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Show one op to half of the team and another of the same seq to the rest."""
    one, other = _two_hands(stage, machine, random)
    if stage.network.other is None:
        names = sorted(each.me for each in stage.machines)
        stage.network.split(frozenset(random.sample(names, len(names) // 2)))
    assert stage.network.other is not None
    other.ms += 1 + random.randrange(500)
    for hand, side in ((one, stage.network.main), (other, stage.network.other)):
        target = hand.victim()
        changes: list[Action] = [
            SetRole(target.me, Role.ADMIN),
            Revoke(target.me, CutPoint(0, "0" * 64), words(random)),
            SetHosts(target.me, (hand.machine.handle,)),
        ]
        change = hand.op("roster", body=random.choice(changes).to_json())
        hand.publish(change, *_words_of(hand, 1), side=side)


def _two_hands(stage: Stage, machine: SimMachine, random: Random) -> tuple[Villain, Villain]:
    one = villain(stage, machine, random)
    return one, Villain(stage, one.machine, random)


def _words_of(hand: Villain, count: int) -> list[Op]:
    """Ops that would change something if they counted."""
    made = []
    for _ in range(count):
        to = hand.victim()
        known = [each.address.partition(":")[2] for each in items.every(to.store.db)] or ["t-0000aa"]
        edit: dict[str, JsonValue] = {
            "task": hand.random.choice(known),
            "kind": "put",
            "fields": {"title": f"mine {hand.random.randrange(100)}"},
        }
        joined: dict[str, JsonValue] = {"channel": "eng", "member": hand.machine.address, "joined": True}
        kind = hand.random.randrange(4)
        if kind == 0:
            made.append(hand.mail(to))
        elif kind == 1:
            made.append(hand.op("channel", body=joined))
        elif kind == 2:
            made.append(hand.op("roster", body=SetRole(to.me, Role.ADMIN).to_json()))
        else:
            made.append(hand.op("task", body=edit))
    return made


@act("hostile: mutate a seal", WEIGHT)
def _mutate(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    op = by.mail(by.victim())
    assert isinstance(op.sealed, dict)
    sealed: dict[str, JsonValue] = {**op.sealed}
    part = random.choice(("ct", "nonce"))
    text = str(sealed[part])
    at = random.randrange(len(text) - 1)
    sealed[part] = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
    fresh = Villain(stage, by.machine, random)
    fresh.publish(fresh.op("mail", sealed=sealed))


@act("hostile: backdate", WEIGHT)
def _backdate(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Say things as of the earliest moment that the own chain allows."""
    by = villain(stage, machine, random)
    to = by.victim()
    asked = [each for each in messages(to) if each.takes_answer]
    by.ms = by.earliest
    made = _words_of(by, 1)
    if asked:
        question = random.choice(asked)
        early = f"{by.earliest - 10 * _HOUR}.0000.{by.me}"
        reply = {"replyTo": question.id, "thread": question.thread, "hlc": early}
        made.append(by.mail(to, kind="answer", choice="yes", **reply))
    by.publish(*made)


@act("hostile: date ahead", WEIGHT)
def _ahead(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    by.ms += random.choice((200_000, 400_000, _HOUR, 24 * _HOUR))
    by.publish(*_words_of(by, 2))


@act("hostile: settle what is another's", 2 * WEIGHT)
def _settle(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    to, question = _held(by, lambda each: each.takes_answer)
    answers = [each.id for each in messages(to) if each.reply_to == question.id] or ["m-no-answer"]
    entry: dict[str, JsonValue] = {"t": "settle", "question": question.id, "answer": random.choice(answers)}
    if random.random() < 0.4:
        entry |= {"answer": f"m-close-{random.randrange(99)}", "closed": words(random)}
    by.publish(by.state(to, entry))


@act("hostile: settle in two ways", WEIGHT)
def _settle_twice(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    to = by.victim()
    name = f"m-hostile-question-{random.randrange(10**6)}"
    question = by.mail(to, id=name, thread=name, kind="question", choices=["yes", "no"], blocking=True)
    settles: list[dict[str, JsonValue]] = [
        {"t": "settle", "question": name, "answer": f"m-close-{n}", "closed": f"for reason {n}"}
        for n in range(2)
    ]
    by.publish(question, *(by.state(to, settle) for settle in settles))


@act("hostile: answer what one has no part in", 2 * WEIGHT)
def _answer(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    to, question = _held(by, lambda each: bool(each.choices))
    assert question.choices is not None
    by.publish(
        by.mail(to, replyTo=question.id, thread=question.thread, kind="answer", choice=question.choices[0])
    )


@act("hostile: report falsely", 1.5 * WEIGHT)
def _report(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    to, message = _held(by, lambda _: True)
    recipient = random.choice(message.to)
    entries: list[dict[str, JsonValue]] = [
        {"t": "delivery", "message": message.id, "recipient": recipient, "state": state}
        for state in random.sample(("held", "pushed", "notified", "read", "answered"), 2)
        if not recipient.startswith("channel:")
    ]
    entries.append({"t": "refused", "message": message.id, "reason": words(random)})
    by.publish(by.state(to, *entries))


@act("hostile: use an id again", 1.5 * WEIGHT)
def _collide(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Say something else under the id of a message of somebody's, to others."""
    by = villain(stage, machine, random)
    message = some([each for each in messages(by.victim()) if each.id not in stage.left], random)
    by.publish(by.mail(by.victim(), id=message.id, thread=message.id, body="something else"))


@act("hostile: claim a session", 1.5 * WEIGHT)
def _claim(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    rows = by.victim().store.db.execute("SELECT DISTINCT run, task FROM run_claims ORDER BY run").fetchall()
    run, task = some(rows, random)
    name = None if task is None else task.partition(":")[2]
    body: dict[str, JsonValue] = {
        "kind": "run",
        "run": run.partition(":")[2],
        "task": name,
        "runKind": "execute",
    }
    by.publish(by.op("presence", body={**body, "live": random.random() < 0.7}))


@act("hostile: change the roster", WEIGHT)
def _roster(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Say of the roster what one may not, or what one may and should not."""
    by = villain(stage, machine, random)
    target = by.victim()
    changes: list[Action] = [
        Revoke(target.me, CutPoint(random.randrange(40), random.randbytes(32).hex()), words(random)),
        Revoke(target.me, commands.last_verified(target.node, target.me), words(random)),
        SetRole(by.me, Role.ADMIN),
        SetRole(target.me, Role.MEMBER, CutPoint(0, "0" * 64)),
        SetHosts(by.me, (target.handle, by.machine.handle)),
        Admit(f"eve-{random.randbytes(4).hex()}", "eve", Role.ADMIN, "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA"),
    ]
    by.publish(by.op("roster", body=random.choice(changes).to_json()))


@act("hostile: forward wrongly", 2 * WEIGHT)
def _forward(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Hand on what is not there, not one's own to hand on, or changed on the way."""
    by = villain(stage, machine, random)
    to, raw = by.victim(), some(_mails(by), random)
    if random.random() < 0.3:
        raw = raw.replace(read_entry(raw).replica.encode(), by.me.encode())
    inner = parse(raw.decode()).value
    payload: JsonValue = {
        "target": random.choice((to.address, "task:t-0000aa")),
        "key": b64u(random.randbytes(32)),
    }
    by.publish(by.op("mail", body={"forward": inner}, payload=payload, to=(to,)))


@act("hostile: publish as an observer", 4 * WEIGHT)
def _observer(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Let a machine in that only reads along, and have it say more."""
    observers = [
        each
        for each in stage.machines
        if each.node.team is not None
        and (held := each.node.team.view.members.get(each.me)) is not None
        and held.observer
    ]
    if not observers:
        by = admin(stage, machine, random)
        ready_team(by)
        new = newcomer(stage)
        code = commands.invite(stage.pass_of(by, random), new.handle, observer=True).encode()
        commands.join(stage.pass_of(new, random), code)
        stage.sync(by, random)
        stage.sync(new, random)
        observers = [new]
    spy = observers[0]
    if spy.node.team is None or spy.me not in spy.node.team.view.members:
        raise NothingError
    fall(stage, spy)
    hand = Villain(stage, spy, random)
    hand.publish(*_words_of(hand, 3))


@act("hostile: publish what is malformed", 2 * WEIGHT)
def _malformed(stage: Stage, machine: SimMachine, random: Random) -> None:
    """Ops of every type whose content is bent out of shape, or huge."""
    by = villain(stage, machine, random)
    to = by.victim()
    type_ = random.choice((*_BODIES, "mail", "state", "weather"))
    huge = "x" * random.choice((9_000, 70_000, 900_000))
    if type_ == "mail":
        made = by.op("mail", payload=_sealable(bent(by.payload(to), random)), to=(to,))
    elif type_ == "state":
        entry: dict[str, JsonValue] = {
            "t": "delivery",
            "message": "m-1",
            "recipient": to.address,
            "state": "read",
        }
        made = by.op("state", payload=_sealable(bent({"entries": [entry]}, random)), to=(to,))
    elif random.random() < 0.3:
        made = by.op(type_, body={"kind": "put", "fields": {"title": huge}, "text": huge[:1000]})
    else:
        made = by.op(type_, body=_sealable(bent(_BODIES.get(type_, {"rain": True}), random)))
    by.publish(made)


def _sealable(value: Any) -> Any:
    """Without what has no canonical form, which no op can hold."""
    if isinstance(value, str):
        return value.replace("\ud800", "?")
    if isinstance(value, list):
        return [_sealable(each) for each in value]
    if isinstance(value, dict):
        return {_sealable(name): _sealable(each) for name, each in value.items()}
    return value


_BODIES: Final[dict[str, JsonValue]] = {
    "roster": {"rv": 1, "action": "role", "replica": "ada-0000000a", "role": "admin"},
    "task": {"task": "t-0000aa", "kind": "put", "fields": {"title": "x", "labels": ["y"]}, "activity": ["z"]},
    "presence": {"kind": "run", "run": "r-0000aa", "task": "t-0000aa", "runKind": "execute", "live": True},
    "agent": {"address": "agent:ada/claude", "displayName": "x", "client": "cli", "status": "approved"},
    "channel": {"channel": "eng", "member": "human:ada", "joined": True},
    "memory": {
        "memory": "mem-01J00000000000000000000000",
        "kind": "put",
        "trust": "human",
        "fields": {"title": "t", "body": "b", "kind": "fact", "author": "human:ada", "status": "active"},
    },
    "doc": {
        "doc": "doc-01J00000000000000000000000",
        "kind": "put",
        "by": "human:ada",
        "meta": {"slug": "s", "title": "t", "status": "draft"},
    },
}


@act("hostile: acknowledge what was never said", WEIGHT)
def _acks(stage: Stage, machine: SimMachine, random: Random) -> None:
    by = villain(stage, machine, random)
    through = {by.victim().me: random.choice((1, 99, 10**9)), by.victim().me: random.choice((1, 50))}
    acks = sign_acks(Acks(by.me, through, "now"), by.machine.identity.secrets.signer)
    by.side._append(by.me, [], acks)
