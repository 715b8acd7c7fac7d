"""What must hold of mail: where it belongs once, nowhere else, answered and reported as it was said.

The far side is the witness: every op of every lane that counts by the final roster is opened, and what it carries is
looked for where it belongs.
"""

from collections import Counter
from contextlib import suppress

from core.errors import DmpError
from core.gate_data import has_gate_data, is_close, is_marker
from core.message import Delivery, Message, Standing, State
from core.received import same_message
from core.store.messages import answers_to
from crypto.canonical import JsonValue
from crypto.op import Op
from crypto.sealing import SealError, unwrap_key
from replica.addresses import SYSTEM_ADDRESS, never_federates
from replica.mail.payloads import DeliveryReport, MailPayload, Refusal, parse_state
from replica.records import ops, remote
from replica.shared.homes import homes
from replica.shared.runs import has_run
from tests.simulation.ended import Ended, carried_message, mail, opened, opened_mail
from tests.simulation.machine import SimMachine
from tests.simulation.stage import FoundError

# Who reads


def nothing_local_left(ended: Ended) -> None:
    """No gate data and no local-only message ever left, whatever became of its op."""
    for op, payload in mail(ended):
        message = payload.message
        where = f"{message.id} in op {op.seq} of {op.replica}"
        addresses = (message.sender, *message.to)
        if has_gate_data(message.data) or is_marker(message.data) or any(map(never_federates, addresses)):
            raise FoundError(f"{where} is local-only, and left")
        if message.id in ended.stage.left or message.thread in ended.stage.left:
            raise FoundError(f"{where} is of a thread that never leaves {op.replica}")
    for replica, entries in ended.lanes.items():
        for entry in entries:
            body = entry.body if isinstance(entry, Op) and entry.type == "memory" else None
            if isinstance(body, dict) and str(body.get("memory")) in ended.stage.left:
                raise FoundError(f"op {entry.seq} of {replica} is of memory that never leaves it")
    for replica, held in ended.messages.items():
        for message_id, at in ended.stage.left.items():
            if message_id in held and at != replica:
                raise FoundError(f"{message_id} of {at} is local-only, and is at {replica}")


def only_readers_read(ended: Ended) -> None:
    """What is sealed is wrapped for those in `to` alone, opens for nobody else, and is held by nobody else."""
    readable: dict[str, set[str]] = {}
    for replica, entries in ended.lanes.items():
        for at, entry in enumerate(entries):
            if not isinstance(entry, Op) or entry.type not in ("mail", "state"):
                continue
            if sorted(_keys(entry)) != list(entry.to or ()):
                raise FoundError(f"op {entry.seq} of {replica} is not sealed to exactly those it names")
            outsiders = [each for each in ended.stage.machines if each.me not in (entry.to or ())]
            if outsiders and replica not in ended.stage.dishonest:
                _closed_to(entry, outsiders[at % len(outsiders)])
            if entry.type == "mail" and replica not in ended.stage.dishonest:
                message_id = carried_message(ended, entry)
                readable.setdefault(message_id, set()).update((replica, *(entry.to or ())))
    for replica, held in ended.messages.items():
        for message in held.values():
            if message.origin is None or is_close(message, SYSTEM_ADDRESS):
                continue
            if message.origin in ended.stage.dishonest:
                continue
            if replica not in readable.get(message.id, ()) and not _was_brought(
                ended.by_id[replica], message
            ):
                raise FoundError(f"{replica} holds {message.id}, which nobody sealed to it")


def _was_brought(machine: SimMachine, message: Message) -> bool:
    """Whether an op that a machine has, and the far side perhaps no more, brought a message to it."""
    place = remote.carrier_of(machine.store.db, message.id)
    entry = None if place is None else ops.entry_at(machine.store.db, *place)
    return entry is not None and machine.me in (entry.to or ())


def _keys(op: Op) -> dict[str, JsonValue]:
    assert isinstance(op.sealed, dict)
    keys = op.sealed["keys"]
    assert isinstance(keys, dict)
    return keys


def _closed_to(op: Op, outsider: SimMachine) -> None:
    assert isinstance(op.sealed, dict)
    keys = _keys(op)
    for wrapped_for in list(keys)[:1]:
        try:
            unwrap_key(
                {**op.sealed, "keys": {outsider.me: keys[wrapped_for]}},
                replica=op.replica,
                seq=op.seq,
                type=op.type,
                me=outsider.me,
                private=outsider.identity.secrets.seal_private,
            )
        except SealError:
            continue
        raise FoundError(f"{outsider.me} can open op {op.seq} of {op.replica}, which is not for it")


# What arrives, and what is said of it


def _refused(ended: Ended) -> set[tuple[str, str]]:
    """Each (message, replica) that a replica told the origin it refused."""
    found = set()
    for replica, entries in ended.lanes.items():
        if replica in ended.stage.dishonest:
            continue
        for entry in entries:
            if isinstance(entry, Op) and entry.type == "state":
                for said in parse_state(opened(ended, entry)):
                    if isinstance(said, Refusal):
                        found.add((said.message, replica))
    return found


