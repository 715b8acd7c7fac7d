"""Mail to channels whose members live elsewhere, and what the system says to its owner alone (section F.5)."""

from core.inputs import Sender, SendInput
from core.message import Via
from replica.addresses import SYSTEM_ADDRESS
from replica.records import remote
from replica.team import commands
from tests.replica.world import World, exchange


def test_a_channel_is_expanded_where_the_message_is_sent(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    for member in ("human:bob", "human:ada"):
        ada.node.engine.join("eng", member)
    message = ada.send("channel:eng", "standup")
    assert (ada.row(message).recipient, ada.row(message).via) == ("human:bob", Via.CHANNEL)
    exchange(ada, bob)
    ((delivery, arrived),) = bob.node.engine.inbox("human:bob")
    assert (delivery.via, arrived.to) == (Via.CHANNEL, ("channel:eng",))
    assert ada.inbox() == []  # the sender


def test_what_never_leaves_passes_over_the_members_of_a_channel_elsewhere(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    for member in ("human:bob", "human:guest"):
        ada.node.engine.join("eng", member)
    root = ada.send("agent:ada/overseer", "between us")
    message = ada.send("channel:eng", "he said", replyTo=root.id)
    assert [each.recipient for each in ada.node.engine.deliveries(message.id)] == ["human:guest"]
    assert remote.rows_of(ada.node.store.db, message.id) == []
    exchange(ada, bob)
    assert bob.count("messages") == 0


def test_what_the_system_tells_its_owner_and_nobody_else_stays_on_this_machine(w: World) -> None:
    (ada,) = w.team("ada")
    desk = w.machine("ada", "desk")
    commands.join(desk.pass_(), commands.invite(ada.pass_(), "ada").encode())
    exchange(ada, desk)
    told = SendInput(("human:ada",), "notice", "Paused.", data={"type": "x-breaker", "thread": "m-1"})
    (delivery,) = ada.node.engine.send(Sender(SYSTEM_ADDRESS), told).deliveries
    assert delivery.recipient == "human:ada"
    exchange(ada, desk)
    assert desk.count("messages") == 0
