"""Mail to what a binding reaches: who asks the host, when, and what its answer does (sections 2.1, 8.8, 8.9)."""

from collections.abc import Iterator
from random import Random

import pytest

from core.address import parse_address
from core.engine import Engine
from core.errors import Code, DmpError, not_found
from core.host import External
from core.ids import Ulids
from core.inputs import Sender, SendInput
from core.message import Message, State, Via
from core.store import Store
from core.store.schema import MIGRATIONS
from crypto.canonical import JsonValue
from tests.core.quiet import QuietHost

PEER = "a2a:acme"
OTHER = "a2a:bolt"
CLIENT = "agent:ada/a2a.scout"
ADA = Sender("human:ada", can_decide=True)


class Gatekeeper(QuietHost):
    """A host that reaches peers and clients, and writes down whom it was asked about."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, bool]] = []
        self.skipped: set[str] = set()
        self.refused: set[str] = set()

    def external(self, address: str) -> External | None:
        return "peer" if address.startswith("a2a:") else "client" if "/a2a." in address else None

    def admit_external(self, recipient: str, message: Message, *, direct: bool) -> bool:
        self.asked.append((recipient, message.id, direct))
        if recipient in self.refused:
            raise not_found(None, "nobody is reached at that address")
        return recipient not in self.skipped


@pytest.fixture
def host() -> Gatekeeper:
    return Gatekeeper()


@pytest.fixture
def engine(host: Gatekeeper) -> Iterator[Engine]:
    store = Store.open(":memory:", MIGRATIONS)
    yield Engine(store, host, lambda: 1_790_000_000_000, Ulids(Random(1).randbytes))
    store.close()


def note(*to: str) -> SendInput:
    return SendInput(to, "message", "hello")


def stored(engine: Engine) -> int:
    found: tuple[int] = engine.store.db.execute("SELECT count(*) FROM messages").fetchone()
    return found[0]


def test_each_external_recipient_is_asked_about_once_and_held(host: Gatekeeper, engine: Engine) -> None:
    engine.join("ops", PEER)
    sent = engine.send(ADA, note("channel:ops", PEER, CLIENT, "human:lee"))
    assert host.asked == [(PEER, sent.message.id, True), (CLIENT, sent.message.id, True)]
    found = {each.recipient: (each.via, each.state) for each in sent.deliveries}
    assert found == {
        PEER: (Via.DIRECT, State.HELD),
        CLIENT: (Via.DIRECT, State.HELD),
        "human:lee": (Via.DIRECT, State.NOTIFIED),
    }


def test_a_direct_recipient_that_is_refused_fails_the_send_on_its_slot(
    host: Gatekeeper, engine: Engine
) -> None:
    host.refused.add(PEER)
    with pytest.raises(DmpError) as error:
        engine.send(ADA, note("human:lee", PEER))
    assert (error.value.code, error.value.field) == (Code.NOT_FOUND, "to[1]")
    assert stored(engine) == 0


@pytest.mark.parametrize("answer", ["skipped", "refused"])
def test_a_channels_recipient_that_is_not_admitted_is_skipped(
    host: Gatekeeper, engine: Engine, answer: str
) -> None:
    getattr(host, answer).add(PEER)
    for member in (PEER, OTHER, "human:lee"):
        engine.join("ops", member)
    sent = engine.send(ADA, note("channel:ops"))
    assert {each.recipient for each in sent.deliveries} == {OTHER, "human:lee"}
    assert [(recipient, direct) for recipient, _, direct in host.asked] == [(PEER, False), (OTHER, False)]


def test_gate_data_is_refused_before_the_host_is_asked(host: Gatekeeper, engine: Engine) -> None:
    wake: JsonValue = {"type": "wake", "target": "task:t-1", "message": "m-1"}
    gate = SendInput(
        (CLIENT,), "question", "May it be woken?", data=wake, blocking=True, choices=("approve", "deny")
    )
    with pytest.raises(DmpError) as error:
        engine.send(Sender(host.system_address), gate)
    assert (error.value.code, error.value.field) == (Code.FORBIDDEN, "data")
    assert host.asked == []


def test_nobody_sends_as_a_peer(engine: Engine) -> None:
    with pytest.raises(DmpError) as error:
        engine.send(Sender(PEER), note("human:lee"))
    assert (error.value.code, error.value.field) == (Code.FORBIDDEN, "from")


def test_a_peers_address_has_its_alias_of_at_most_40_characters() -> None:
    assert parse_address("a2a:" + "a" * 40, None).alias == "a" * 40
    assert parse_address(PEER, None).to_json() == {"kind": "a2a", "alias": "acme", "address": PEER}
