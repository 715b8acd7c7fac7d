"""What revoking a client does to what it asks, and to mail for it (sections 8.8, A.2)."""

import pytest

from core.errors import DmpError
from replica.host import registering
from tests.bindings.a2a.exchange.desk import ACME, ADA, OTHER, Desk


def revoke(desk: Desk) -> None:
    registering.revoke(desk.node, ADA, ACME)


def test_a_revoked_clients_open_asks_close(desk: Desk) -> None:
    open_, answered, others = desk.ask(), desk.ask(), desk.as_(OTHER).ask()
    desk.answer(answered, "Yes.")

    revoke(desk)

    assert desk.state(open_) == "FAILED"
    assert desk.says(open_) == "the client that asked was revoked"
    assert desk.state(answered) == "COMPLETED"
    assert desk.as_(OTHER).state(others) == "WORKING"


def test_a_revoked_client_may_be_revoked_again(desk: Desk) -> None:
    task = desk.ask()
    revoke(desk)
    revoke(desk)

    assert desk.state(task) == "FAILED"


def test_mail_to_a_client_is_delivered_while_it_is_approved(desk: Desk) -> None:
    assert [each.recipient for each in desk.node.engine.deliveries(desk.say(ACME).id)] == [ACME]
    revoke(desk)

    with pytest.raises(DmpError) as refused:
        desk.say("human:ada", ACME)
    assert (refused.value.code, refused.value.field) == ("not-found", "to[1]")


def test_mail_to_an_unknown_client_is_refused_as_that_to_a_revoked_one(desk: Desk) -> None:
    revoke(desk)

    def refusal(address: str) -> DmpError:
        with pytest.raises(DmpError) as refused:
            desk.say(address)
        return refused.value

    revoked, unknown = refusal(ACME), refusal("agent:ada/a2a.nobody")
    assert (str(revoked), revoked.field) == (str(unknown), unknown.field)


def test_a_channel_skips_a_client_that_is_not_approved(desk: Desk) -> None:
    for member in (ACME, OTHER, "agent:ada/a2a.nobody"):
        desk.node.engine.join("ops", member)
    revoke(desk)

    sent = desk.say("channel:ops")

    assert [each.recipient for each in desk.node.engine.deliveries(sent.id)] == [OTHER]
