"""Whose mail a replica carries is told by the ops there are, in whatever order they come (federation wire 9.B)."""

import pytest

from crypto.canonical import JsonValue
from crypto.op import Op
from tests.replica.forge import Forger
from tests.replica.world import World, exchange

RUN = "run:r-0000aa"
HELPER = "agent:cy/helper"
CLAIM: JsonValue = {"kind": "run", "run": "r-0000aa", "task": None, "runKind": "x", "live": True}
REGISTERED: JsonValue = {"address": HELPER, "displayName": "helper", "client": "x", "status": "approved"}


@pytest.mark.parametrize(
    ("sender", "evidence", "rivals", "arrives"),
    [
        (RUN, ("presence", CLAIM), None, True),
        (RUN, None, ("presence", CLAIM), False),
        (RUN, None, None, False),
        (HELPER, ("agent", REGISTERED), None, True),
        (HELPER, None, None, False),
        (HELPER, None, ("agent", REGISTERED), False),
    ],
    ids=["own session", "anothers", "nobodys", "own agent", "unregistered", "registered by who may not"],
)
@pytest.mark.parametrize("one_pull", [True, False], ids=["one pull", "one by one"])
@pytest.mark.parametrize("mail_first", [True, False], ids=["mail first", "mail last"])
def test_mail_of_a_program_arrives_exactly_where_its_publisher_is_known_to_own_it(
    w: World,
    sender: str,
    evidence: tuple[str, JsonValue] | None,
    rivals: tuple[str, JsonValue] | None,
    arrives: bool,
    one_pull: bool,
    mail_first: bool,
) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy, rounds=2)
    forger, rival = Forger(cy), Forger(bob)

    def known() -> list[tuple[Forger, Op]]:
        return [] if evidence is None else [(forger, forger.op(evidence[0], body=evidence[1]))]

    def mail() -> list[tuple[Forger, Op]]:
        return [(forger, forger.mail(ada, **{"from": sender}))]

    said = [*mail(), *known()] if mail_first else [*known(), *mail()]
    others = [] if rivals is None else [(rival, rival.op(rivals[0], body=rivals[1]))]
    for who, op in [*said, *others] if mail_first else [*others, *said]:
        who.publish(op)
        if not one_pull:
            ada.sync()
    ada.sync()
    assert (ada.bodies() == ["forged"]) is arrives
