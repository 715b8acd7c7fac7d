"""M1, M2: one id with two contents, and one question settled two ways, are recorded with both ops; senders are told."""

from crypto.canonical import JsonValue
from tests.replica.forge import Forger
from tests.replica.world import World, exchange


def test_m1_one_id_with_two_contents_is_recorded_with_both_ops_and_the_first_is_kept(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    liar = Forger(ada)
    one = liar.mail(bob, id="m-twice", thread="m-twice", body="buy")
    other = liar.mail(bob, id="m-twice", thread="m-twice", body="sell")
    liar.publish(one, other)
    bob.sync()
    assert bob.bodies() == ["buy"]
    text = bob.problems()["collision:m-twice"]
    assert one.hash in text
    assert other.hash in text
    bob.sync()
    assert bob.bodies() == ["buy"]


def test_m2_an_id_that_somebody_used_first_names_both_origins_and_its_sender_is_told_to_send_again(
    w: World,
) -> None:
    """Mal is a recipient of ada's, and says something of its own to bob under her message's id, before hers comes."""
    ada, bob, mal = w.team("ada", "bob", "mal")
    exchange(ada, bob, mal)
    w.remote.hidden[ada.me] = 10**6  # the remote lets nobody but mal see it yet
    sent = ada.send(("human:bob", "human:mal"), "the genuine one")
    ada.sync()
    (genuine,) = [entry for entry in ada.chain() if entry.type == "mail"]
    thief = Forger(mal)
    stolen = thief.mail(bob, id=sent.id, thread=sent.id, body="not what ada says")
    w.remote.hidden[ada.me] = genuine.seq
    thief.publish(stolen)
    bob.sync()
    w.remote.hidden.clear()
    exchange(bob, ada)
    assert bob.bodies() == ["not what ada says"]
    text = bob.problems()[f"collision:{sent.id}"]
    for said in (mal.me, stolen.hash, ada.me, genuine.hash):
        assert said in text
    (told,) = [body for body in ada.bodies() if sent.id in body]
    assert bob.me in told
    assert "sent again" in told
    again = ada.send("human:bob", "the genuine one")
    exchange(ada, bob)
    assert again.id != sent.id
    assert "the genuine one" in bob.bodies()


def test_m2_a_close_whose_id_somebody_used_first_is_told_and_leaves_the_question_as_it_is(w: World) -> None:
    ada, bob, mal = w.team("ada", "bob", "mal")
    question = ada.ask("human:bob", "human:mal")
    exchange(ada, bob, mal)
    w.remote.hidden[ada.me] = len(ada.chain())  # of what ada says next, the remote shows bob nothing yet
    close = ada.node.engine.close(question.id, "the session ended")
    ada.sync()
    thief = Forger(mal)
    thief.publish(thief.mail(bob, id=close.id, thread=close.id, body="something else"))
    bob.sync()
    w.remote.hidden.clear()
    exchange(bob, ada)
    text = bob.problems()[f"collision:{close.id}"]
    assert question.id in text
    assert mal.me in text
    assert bob.node.engine.answer_of(question.id) is None


def test_m1_a_question_settled_in_two_ways_is_recorded_with_both_ops(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    question = ada.ask("human:bob", "human:cy")
    exchange(ada, bob, cy)
    yes, no = bob.answer(question, "yes"), cy.answer(question, "no")
    liar = Forger(ada)

    def settle(answer: str) -> dict[str, JsonValue]:
        return {"t": "settle", "question": question.id, "answer": answer, "at": "2026-09-21T14:13:20.000Z"}

    one, other = liar.state(bob, settle(yes.id)), liar.state(bob, settle(no.id))
    liar.publish(one, other)
    bob.sync()
    text = bob.problems()[f"message:{question.id}"]
    assert one.hash in text
    assert other.hash in text
    liar.publish(liar.state(bob, settle(no.id)))
    bob.sync()
    assert bob.problems()[f"message:{question.id}"] == text


def test_m1_a_settlement_in_two_ways_before_its_question_is_recorded_too(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    liar = Forger(ada)
    made = [
        liar.state(
            bob, {"t": "settle", "question": "m-later", "answer": answer, "at": "2026-09-21T14:13:20.000Z"}
        )
        for answer in ("m-yes", "m-no")
    ]
    liar.publish(*made)
    bob.sync()
    for op in made:
        assert op.hash in bob.problems()["message:m-later"]
