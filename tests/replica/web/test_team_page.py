"""The team, its transports, what is wrong and the op chains, in the page of an admin."""

import json
import re
from random import Random

import pytest
from playwright.sync_api import expect

from replica.records import lanes, ops, problems, subjects
from replica.records.commits import CommitPoint
from replica.records.problems import Problem
from replica.team.roster import need_team
from tests.replica.web.served import Place, Window
from tests.replica.world import Machine, exchange


@pytest.fixture
def page(window: Window) -> Window:
    """Ada's window, with nothing of an earlier test in it."""
    window.go("team")
    expect(window.page.get_by_role("heading", name="Orchard")).to_be_visible()
    return window


def other(fingerprint: str) -> str:
    """A fingerprint that differs from one in its last character."""
    return fingerprint[:-1] + ("7" if fingerprint[-1] != "7" else "8")


def test_a_waiting_machine_is_admitted_once_its_owners_word_and_its_key_are_the_same(
    page: Window, place: Place, ada: Machine
) -> None:
    eve = place.at_the_door("eve")
    ada.sync()
    waiting = page.page.get_by_role("article", name="A machine of eve waits")
    own = eve.node.identity.fingerprint
    expect(waiting).to_contain_text(own)
    page.shoot("team")
    waiting.get_by_role("button", name="Compare and admit").click()
    dialog = page.page.get_by_role("dialog", name="Admit a machine")
    typed = dialog.get_by_label("The fingerprint, as its owner reads it")
    admit = dialog.get_by_role("button", name="Admit")
    expect(dialog).not_to_contain_text(own)
    dialog.get_by_label("I heard it from").check()
    expect(admit).to_be_disabled()
    typed.fill(other(own))
    expect(dialog.get_by_role("status")).to_contain_text("They differ")
    expect(admit).to_be_disabled()
    page.shoot("admit-differs")
    typed.fill(own.lower().replace("-", " "))
    expect(dialog.get_by_role("status")).to_contain_text("They match")
    dialog.get_by_label("I heard it from").uncheck()
    expect(admit).to_be_disabled()
    dialog.get_by_label("I heard it from").check()
    page.shoot("admit")
    admit.click()
    expect(dialog).to_have_count(0)
    expect(page.page.get_by_role("article", name="eve, eve-laptop")).to_be_visible()
    expect(waiting).to_have_count(0)
    eve.sync()
    assert need_team(eve.node.team).ready(eve.me)


def test_a_machine_is_revoked_with_a_reason_and_a_word_that_it_is_meant(
    page: Window, place: Place, ada: Machine
) -> None:
    mallory = place.machine("mallory")
    place.w.admit(ada, mallory)
    machine = page.page.get_by_role("article", name="mallory, mallory-laptop")
    machine.get_by_role("button", name="Revoke").click()
    dialog = page.page.get_by_role("dialog", name="Revoke a machine")
    revoke = dialog.get_by_role("button", name="Revoke")
    dialog.get_by_label("Why?").fill("laptop lost <b>")
    expect(revoke).to_be_disabled()
    dialog.get_by_label("I mean this machine").check()
    page.shoot("revoke")
    revoke.click()
    expect(dialog).to_have_count(0)
    expect(machine).to_have_count(0)
    expect(page.page.get_by_role("region", name="Revoked machines")).to_contain_text("laptop lost <b>")
    assert mallory.me in need_team(ada.node.team).view.revoked


