"""A replica's page as a person meets it: a team of real machines, one of them served, looked at in a real browser."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from replica.api import tokens
from replica.node import create, wall_clock
from replica.records.link import Link
from replica.service.changes import Changes
from replica.team import commands
from replica.ways import Ways
from tests.replica.api import host
from tests.replica.world import Clock, Machine, World

CHROMIUM = "/usr/bin/chromium"
SHOTS = Path(__file__).parents[3] / "screenshots"
PATIENCE_MS = 20_000

_REFUSED = "Failed to load resource: the server responded with a status of "


@dataclass(frozen=True, slots=True)
class Looks:
    """How large a browser window is, in pixels, and where its person lives, if anywhere."""

    width: int = 1280
    height: int = 800
    zone: str | None = "Europe/Berlin"


USUAL = Looks()
PHONE = Looks(width=360, height=740)


class Real(Clock):
    """The time of day: a browser and its host agree on it."""

    def __call__(self) -> int:
        return wall_clock()


@dataclass
class Place:
    """A directory where a team's machines meet, as the page's own changes of the roster reach it too."""

    w: World
    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.link = Link(f"dir:{self.folder}")

    def machine(self, handle: str, name: str | None = None) -> Machine:
        """Make a replica, in no team yet."""
        root = self.w.folder / (name or handle)
        create(root, handle, f"{name or handle}-laptop")
        opened = self.w.open(root, Real())
        opened.transport = self.w.stack.enter_context(Ways(opened.node)).open(self.link)  # type: ignore[arg-type]
        return opened

    def team(self, *handles: str) -> list[Machine]:
        """Found a team with the first machine, and let the others join."""
        first, *others = [self.machine(handle) for handle in handles]
        commands.found_team(first.pass_(), "Orchard", self.link)
        for other in others:
            code = commands.invite(first.pass_(), other.node.handle)
            commands.join(other.pass_(), code.encode(), self.link)
            first.sync()
            other.sync()
        return [first, *others]

    def at_the_door(self, handle: str) -> Machine:
        """A machine that asks to be let in, without an invite."""
        waiting = self.machine(handle)
        commands.join(waiting.pass_(), None, self.link)
        return waiting


@dataclass
class Desk:
    """A person's machine, with its API and page served; `url` is where."""

    machine: Machine
    url: str
    browser: Browser

    def code(self) -> str:
        """A one-time code of its person's."""
        return tokens.code(self.machine.node).secret

    @contextmanager
    def window(self, looks: Looks = USUAL) -> Iterator["Window"]:
        """A browser window of its person, signed in by a one-time link."""
        with self.stranger(looks) as opened:
            opened.page.goto(f"{self.url}/node/open?code={self.code()}")
            expect(opened.page.locator("#live")).to_have_text("Live")
            yield opened

    @contextmanager
    def stranger(self, looks: Looks = USUAL) -> Iterator["Window"]:
        """A browser window of nobody yet."""
        with ExitStack() as stack:
            context = self.browser.new_context(
                viewport={"width": looks.width, "height": looks.height},
                color_scheme="light",
                timezone_id=looks.zone,
                locale="en-GB",
            )
            stack.callback(context.close)
            opened = Window(context.new_page(), self.url)
            yield opened
            opened.check()


@dataclass
class Window:
    """A page, with everything noted that must not happen on it: errors, broken policies, requests to anywhere else."""

    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)
    signed_out: bool = False
    """Whether it is meant to be so at times: then requests that were under way may be refused as nobody's."""

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("console", lambda said: self._said(said.type, said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))

    def _said(self, kind: str, text: str) -> None:
        if kind == "error" and text.startswith(_REFUSED):
            status = int(text.removeprefix(_REFUSED)[:3])
            if not (self.signed_out and status == 401):
                self.refusals.append(status)
        elif kind in ("error", "warning"):
            self.wrong.append(f"{kind}: {text}")

    def refused(self, status: int) -> None:
        """The host refused once since last time, and the browser said so as it does, a little later."""
        until = time.monotonic() + PATIENCE_MS / 1000
        while not self.refusals and time.monotonic() < until:
            self.page.wait_for_timeout(10)
        assert self.refusals == [status]
        self.refusals.clear()

    def go(self, path: str) -> None:
        """Go to a place of the page."""
        self.page.evaluate("path => { location.hash = `#/${path}`; }", path)

    def check(self) -> None:
        """Nothing went wrong, no policy was broken, and nothing was asked of anybody else."""
        assert self.wrong == []
        assert self.refusals == []
        own = (f"{self.url}/", self.url.replace("http:", "ws:") + "/", "data:", "about:")
        assert [each for each in self.asked if not each.startswith(own)] == []

    def shoot(self, name: str) -> None:
        """Keep what it looks like, for people."""
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", animations="disabled")

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        found = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return int(found)


@contextmanager
def browser() -> Iterator[Browser]:
    """One browser, without a screen."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--renderer-process-limit=1",
                "--in-process-gpu",
                "--disable-software-rasterizer",
            ],
            timeout=120_000,
        )
        try:
            yield started
        finally:
            started.close()


@contextmanager
def desk(machine: Machine, browser_: Browser) -> Iterator[Desk]:
    """Serve a machine."""
    directory = machine.directory
    with (
        Changes(directory.database) as changes,
        host.serving(directory.database.parent, changes) as port,
    ):
        yield Desk(machine, f"http://127.0.0.1:{port}", browser_)
