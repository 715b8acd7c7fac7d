"""What a home told of its deliveries before it left the team counts, whichever is heard of first."""

from replica.team import commands
from tests.replica.world import World, exchange


def test_a_report_from_below_its_publishers_cut_counts_after_the_cut_is_known(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    sent = cy.send("human:bob", "hello")
    cy.sync()
    bob.sync()  # which reports that it was delivered
    ada.sync()
    commands.revoke(ada.pass_(), bob.me, "lost")  # as of what ada read of bob's
    cy.sync()
    assert cy.row(sent).state == "notified"


def test_a_report_from_above_its_publishers_cut_counts_for_nothing(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    sent = cy.send("human:bob", "hello")
    cy.sync()
    ada.sync()
    lane = len(bob.lane())
    bob.sync()
    assert len(bob.lane()) > lane
    w.remote.hidden[bob.me] = lane + 1  # from ada, until she has cut bob off
    commands.revoke(ada.pass_(), bob.me, "lost")
    w.remote.hidden.clear()
    cy.sync()
    assert cy.row(sent).state == "forwarded"