def arrived_once(ended: Ended) -> None:
    """Each message whose op counts is at each of its readers, as it was said, and once with each recipient there."""
    refused = _refused(ended)
    members = {machine.me: machine for machine in ended.members}
    for op, payload in mail(ended):
        if not ended.counts(op):
            continue
        message = payload.message
        for reader in op.to or ():
            machine = members.get(reader)
            if machine is None:
                continue
            copy = ended.messages[reader].get(message.id)
            if copy is None:
                # The agents of a replica that left left with it, and nobody tells it that they are refused.
                left = op.replica not in ended.view.members and message.sender.startswith("agent:")
                if (message.id, reader) not in refused and not left and not _dropped(ended, machine, op):
                    raise FoundError(
                        f"{message.id} ({message.kind} from {message.sender}) in op {op.seq} of {op.replica} "
                        f"is lost on its way to {reader}"
                    )
                continue
            if copy.origin in ended.stage.dishonest:
                continue  # a message of one who used the id first is kept, and the genuine one's author told
            if copy.origin != op.replica or not same_message(copy, message):
                raise FoundError(f"{reader} has another {message.id} than {op.replica} sent")
            _delivered_once(ended, machine, op, payload)


def _dropped(ended: Ended, machine: SimMachine, op: Op) -> bool:
    """Whether a machine says that it dropped something of an op's publisher, which it tells its owner alone.

    A machine that only reads along publishes no refusals: it notes them.
    """
    subjects = {f"speaks-for:{op.replica}", f"op:{op.replica}:{op.seq}"}
    if ended.view.members[machine.me].observer:
        subjects.add(f"mail-drop:{op.replica}")
    rows = machine.store.db.execute("SELECT subject FROM problems").fetchall()
    return any(row[0] in subjects for row in rows)


def _delivered_once(ended: Ended, machine: SimMachine, op: Op, payload: MailPayload) -> None:
    message = payload.message
    here = Counter(each.recipient for each in machine.node.engine.deliveries(message.id))
    if any(count > 1 for count in here.values()):
        raise FoundError(f"{machine.me} delivers {message.id} more than once")
    for target in payload.targets:
        now = homes(machine.store.db, ended.view, target.recipient)
        if target.recipient.startswith(("human:", "agent:")):
            both = machine.me in target.homes and machine.me in now
            if both and not here[target.recipient] and not _was_no_home(ended, machine, target.recipient):
                raise FoundError(
                    f"{message.id} from {op.replica} is not with {target.recipient} at {machine.me}"
                )
            if here[target.recipient] and machine.me not in target.homes:
                raise FoundError(f"{machine.me} delivers {message.id} to {target.recipient}, unasked")


def _was_no_home(ended: Ended, machine: SimMachine, recipient: str) -> bool:
    """Whether a machine's right to deliver for somebody came or went during the run."""
    if recipient.startswith("agent:"):
        return True
    handle = recipient.partition(":")[2]
    return handle != machine.handle


def rows_match(ended: Ended) -> None:
    """The origin's row of a recipient shows the furthest state that a home has, or that all refused.

    But not of a home that once took the origin for revoked, and so told it nothing of what happened by then; nor does
    an origin that only reads along in the end settle what it asked.
    """
    members = {machine.me: machine for machine in ended.members}
    for origin in ended.members:
        if ended.view.members[origin.me].observer:
            continue
        for message in ended.messages[origin.me].values():
            if message.origin is not None:
                continue
            for row in remote.rows_of(origin.store.db, message.id):
                if not set(row.homes) <= members.keys():
                    continue
                _row_matches(ended, origin, row, members)


def _row_matches(
    ended: Ended, origin: SimMachine, row: remote.RemoteRow, members: dict[str, SimMachine]
) -> None:
    states = [
        delivery.state
        for home in row.homes
        if home == origin.me or row.message in ended.messages[home]
        for delivery in members[home].node.engine.deliveries(row.message)
        if delivery.recipient == row.recipient
        and home not in row.refused
        and (home, origin.me) not in ended.stage.untold
        and home in homes(origin.store.db, ended.view, row.recipient)
    ]
    if not states or row.recipient.startswith("task:"):
        return
    furthest = max(remote.RANK[state] for state in states)
    if remote.RANK[row.state] != furthest:
        raise FoundError(
            f"{origin.me} says that {row.message} to {row.recipient} is {row.state}; its homes, {states}"
        )


def questions_agree(ended: Ended) -> None:
    """Whoever holds a question and the answer its settler accepted has that answer, and no other."""
    members = {machine.me: machine for machine in ended.members}
    for machine in ended.members:
        for question in ended.messages[machine.me].values():
            settler = members.get(question.origin or machine.me)
            if question.takes_answer and settler is not None:
                _question_agrees(ended, machine, settler, question)


