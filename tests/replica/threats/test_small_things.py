"""M7, M8, K6: what a refusal gives away, what may pad a seal, and what a liar's histories cost."""

import pytest

from crypto.canonical import JsonValue
from crypto.roster.bodies import Role, SetRole
from replica.chain.forks import MAX_RIVALS
from replica.team import commands
from tests.replica.forge import Forger
from tests.replica.shared.acts import view_of
from tests.replica.world import World, exchange


def test_m7_a_refusal_says_the_same_whatever_the_message_is_that_one_takes_no_part_in(w: World) -> None:
    """That it is here at all shows, since F.5 accepts a reply to what is not; nothing else of it does."""
    ada, bob, cy = w.team("ada", "bob", "cy")
    texts = set()
    stranger = Forger(cy)
    for body, kind in (("short", "message"), ("a much longer secret of ada and bob", "question")):
        secret = ada.send("human:bob", body, kind=kind)
        exchange(ada, bob)
        stranger.publish(stranger.mail(bob, replyTo=secret.id, thread=secret.thread, body="let me in"))
        bob.sync()
        texts.add(bob.problems()[f"mail-drop:{cy.me}"].replace(secret.id, "ID"))
    assert len(texts) == 1
    assert not any("short" in text or "secret" in text for text in texts)


@pytest.mark.parametrize("pad", ["", "x", "x" * 1000])
def test_m8_a_payload_may_be_padded_since_receivers_only_parse_it(w: World, pad: str) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    forger = Forger(ada)
    payload: dict[str, JsonValue] = {**forger.payload(bob, body="yes"), "x-padding": pad}
    forger.publish(forger.op("mail", payload=payload, to=(bob,)))
    bob.sync()
    assert bob.bodies() == ["yes"]


def test_k6_a_liar_of_a_hundred_histories_costs_a_few_rows_and_the_smallest_hash_still_counts(
    w: World,
) -> None:
    ada, bob, mal = w.team("ada", "bob", "mal")
    commands.set_role(ada.pass_(), mal.me, Role.ADMIN)
    exchange(ada, bob, mal)
    made = []
    for number in range(100):
        liar = Forger(mal)
        liar.ms += number
        target = (ada, bob, mal)[number % 3]
        made.append(liar.op("roster", body=SetRole(target.me, Role.ADMIN).to_json()))
        liar.publish(made[-1])
        if number % 25 == 0:
            bob.sync()
    bob.sync()
    assert bob.count("rivals") <= 2 * MAX_RIVALS
    smallest = min(made, key=lambda op: op.hash)
    assert isinstance(smallest.body, dict)
    assert view_of(bob).is_admin(bob.me) is (smallest.body["replica"] == bob.me)
