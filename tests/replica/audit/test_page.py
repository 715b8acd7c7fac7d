"""The report in a real browser: what others wrote stays text, marks open ops, and the drawing keeps up.

Pictures of it are kept in `screenshots/`, for people to look at.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from crypto.clock import Reading
from crypto.op import ABSENT, ZERO_HASH, Unverified, to_line
from crypto.roster.bodies import Admit, Role
from crypto.walk import STUB
from replica.audit.drawing import Drawing
from replica.audit.engine import report_on
from replica.audit.from_file import open_file
from replica.audit.html import page as page_of
from replica.audit.marks import Marks
from replica.audit.reading import read_source
from replica.audit.report import ReplicaReport, Report, Status, Unlisted
from replica.audit.scratch import Scratch
from tests.replica.audit.orchard import ADA, BOB, CY, EVE, NOW_MS, Member, Orchard

CHROMIUM = Path("/usr/bin/chromium")
SHOTS = Path(__file__).parents[3] / "screenshots"
EVIL = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 1'>\u202e"

pytestmark = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="there is no /usr/bin/chromium (Debian: apt-get install chromium)"
)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@dataclass
class Shown:
    """A report, open in a browser, with everything it said and asked for."""

    page: Page
    wrong: list[str] = field(default_factory=list)

    def lanes(self, script: str) -> Any:
        return self.page.evaluate(f"lanes => {script}", self.page.evaluate_handle("window.lanes"))

    def wait(self, script: str) -> None:
        self.page.wait_for_function(script)

    def opened(self) -> str:
        return self.page.locator("#op").inner_text()

    def said(self) -> str:
        return self.page.locator(".lanes-live").inner_text()

    def shoot(self, name: str) -> None:
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SHOTS / f"audit-{name}.png", full_page=True)


Show = Any


@pytest.fixture
def show(chromium: Browser, tmp_path: Path) -> Iterator[Show]:
    """Open a report by its file, as a double click does. Nothing may go wrong on it, and nothing be fetched."""
    with ExitStack() as stack:
        found: list[Shown] = []

        def show_(text: str, **settings: Any) -> Shown:
            file = tmp_path / "report.html"
            file.write_text(text, encoding="utf-8")
            context = stack.enter_context(chromium.new_context(**{"timezone_id": "UTC", **settings}))
            shown = Shown(stack.enter_context(context.new_page()))
            shown.page.on("console", lambda message: shown.wrong.append(message.text))
            shown.page.on("pageerror", lambda error: shown.wrong.append(str(error)))
            shown.page.on(
                "request",
                lambda asked: shown.wrong.append(asked.url) if asked.url != file.as_uri() else None,
            )
            shown.page.goto(file.as_uri())
            shown.wait("window.lanes && window.lanes.frames > 0")
            found.append(shown)
            return shown

        yield show_
        for each in found:
            assert each.wrong == []
            assert each.page.evaluate("window.owned") is None


def report_of(folder: Path, lines: list[bytes]) -> str:
    """The page of an audit of these lines."""
    path = folder / "lines.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    with Scratch() as scratch, open_file(path, scratch) as source:
        drawing = Drawing()
        report = report_on(read_source(source, scratch, NOW_MS, keep_marks=True), None, drawing)
    return page_of(report, drawing, NOW_MS)


def troubled() -> list[bytes]:
    """A team with a fork, a halt, a revoked member, stubs and a stranger, whose founder means no good."""
    founder = Member(ADA, 1).announce(device=EVIL.replace("\u202e", ""))
    bob, cy, dee = Member(BOB, 2).announce(), Member(CY, 3).announce(), Member("dee-0000000d", 4).announce()
    founder.found(EVIL)
    for each in (bob, cy, dee):
        founder.roster(Admit(each.replica, EVIL, Role.MEMBER, each.key.fingerprint))
    bob.tasks(4)
    rival = bob.rival(bob.ops[1], {"rival": True})
    cy.tasks(3)
    founder.revoke(cy)
    cy.tasks(2)
    mail = dee.mail()
    dee.ops.append(dee.publisher.sign(dee.head, body={}, hlc=dee.ops[0].hlc))
    lines = [
        *founder.lines,
        *bob.lines,
        to_line(rival),
        *cy.lines,
        *dee.lines,
        *Member(EVE, 5).announce().lines,
    ]
    return [line for line in lines if line != to_line(mail)] + [to_line(mail.stub())]


def test_what_others_wrote_stays_text_and_every_fault_is_shown(show: Show, tmp_path: Path) -> None:
    shown = show(report_of(tmp_path, troubled()))
    assert EVIL[:-1] in shown.page.title()
    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("body > script").count() == 2
    text = shown.page.locator("body").inner_text()
    assert EVIL[:-1] in text
    assert "\u202e" not in text
    assert f"{BOB} forks at seq 3" in text
    assert "dee-0000000d halts at seq 3" in text
    assert f"{CY}: 2 ops after its cut at seq 4" in text
    proof = shown.page.locator("details pre").text_content()
    assert json.loads(proof)["forkProof"] == 1
    assert shown.page.locator("section.fault").count() == 2
    shown.page.locator(".lanes-table summary").click()
    expect(shown.page.locator(".lanes-table tbody tr").nth(3)).to_be_visible()
    shown.shoot("faults")


def test_times_in_its_tables_are_the_readers_and_exact_under_the_pointer(show: Show, tmp_path: Path) -> None:
    text = report_of(tmp_path, troubled())
    assert '<p id="zone">Times in the tables are UTC.</p>' in text
    shown = show(text, timezone_id="Asia/Kolkata")
    first = shown.page.locator("#replicas time").first
    exact = str(first.get_attribute("title"))
    assert exact.endswith("Z")
    there = datetime.fromisoformat(exact).astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert first.inner_text() == there.strftime("%Y-%m-%d %H:%M:%S")
    assert "Times are in your own zone" in shown.page.locator("#zone").inner_text()


def test_the_policy_stands_in_the_way_of_anything_that_is_added(chromium: Browser, tmp_path: Path) -> None:
    """Should markup ever get in, the page still runs and fetches nothing else."""
    text = report_of(tmp_path, troubled())
    added = (
        "<script>window.owned = 1</script><img src='https://example.invalid/x' onerror='window.owned = 1'>"
    )
    file = tmp_path / "bent.html"
    file.write_text(text.replace("</body>", f"{added}</body>"), encoding="utf-8")
    with chromium.new_context() as context, context.new_page() as page:
        asked: list[str] = []
        page.on("requestfinished", lambda each: asked.append(each.url))
        page.goto(file.as_uri())
        page.wait_for_function("window.lanes && window.lanes.frames > 0")
        assert page.evaluate("window.owned") is None
        assert asked == [file.as_uri()]


def test_a_click_on_a_mark_opens_its_op(show: Show, tmp_path: Path) -> None:
    team = Orchard()
    shown = show(report_of(tmp_path, team.lines))
    at = "lanes.lanes.findIndex(each => each.replica === 'bob-0000000b')"
    x, y = shown.lanes(f"[lanes._x(lanes.lanes[{at}].ms[4]), lanes._y({at})]")
    shown.page.locator(".lanes-canvas").click(position={"x": x, "y": y})
    assert f"Op 5 of {BOB}" in shown.opened()
    assert "mail" in shown.opened()
    assert team.bob.head.hash[:16] in shown.opened()
    assert f"dmp op show {BOB} 5" in shown.opened()
    assert shown.said().startswith("bob: op 5, mail")


def test_keys_walk_along_ops_and_lanes_and_over_faults(show: Show, tmp_path: Path) -> None:
    shown = show(report_of(tmp_path, troubled()))
    press = shown.page.keyboard.press
    shown.page.locator(".lanes-canvas").focus()
    press("ArrowRight")
    first = shown.lanes("lanes.current()")
    press("ArrowRight")
    assert shown.lanes("lanes.current()") == {"replica": first["replica"], "seq": first["seq"] + 1}
    press("End")
    last = shown.lanes("lanes.current().seq")
    press("ArrowRight")
    assert shown.lanes("lanes.current().seq") == last
    press("ArrowDown")
    assert shown.lanes("lanes.current().replica") != first["replica"]
    press("Enter")
    assert f"Op {shown.lanes('lanes.current().seq')} of" in shown.opened()
    press("0")
    span = shown.lanes("lanes.to - lanes.from")
    press("+")
    assert shown.lanes("lanes.to - lanes.from") < span
    press("f")
    assert "one of several that claim this place" in shown.said()
    one = shown.lanes("lanes.current().hash")
    press("Enter")
    assert one in shown.opened()
    press("f")
    assert shown.lanes("lanes.current().hash") not in (None, one)
    press("f")
    assert "halts at seq 3" in shown.said()


def crowd(replicas: int, ops: int) -> str:
    """The page of a big team, whose ops nobody signed: what is drawn is all that counts here."""
    random, drawing = Random(3), Drawing()
    names = [f"p{number}-{number:08x}" for number in range(replicas)]
    rows = []
    for name in names:
        marks, ms = Marks(), NOW_MS
        for seq in range(1, ops + 1):
            ms += random.choice((5, 400, 60_000, 900_000))
            kind = random.choice(("mail", "state", "task", "presence", "doc")) if seq > 1 else "key"
            to = tuple(sorted(random.sample(names, 2))) if kind in ("mail", "state") else None
            clock, hash_ = Reading(ms, 0, name), f"{random.getrandbits(256):064x}"
            marks.accept(
                Unverified(
                    name,
                    seq,
                    ZERO_HASH,
                    clock,
                    kind,
                    to,
                    hash_,
                    "",
                    hash_,
                    ABSENT,
                    ABSENT,
                    False,
                    b"",
                    "",
                    False,
                    None,
                ),
                STUB if random.random() < 0.1 else 0,
            )
        rows.append(ReplicaReport(name, Status.MEMBER, name[:3], "desk", ops=ops))
        drawing.add(rows[-1], marks)
    return page_of(Report("a crowd", None, tuple(rows), Unlisted(), (), 0), drawing, NOW_MS)


def test_a_hundred_thousand_ops_are_drawn_moved_and_walked(show: Show) -> None:
    text = crowd(20, 5_000)
    assert len(text) < 4_000_000
    shown = show(text, viewport={"width": 1280, "height": 900})
    assert shown.lanes("lanes._count") == 100_000
    canvas = shown.page.locator(".lanes-canvas")
    canvas.focus()
    for zoom in range(4):
        before = shown.lanes("[lanes.to - lanes.from, lanes.frames]")
        shown.page.mouse.move(700, 500)
        shown.page.mouse.wheel(0, -150)
        shown.wait(f"lanes.frames > {before[1]} && lanes.to - lanes.from < {before[0]}")
        if zoom == 0:
            shown.shoot("crowd")
    start = shown.lanes("lanes.from")
    shown.page.mouse.down()
    shown.page.mouse.move(500, 500, steps=3)
    shown.page.mouse.up()
    assert shown.lanes("lanes.from") > start
    shown.page.keyboard.press("ArrowRight")
    shown.lanes("lanes.go('p7-00000007', 4321)")
    assert shown.said().startswith("p7-: op 4321, ")
    assert shown.lanes("lanes.from < lanes.lanes[7].ms[4320] && lanes.lanes[7].ms[4320] < lanes.to")


def test_it_is_readable_in_the_dark_and_on_a_phone(show: Show, tmp_path: Path) -> None:
    shown = show(
        report_of(tmp_path, troubled()),
        color_scheme="dark",
        viewport={"width": 360, "height": 740},
        has_touch=True,
        device_scale_factor=2,
    )
    assert shown.lanes("lanes._isDark()")
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360
    shown.shoot("phone")
    shown.page.emulate_media(color_scheme="light")
    assert not shown.lanes("lanes._isDark()")
    x, y = shown.lanes("[lanes._x(lanes.lanes[0].ms[0]), lanes._y(0)]")
    canvas = shown.page.locator(".lanes-canvas")
    canvas.tap(position={"x": x, "y": y})
    assert shown.lanes("lanes.current().replica") == ADA


def test_new_data_leaves_the_reader_where_they_were(show: Show, tmp_path: Path) -> None:
    shown = show(report_of(tmp_path, Orchard().lines))
    shown.lanes("lanes.go('bob-0000000b', 3)")
    view = shown.lanes("(lanes._zoom(0.5), [lanes.from, lanes.to])")
    more = """(() => {
        const data = structuredClone(lanes.data);
        const {ops} = data.lanes[1];
        ops.seq.push(1), ops.ms.push(1e6), ops.type.push(0), ops.grade.push(0), ops.to.push(0);
        lanes.update(data);
        return [lanes.from, lanes.to, lanes.current().seq, lanes._count];
    })()"""
    assert shown.lanes(more) == [*view, 3, 12]