def _question_agrees(ended: Ended, machine: SimMachine, settler: SimMachine, question: Message) -> None:
    accepted = settler.node.engine.answer_of(question.id)
    here = machine.node.engine.answer_of(question.id)
    if accepted is None:
        if here is not None and here.standing is Standing.ACCEPTED:
            raise FoundError(f"{machine.me} believes an answer to {question.id} that its settler never saw")
        return
    named = machine.node.engine.message(accepted.id)
    if named is None or (named.origin in ended.stage.dishonest and named.reply_to != question.id):
        return  # it went to others, and the settlement waits for it here; or somebody used its id, and that is told
    if here is None or here.id != accepted.id or here.standing is not Standing.ACCEPTED:
        raise FoundError(f"{machine.me} has another answer to {question.id} than its settler {settler.me}")
    for other in answers_to(machine.store.db, question.id):
        if other.id != here.id and other.standing not in (Standing.SUPERSEDED, Standing.VOIDED):
            raise FoundError(f"{machine.me} has a second answer to {question.id}, which is {other.standing}")
    for delivery in machine.node.engine.deliveries(question.id):
        if delivery.state is not State.ANSWERED:
            raise FoundError(f"{question.id} has its answer, and is {delivery.state} at {machine.me}")


def nothing_said_is_unsaid(ended: Ended) -> None:
    """Whatever an honest member took for sending to others is on the far side."""
    carried: dict[str, set[str]] = {}
    for op, payload in (*mail(ended), *opened_mail(ended, ended.pruned)):
        carried.setdefault(payload.message.id, set()).add(op.replica)
    for machine in ended.members:
        team = machine.node.team
        assert team is not None
        for message in ended.messages[machine.me].values():
            if message.origin is not None or machine.me in carried.get(message.id, ()):
                continue
            rows = remote.rows_of(machine.store.db, message.id)
            # Of a home that lies anything may be said, even that it read what was never sent to it.
            honest = [row for row in rows if not set(row.homes) <= ended.stage.dishonest]
            lost = [row for row in honest if row.state != remote.REFUSED]
            if lost and not team.view.members[machine.me].observer:
                raise FoundError(f"{machine.me} took {message.id} for {lost[0].recipient}, and never sent it")


def work_item_mail_is_somewhere(ended: Ended) -> None:
    """Mail for a work item waits for its next session somewhere, or was given to one, or was refused (M3).

    A home that only reads along in the end is none: mail that went there alone is where mail of a leaver is. Where no
    home could be sealed to, the origin's own row says so, and its sender was told.
    """
    members = {each.me for each in ended.members if not ended.view.members[each.me].observer}
    refused, given = _refused(ended), _given_by_others(ended)
    for op, payload in mail(ended):
        if not ended.counts(op) or op.replica not in members:
            continue
        message_id = payload.message.id
        for target in payload.targets:
            homes_left = set(target.homes) & members
            if not target.recipient.startswith("task:") or homes_left != set(target.homes):
                continue
            if all((message_id, home) in refused for home in homes_left):
                continue
            origin = ended.by_id[op.replica].store.db
            row = remote.row_of(origin, message_id, target.recipient)
            if row is not None and row.state == remote.REFUSED:
                continue
            if any(
                has_run(origin, replica, target.recipient)
                for replica in given.get((message_id, target.recipient), ())
            ):
                continue
            # One whose admission a fork undid in the end gave it to a session while it was in the team.
            if not any(
                each.recipient == target.recipient and (machine in ended.members or _was_given_on(each))
                for machine in ended.by_id.values()
                for each in machine.node.engine.deliveries(message_id)
            ):
                raise FoundError(f"{message_id} of {op.replica} to {target.recipient} is nowhere")


def _given_by_others(ended: Ended) -> dict[tuple[str, str], set[str]]:
    """Who says of a message that it gave it to a recipient, of all that are no honest members of the team any more.

    Where they had a session of that work item, the homes that held it hold it no more (federation wire 9.E6).
    """
    members = {machine.me for machine in ended.members}
    found: dict[tuple[str, str], set[str]] = {}
    for replica in ended.lanes.keys() - members:
        for entry in ended.lanes[replica]:
            is_state = isinstance(entry, Op) and entry.type == "state"
            if not is_state or not ended.view.standing(replica, entry.seq):
                continue
            assert isinstance(entry, Op)
            with suppress(SealError, DmpError):  # who breaks the rules says also what nobody can read
                for said in parse_state(opened(ended, entry)):
                    if isinstance(said, DeliveryReport) and _was_given(said):
                        found.setdefault((said.message, said.recipient), set()).add(replica)
    return found


def _was_given_on(delivery: Delivery) -> bool:
    return remote.RANK[delivery.state] >= remote.RANK[State.PUSHED]


def _was_given(said: DeliveryReport) -> bool:
    return remote.RANK[said.state] >= remote.RANK["pushed"]
