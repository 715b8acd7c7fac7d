"""The page of a service that ends and comes back; `test_day` has the pages of two people whose services run."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, expect

from tests.e2e.people import PATIENCE, Person, Running
from tests.replica.web.served import PATIENCE_MS, Window, browser


@contextmanager
def service(person: Person, port: int = 0, *, seconds: float = 2 * PATIENCE) -> Iterator[tuple[Running, str]]:
    """A person's service, until the end of a block, and where it is reached."""
    with person.running("serve", "--listen", f"127.0.0.1:{port}", "--json", seconds=seconds) as running:
        yield running, json.loads(running.told('"url"'))["url"]


def sign_in(person: Person, page: Page, url: str) -> Window:
    """Open the link that `dmp web` prints."""
    window = Window(page, url)
    page.set_default_timeout(PATIENCE * 1000)  # two services and a browser begin at once
    page.goto(person.dmp("web").strip())
    expect(page.locator("#live")).to_have_text("Live", timeout=PATIENCE * 1000)
    return window


def test_a_page_outlives_its_service(ada: Person, bob: Person) -> None:
    bob.dmp("send", "human:ada", "Buy a cherry tree.")
    bob.dmp("sync")
    with browser() as chromium:
        with service(ada) as (running, url):
            hers = sign_in(ada, chromium.new_page(), url)
            hers.page.locator("a.row", has_text="Buy a cherry tree.").click()
            expect(hers.page.locator("article.message", has_text="cherry")).to_be_visible(timeout=PATIENCE_MS)
            assert running.end(signal.SIGTERM).code == 0
            expect(hers.page.get_by_role("alert")).to_contain_text("dmp serve", timeout=PATIENCE_MS)
            hers.shoot("offline")
            expect(hers.page.locator("article.message", has_text="cherry")).to_be_visible()
        bob.dmp("send", "human:ada", "And a spade.")
        bob.dmp("sync")
        with service(ada, int(url.rpartition(":")[2])):
            expect(hers.page.locator("#live")).to_have_text("Live", timeout=PATIENCE_MS)
            expect(hers.page.get_by_role("alert")).to_have_count(0)
            hers.go("mail")
            expect(hers.page.locator("a.row", has_text="And a spade.")).to_be_visible(timeout=PATIENCE_MS)
        # A browser says by itself that nobody answered; nothing else went wrong.
        assert [each for each in hers.wrong if "ERR_CONNECTION" not in each] == []
