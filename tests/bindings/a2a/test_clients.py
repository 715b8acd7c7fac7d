"""Clients: who may ask, with which token, and whom (sections 8.1, 8.4)."""

import pytest

from bindings.a2a import clients
from core.errors import DmpError
from core.inputs import ReplyInput, Sender
from replica.api import tokens
from replica.host import registering
from replica.node import Node
from tests.bindings.a2a.exchange.desk import ADA, Desk

NAME = "agent:ada/a2a.newcomer"


@pytest.fixture
def node(desk: Desk) -> Node:
    return desk.node


def test_a_token_is_good_once_its_client_is_approved(node: Node) -> None:
    made = clients.add(node, NAME)
    assert (made.client.status, clients.find(node, made.secret)) == ("pending", None)

    clients.approve(node, ADA, NAME)

    found = clients.find(node, made.secret)
    assert found is not None
    assert (found.address, found.recipients, found.status) == (NAME, ("human:ada",), "approved")


def test_the_answer_to_its_registrations_gate_approves_a_client(node: Node) -> None:
    made = clients.add(node, NAME)
    node.engine.reply(ADA, made.gate.id, ReplyInput("", choice="approve"))

    assert clients.find(node, made.secret) is not None


def test_recipients_are_named_at_approval(node: Node) -> None:
    made = clients.add(node, NAME)
    clients.approve(node, ADA, NAME, ["bob", "human:ada", "bob"])

    found = clients.find(node, made.secret)
    assert found is not None
    assert found.recipients == ("human:bob", "human:ada")


@pytest.mark.parametrize("other", ["agent:ada/x", "task:t-1", "channel:ops", "a2a:acme", "No Name"])
def test_only_people_are_recipients_and_a_wrong_one_approves_nobody(node: Node, other: str) -> None:
    made = clients.add(node, NAME)
    with pytest.raises(DmpError) as refused:
        clients.approve(node, ADA, NAME, [other])

    assert (refused.value.code, refused.value.field) == ("invalid", "recipients[0]")
    assert clients.find(node, made.secret) is None


def test_who_does_not_decide_approves_nobody(node: Node) -> None:
    made = clients.add(node, NAME)
    with pytest.raises(DmpError) as refused:
        clients.approve(node, Sender("human:ada"), NAME)

    assert refused.value.code == "forbidden"
    assert clients.find(node, made.secret) is None


@pytest.mark.parametrize("by_the_client", [True, False])
def test_revoked_either_way_a_token_is_good_no_more(node: Node, by_the_client: bool) -> None:
    made = clients.add(node, NAME)
    clients.approve(node, ADA, NAME)
    (clients if by_the_client else registering).revoke(node, ADA, NAME)

    assert clients.find(node, made.secret) is None
    assert clients.need(node, NAME).status == "revoked"


def test_added_again_after_it_was_revoked_it_has_another_token_and_its_owner_alone(node: Node) -> None:
    before = clients.add(node, NAME)
    clients.approve(node, ADA, NAME, ["bob"])
    clients.revoke(node, ADA, NAME)
    after = clients.add(node, NAME)
    clients.approve(node, ADA, NAME)

    assert clients.find(node, before.secret) is None
    found = clients.find(node, after.secret)
    assert found is not None
    assert found.recipients == ("human:ada",)


def test_a_token_of_the_host_is_no_clients(node: Node) -> None:
    assert clients.find(node, tokens.make(node).secret) is None


def test_a_token_is_kept_nowhere(node: Node) -> None:
    made = clients.add(node, NAME)
    kept = "\n".join(node.store.db.iterdump())

    assert made.secret not in kept


@pytest.mark.parametrize("name", ["acme", "a2a.acme", "agent:ada/a2a.acme"])
def test_a_client_is_named_by_its_name_or_its_address(name: str) -> None:
    assert clients.address_of(name, "ada") == "agent:ada/a2a.acme"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Acme", "invalid"),
        ("", "invalid"),
        ("a/b", "invalid"),
        ("x" * 61, "invalid"),
        ("agent:ada/acme", "invalid"),
        ("human:ada", "invalid"),
        ("agent:bob/a2a.acme", "forbidden"),
    ],
)
def test_what_is_no_clients_name_of_ones_own_is_refused(name: str, code: str) -> None:
    with pytest.raises(DmpError) as refused:
        clients.address_of(name, "ada")

    assert (refused.value.code, refused.value.field) == (code, "client")
