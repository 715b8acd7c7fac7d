"""What holds at the desk behind the gateway, whatever ends it in the middle."""

import pytest

from bindings.a2a import clients, ending
from bindings.instance_routing import desk, records
from bindings.instance_routing.errors import Reason, Refused
from bindings.instance_routing.extension import URI
from bindings.instance_routing.request import Request, read
from core.engine import Engine
from core.errors import Code, DmpError
from core.inputs import Sender
from tests.bindings.instance_routing.gateway import ACME, Machine, a_request

OWNER = Sender("human:ada", can_decide=True)


def a_message(ada: Machine, text: str = "Hello") -> Request:
    return read(a_request(ada.scribe.id, text), {URI})


def test_a_host_that_ends_before_the_message_is_stored_takes_the_same_again_and_nothing_else(
    ada: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise DmpError(Code.UNAVAILABLE, "the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Engine, "send", fail)
        with pytest.raises(DmpError, match="disk"):
            desk.send(ada.node, ACME, a_message(ada))
    with pytest.raises(Refused) as changed:
        desk.send(ada.node, ACME, a_message(ada, "Changed"))
    assert changed.value.reason is Reason.IDEMPOTENCY_CONFLICT
    task = desk.send(ada.node, ACME, a_message(ada))
    assert [each.id for each in ada.inbox()] == [task.root.id]


def test_a_request_that_is_refused_leaves_its_id_free(ada: Machine) -> None:
    request = a_request("i-nobody")
    with pytest.raises(Refused):
        desk.send(ada.node, ACME, read(request, {URI}))
    assert desk.send(ada.node, ACME, a_message(ada)).root.body == "Hello"


def test_what_the_owner_declines_is_rejected_with_the_note(ada: Machine) -> None:
    task = desk.send(ada.node, ACME, a_message(ada))
    ending.decline(ada.node, OWNER, task.root.id, "Not today.")
    shown = desk.show(ada.node, ACME, task.id, {})
    status = shown["status"]
    assert isinstance(status, dict)
    assert status["state"] == "TASK_STATE_REJECTED"
    assert "Not today." in str(status["message"])


def test_what_a_revoked_client_asked_is_closed_and_sends_no_more(ada: Machine) -> None:
    task = desk.send(ada.node, ACME, a_message(ada))
    clients.revoke(ada.node, OWNER, ACME)
    assert ada.node.engine.answer_of(task.root.id) is not None
    with pytest.raises(DmpError) as caught:
        desk.send(ada.node, ACME, read(a_request(ada.scribe.id, id_="m2"), {URI}))
    assert caught.value.code is Code.FORBIDDEN


def test_a_half_that_was_kept_is_no_task(ada: Machine) -> None:
    request = a_message(ada)
    sent = records.Sent(ACME, "key", request.digest, request.id, ada.scribe.id, "", "none")
    with ada.node.store.transaction("test") as db:
        records.claim(db, sent)
    assert desk.listing(ada.node, ACME, {})["tasks"] == []