def test_a_dialog_that_is_left_does_nothing_and_gives_the_focus_back(page: Window, bob: Machine) -> None:
    button = page.page.get_by_role("article", name="bob, bob-laptop").get_by_role("button", name="Revoke")
    button.click()
    page.page.get_by_label("Why?").fill("not at all")
    page.page.keyboard.press("Escape")
    expect(page.page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()


def test_what_the_host_refuses_is_said_in_the_dialog(
    page: Window, place: Place, ada: Machine, bob: Machine
) -> None:
    page.page.get_by_role("article", name="bob, bob-laptop").get_by_role("button", name="Revoke").click()
    dialog = page.page.get_by_role("dialog")
    dialog.get_by_label("Why?").fill("to see it fail")
    dialog.get_by_label("I mean this machine").check()
    place.folder.rename(place.folder.with_name("away"))
    try:
        dialog.get_by_role("button", name="Revoke").click()
        expect(dialog.get_by_role("alert")).to_be_visible()
        expect(dialog.get_by_role("button", name="Revoke")).to_be_enabled()
        page.shoot("revoke-refused")
    finally:
        place.folder.with_name("away").rename(place.folder)
    dialog.get_by_role("button", name="Cancel").click()
    page.refused(503)
    assert bob.me in need_team(ada.node.team).view.members


def test_transports_say_how_they_fare(page: Window, place: Place, ada: Machine) -> None:
    ada.sync()
    page.go("transports")
    one = page.page.get_by_role("article", name=f"Transport dir:{place.folder}")
    expect(one).to_contain_text("reached")
    expect(one).to_contain_text("main")
    page.shoot("transports")


def test_problems_come_with_their_remedies_and_are_put_away_once_seen(page: Window, ada: Machine) -> None:
    page.go("problems")
    expect(page.page.get_by_text("No problems.")).to_be_visible()
    page.shoot("problems-none")
    subject = subjects.QUOTA.of("bob-1")
    with ada.node.store.transaction(CommitPoint.PROBLEM) as db:
        problems.note(db, Problem(subject, "bob <script> publishes a lot", at=ada.node.now()))
        problems.note(db, Problem(subjects.CLOCK.of("bob-2"), "bob's clock is ahead", at=ada.node.now()))
    one = page.page.get_by_role("article", name=subject)
    expect(one).to_contain_text("bob <script> publishes a lot")
    expect(one).to_contain_text(f"To do: {subjects.QUOTA.remedy}.")
    page.shoot("problems")
    expect(page.page.get_by_role("article", name="clock:bob-2").get_by_role("button")).to_have_count(
        0
    )  # it can only be mended
    one.get_by_role("button", name="I have seen this").click()
    expect(one).to_have_count(0)
    page.page.get_by_label("Those too that somebody here has seen").check()
    expect(one).to_contain_text("seen")


def test_an_op_is_opened_from_its_mark_and_shows_what_is_sealed_in_it(
    page: Window, ada: Machine, bob: Machine
) -> None:
    bob.send("human:ada", "Sealed <i>words</i>")
    exchange(bob, ada, rounds=1)
    page.go("chains")
    drawing = page.page.get_by_role("application")
    expect(drawing).to_be_visible()
    expect(page.page.get_by_text(f"ops in {_chains(ada)} chains")).to_be_visible()
    last = bob.chain()[-1]
    card = page.page.get_by_role("article", name=f"Chain of {bob.me}")
    card.get_by_role("link", name=f"op {last.seq}").click()
    op = page.page.get_by_role("region", name="Op")
    expect(op).to_contain_text(last.hash)
    page.shoot("chains")
    drawing.focus()
    page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("Enter")
    expect(op.get_by_role("heading", name=f"Op {last.seq - 1}")).to_be_visible()
    seq = next(each.seq for each in bob.chain() if each.type == "mail")
    page.go(f"chains/{bob.me}/{seq}")
    expect(op.locator("article.message")).to_contain_text("Sealed <i>words</i>")
    expect(op.locator("article.message i")).to_have_count(0)


def test_many_long_chains_are_drawn_walked_and_opened(page: Window, ada: Machine, bob: Machine) -> None:
    bob.send("human:ada", "This is what a crowd says.")
    exchange(bob, ada, rounds=1)
    count = _crowd(ada, bob, replicas=20, each=REPLICA_OPS)
    page.go("mail")
    page.go("chains")
    drawing = page.page.get_by_role("application")
    expect(drawing).to_have_attribute("aria-label", re.compile(f"^{_chains(ada)} chains with {count} ops"))
    page.shoot("chains-large")
    drawing.focus()
    page.go("chains/crowd-00000003/5")  # wherever an earlier test left the cursor
    expect(page.page.get_by_role("heading", name="Op 5")).to_be_visible()
    drawing.focus()
    for key in ("End", "+", "ArrowDown", "Enter"):
        page.page.keyboard.press(key)
    op = page.page.get_by_role("region", name="Op")
    expect(op).to_contain_text("sealed to others; this machine cannot read it")
    expect(drawing).to_be_focused()
    assert page.overflow() == 0


REPLICA_OPS = 1_500


def _chains(machine: Machine) -> int:
    """How many chains there are: machines come and go with other tests, some or all of which ran elsewhere."""
    return len(lanes.extents(machine.node.store.db))


def _crowd(machine: Machine, like: Machine, *, replicas: int, each: int) -> int:
    """Put long chains into a store, of lines that say what a real one says; the number of ops there are then."""
    random, start = Random(5), machine.node.wall() - 400 * 86_400_000
    sealed = next(entry for entry in like.chain() if entry.type == "mail")
    _, line = next(each for each in ops.lines_of(machine.node.store.db, like.me) if each[0] == sealed.seq)
    shape, rows = json.loads(line), []
    shape["to"] = [like.me]
    for number in range(replicas):
        replica, ms = f"crowd-{number:08x}", start
        for seq in range(1, each + 1):
            ms += random.randrange(1_000, 40_000_000)
            said = {**shape, "replica": replica, "seq": seq, "hlc": f"{ms}.0000.{replica}"}
            rows.append((replica, seq, f"{seq:064x}", f"{seq - 1:064x}", "mail", json.dumps(said).encode()))
    with machine.node.store.transaction(CommitPoint.PROBLEM) as db:
        db.executemany(
            "INSERT INTO ops (replica, seq, hash, prev, type, line, settled) VALUES (?, ?, ?, ?, ?, ?, 1)",
            rows,
        )
    return machine.count("ops")
