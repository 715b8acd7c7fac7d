"""How the page looks and what it says where things are not as usual: on a phone, in the dark, signed out, offline."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from replica.records import tokens as token_rows
from replica.records.commits import CommitPoint
from tests.replica.web.served import PHONE, Desk, Looks, Place, Window, desk
from tests.replica.world import Machine, exchange

SECTIONS = ("mail", "questions", "threads", "team", "transports", "problems", "chains", "write")
LONG = "x" * 64
"""As long as a handle may be."""


@pytest.fixture(scope="module")
def team(place: Place) -> list[Machine]:
    ada, bob = place.team("ada", f"b{LONG[1:]}")
    bob.send("human:ada", f"{'unbroken' * 200}\nand some words")
    bob.ask("human:ada", body="Is it as narrow as that? " * 12)
    bob.send("human:ada", "Lunch at noon?")
    exchange(bob, ada)
    return [ada, bob]


def settled(window: Window, section: str) -> None:
    """Go to a section, and wait for what it shows."""
    window.go(section)
    shown = {
        "mail": "a.row",
        "questions": ".card .answer",
        "threads": "a.row",
        "team": ".card.member",
        "transports": ".card.transport",
        "problems": ".empty",
        "chains": ".card.chain",
        "write": "form.compose",
    }[section]
    expect(window.page.locator(f"main {shown}").first).to_be_visible()


def test_nothing_is_wider_than_a_phone(served: Desk, team: list[Machine]) -> None:
    with served.window(PHONE) as phone:
        for section in SECTIONS:
            settled(phone, section)
            if section in ("mail", "questions", "team", "chains", "write"):
                phone.shoot(f"phone-{section}")
            assert phone.overflow() == 0, section
        settled(phone, "mail")
        phone.page.locator(".row-from .badge bdi").first.evaluate(
            "each => { each.textContent = 'bartholomew'; }"
        )
        badge = phone.page.locator(".row-from .badge", has_text="remote: bartholomew")
        assert badge.evaluate("each => each.scrollWidth <= each.clientWidth")  # nothing of it is cut
        assert badge.locator("bdi").evaluate("each => each.scrollWidth <= each.clientWidth")
        phone.page.locator("a.row", has_text="unbroken").click()
        expect(phone.page.locator("article.message")).to_be_visible()
        expect(phone.page.locator("a.row").first).to_be_hidden()
        phone.shoot("phone-thread")
        assert phone.overflow() == 0
        phone.page.get_by_role("link", name="Back").click()
        expect(phone.page.locator("a.row").first).to_be_visible()
        phone.go(f"chains/{team[1].me}/2")
        expect(phone.page.get_by_role("region", name="Op")).to_contain_text("Hash")
        phone.shoot("phone-op")
        assert phone.overflow() == 0
        menu = phone.page.get_by_role("button", name="Menu")
        expect(phone.page.get_by_role("link", name="Team")).to_be_hidden()
        menu.click()
        expect(phone.page.get_by_role("link", name="Team")).to_be_in_viewport()
        phone.shoot("phone-menu")
        phone.page.keyboard.press("Escape")
        expect(menu).to_be_focused()
        expect(phone.page.get_by_role("link", name="Team")).to_be_hidden()
        menu.click()
        phone.page.get_by_role("link", name="Team").click()
        expect(phone.page.get_by_role("heading", name="Orchard")).to_be_visible()
        expect(menu).to_have_attribute("aria-expanded", "false")


def luminance(colour: str) -> float:
    red, green, blue = (int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    return (0.3 * red + 0.6 * green + 0.1 * blue) / 255


COLOURS = """() => [
  getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.body).color,
]"""


def test_it_is_light_or_dark_as_its_reader_likes(window: Window) -> None:
    for dark in (False, True):
        window.page.emulate_media(color_scheme="dark" if dark else "light")
        ground, ink = map(luminance, window.page.evaluate(COLOURS))
        assert (ground < 0.2) is dark
        assert abs(ground - ink) > 0.6
    for section in ("questions", "chains"):
        settled(window, section)
        window.shoot(f"dark-{section}")
    settled(window, "mail")
    window.page.locator("a.row", has_text="Lunch").click()
    expect(window.page.locator("article.message")).to_be_visible()
    window.shoot("dark-mail")


MOMENTS = """async ([zone, at, now]) => {
  const { shortly } = await import(`/web/time.js?in=${zone}`);  // formats know their zone from the start
  return shortly(new Date(at), new Date(now));
}"""


@pytest.fixture(scope="module")
def traveller(served: Desk) -> Iterator[Window]:
    """A window that is taken from one zone to another."""
    with served.stranger(Looks(zone=None)) as window:
        window.signed_out = True
        window.page.goto(served.url)
        yield window


@pytest.mark.parametrize(
    ("zone", "at", "now", "shown"),
    [
        ("Europe/Berlin", "2026-03-10T22:59:50Z", "2026-03-10T23:00:05Z", "just now"),
        ("Europe/Berlin", "2026-03-10T22:30:00Z", "2026-03-10T23:10:00Z", "40 min ago"),
        ("Europe/Berlin", "2026-03-10T21:30:00Z", "2026-03-10T23:10:00Z", "yesterday, 22:30"),
        ("Europe/Berlin", "2026-03-10T23:05:00Z", "2026-03-11T22:55:00Z", "00:05"),
        ("America/New_York", "2026-03-10T23:05:00Z", "2026-03-11T22:55:00Z", "yesterday, 19:05"),
        ("Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T21:30:00Z", "yesterday, 13:00"),
        ("Europe/Berlin", "2026-10-24T21:30:00Z", "2026-10-25T22:30:00Z", "yesterday, 23:30"),
        ("Pacific/Kiritimati", "2026-06-01T09:59:00Z", "2026-06-01T11:00:00Z", "yesterday, 23:59"),
        ("Europe/Berlin", "2026-03-06T12:00:00Z", "2026-03-10T12:00:00Z", "Fri 13:00"),
        ("Europe/Berlin", "2026-01-02T12:00:00Z", "2026-03-10T12:00:00Z", "2 Jan"),
        ("Europe/Berlin", "2025-12-31T23:30:00Z", "2026-03-10T12:00:00Z", "1 Jan"),
        ("Europe/Berlin", "2025-12-31T22:30:00Z", "2026-03-10T12:00:00Z", "31 Dec 2025"),
        ("Europe/Berlin", "2026-03-12T12:00:00Z", "2026-03-10T12:00:00Z", "12 Mar 2026"),
    ],
)
def test_times_go_by_the_readers_calendar(
    traveller: Window, zone: str, at: str, now: str, shown: str
) -> None:
    session = traveller.page.context.new_cdp_session(traveller.page)
    session.send("Emulation.setTimezoneOverride", {"timezoneId": zone})
    said = str(traveller.page.evaluate(MOMENTS, [zone, at, now]))
    session.detach()
    assert said.replace(",", "") == shown.replace(",", "")


def test_a_time_shown_before_midnight_is_right_after_it_and_exact_under_the_pointer(
    window: Window, team: list[Machine]
) -> None:
    settled(window, "mail")
    window.page.locator("a.row", has_text="Lunch").click()
    shown = window.page.locator("article.message time")
    sent = team[1].node.engine.message(window.page.url.rpartition("/")[2])
    assert sent is not None
    expect(shown).to_have_attribute("datetime", sent.created_at)
    assert sent.created_at in str(shown.get_attribute("title"))
    window.page.evaluate(
        "async () => { const { again } = await import('/web/time.js');"
        " again(document, new Date(Date.now() + 86400000)); }"
    )
    expect(shown).to_contain_text("yesterday")


def test_who_is_not_signed_in_is_told_how_and_a_link_works_once(served: Desk) -> None:
    with served.stranger() as window:
        window.signed_out = True
        window.page.goto(served.url)
        expect(window.page.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(window.page.locator("main")).to_contain_text("dmp web")
        expect(window.page.locator("nav")).to_be_hidden()
        window.shoot("signed-out")
        field = window.page.get_by_label("Or paste the link")
        field.fill(f"{served.url}/node/open?code=dmp_code_none")
        window.page.get_by_role("button", name="Sign in").click()
        expect(window.page.get_by_role("alert")).to_contain_text("dmp web")
        link = f"{served.url}/node/open?code={served.code()}"
        field.fill(link)
        window.page.get_by_role("button", name="Sign in").click()
        expect(window.page.locator("#live")).to_have_text("Live")
        window.page.get_by_role("button", name="Sign out").click()
        expect(window.page.get_by_text("You are signed out.")).to_be_visible()
        window.page.reload()
        expect(window.page.get_by_role("heading", name="Sign in")).to_be_visible()
        window.page.get_by_label("Or paste the link").fill(link)
        window.page.get_by_role("button", name="Sign in").click()
        expect(window.page.get_by_role("alert")).to_contain_text("dmp web")


def test_who_is_signed_out_elsewhere_is_told_so(served: Desk, team: list[Machine]) -> None:
    node = team[0].node
    others = {each.id for each in token_rows.every(node.store.db)}
    with served.window() as window:
        settled(window, "mail")
        window.signed_out = True
        with node.store.transaction(CommitPoint.TOKEN) as db:
            (own,) = (each for each in token_rows.every(db) if each.id not in others)
            token_rows.remove(db, own.id)
        expect(window.page.get_by_text("This browser is signed in no more.")).to_be_visible()
        expect(window.page.locator("a.row")).to_have_count(0)


def test_the_first_mailbox_says_that_it_is_empty_and_a_machine_of_no_team_how_to_begin(
    place: Place, chromium: Browser
) -> None:
    with desk(place.machine("new"), chromium) as lone, lone.window() as window:
        expect(window.page.get_by_text("No mail yet.")).to_be_visible()
        window.shoot("empty-mail")
        for section, said in (
            ("questions", "Nobody waits for you."),
            ("threads", "No threads yet."),
            ("team", "dmp team found"),
            ("transports", "meets its team nowhere yet"),
            ("problems", "No problems."),
            ("chains", "Nothing was published here yet."),
        ):
            window.go(section)
            expect(window.page.locator("main")).to_contain_text(said)
