"""A day in the life of a team: two machines whose services run over a relay, each with its page, an agent, a guest."""

import asyncio
import json
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.people import DMP, PATIENCE, Person, Running, Town
from tests.e2e.test_service import has, wait_for
from tests.e2e.test_web_page import service, sign_in
from tests.replica.web.served import Window, browser
from tests.transports.relay.process import Served, served

AGENT = "agent:ada/claude"
QUESTION = {
    "to": ["human:bob"],
    "kind": "question",
    "body": "The frost comes tonight. Cover the figs?",
    "choices": ["cover them", "leave them"],
    "blocking": True,
}


@dataclass
class Office:
    """Somebody whose service runs, and who has its page open."""

    person: Person
    running: Running
    window: Window

    def see(self, path: str, what: str, text: str) -> Locator:
        """Go to a place of the page, and wait there for something with a text."""
        self.window.go(path)
        found = self.window.page.locator(what, has_text=text)
        expect(found).to_be_visible()
        return found

    def machine(self, guest: Person) -> Locator:
        """The card of a member's machine."""
        return self.window.page.get_by_role("article", name=f"{guest.handle}, {guest.handle}-laptop")


@dataclass
class Day:
    """Two at work, with a relay between them, and an empty folder where a machine can publish too."""

    town: Town
    relay: Served
    folder: Path
    ada: Office
    bob: Office


@contextmanager
def office(person: Person, chromium: Browser) -> Iterator[Office]:
    """Start somebody's service, and open its page."""
    with service(person, seconds=5 * PATIENCE) as (running, url):
        yield Office(person, running, sign_in(person, chromium.new_page(), url))


@pytest.fixture
def day(orchard: Town, ada: Person, bob: Person, tmp_path: Path) -> Iterator[Day]:
    """A team that moves to a relay in the morning, and then begins to work."""
    expect.set_options(timeout=PATIENCE * 1000)
    (folder := tmp_path / "folder").mkdir()
    with served(tmp_path / "relay") as relay, browser() as chromium:
        ada.dmp("team", "transport", "relay", relay.url, "--yes")
        with office(ada, chromium) as hers, office(bob, chromium) as his:
            yield Day(orchard, relay, folder, hers, his)


async def asks(ada: Person) -> tuple[Any, Any]:
    """What an agent's tool returns once its question is answered, and what is in the agent's mailbox then."""
    started = StdioServerParameters(
        command=DMP[0],
        args=[*DMP[1:], "mcp", "--as", AGENT],
        env=ada.environment,
        cwd=Path(__file__).parents[2],
    )
    found = []
    async with asyncio.timeout(2 * PATIENCE), Client(stdio_client(started)) as client:
        for tool, arguments in (("msg_send", QUESTION), ("inbox_read", {})):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result
            (content,) = result.content
            found.append(json.loads(getattr(content, "text", "")))
    return found[0], found[1]


def approves_an_agent(ada: Office) -> None:
    """A gate that a command raised is decided in the page, and whoever waits for it is told."""
    gate = ada.person.json("agent", "register", "claude", "--client", "Claude Code")["gate"]["id"]
    with ada.person.running("gates", "wait", gate) as waiting:
        card = ada.see("questions", ".card.gate", AGENT)
        card.get_by_label("approve").check()
        card.get_by_role("button", name="Decide").click()
        assert waiting.told("approve") == "approve\n"
        assert waiting.end().code == 0


def answers_an_agent(asked: "Future[tuple[Any, Any]]", ada: Office, bob: Office) -> None:
    """A question of an agent at one machine is answered in the page of another, which both sides then know."""
    card = bob.see("questions", ".card", "Cover the figs?")
    expect(card).to_contain_text("remote: ada")
    card.get_by_label("cover them").check()
    card.get_by_label("In your words").fill("With the old blankets.")
    card.get_by_role("button", name="Answer").click()
    expect(card).to_be_hidden()
    told, mailbox = asked.result(PATIENCE)
    answer = told["answer"]
    assert (answer["from"], answer["remoteHandle"]) == ("human:bob", "bob")
    assert (answer["choice"], answer["body"]) == ("cover them", "With the old blankets.")
    assert [each["message"]["id"] for each in mailbox["messages"]] == [answer["id"]]
    for office in (ada, bob):
        card = office.see(f"threads/{answer['thread']}", "article.message", answer["body"])
        expect(card).to_contain_text("This is the answer.")


def a_guest_comes(day: Day) -> Person:
    """A third machine joins with an invite, is let in by a service, and its mail is in a page."""
    cy = day.town.person("cy")
    code = day.ada.person.dmp("team", "invite", "cy").strip()
    day.ada.window.go("team")
    cy.dmp("join", "-", "--wait", stdin=code)
    expect(day.ada.machine(cy)).to_be_visible()
    cy.dmp("send", "human:bob", "The guest has come.")
    cy.dmp("sync")
    day.bob.see("mail", "a.row", "The guest has come.")
    return cy


def the_guest_is_put_out(day: Day, cy: Person) -> None:
    """A machine is revoked in the page; what it signs after that finds a way to a teammate, and does not count."""
    ada, bob = day.ada, day.bob
    ada.window.go("team")
    ada.machine(cy).get_by_role("button", name="Revoke").click()
    dialog = ada.window.page.get_by_role("dialog", name="Revoke a machine")
    dialog.get_by_label("Why?").fill("the guest has left")
    dialog.get_by_label("I mean this machine").check()
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog).to_have_count(0)
    bob.see("team", "section[aria-label='Revoked machines']", "the guest has left")
    cy.dmp("send", "human:bob", "The guest is still here.")
    assert "the team has revoked this replica" in cy.refused("sync")
    cy.dmp("transport", "add", f"dir:{day.folder}", "--main")  # where nobody knows of it yet
    cy.dmp("sync")
    bob.person.dmp("transport", "add", f"dir:{day.folder}")
    bob.person.dmp("sync")
    bob.see("problems", "article", f"what {cy.replica} published after its revocation is not applied")
    ada.person.dmp("send", "human:bob", "The guest has gone.")
    bob.see("mail", "a.row", "The guest has gone.")
    expect(bob.window.page.locator("a.row", has_text="The guest")).to_have_count(2)


def news(person: Person) -> int:
    """How many ops a sync moved."""
    told = person.json("sync")
    return int(told["published"] + told["applied"])


def is_clean(audit: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Nothing is wrong with what a team has signed: what each machine is in it, and how many ops it signed."""
    assert audit["verified"]
    assert audit["skipped"]["count"] == 0
    assert [each["fault"] for each in audit["replicas"]] == [None] * 3
    return {each["handle"]: (each["status"], each["ops"]) for each in audit["replicas"]}


def test_a_day_of_two_machines_an_agent_and_a_guest(day: Day) -> None:
    ada, bob = day.ada, day.bob
    approves_an_agent(ada)
    with ThreadPoolExecutor(1) as pool:
        answers_an_agent(pool.submit(asyncio.run, asks(ada.person)), ada, bob)
    cy = a_guest_comes(day)
    the_guest_is_put_out(day, cy)
    for office in (ada, bob):
        office.window.check()
        assert office.running.end(signal.SIGTERM).code == 0
    wait_for(lambda: not any(news(each.person) for each in (ada, bob)))
    found = is_clean(ada.person.json("audit"))
    assert found["cy"] == ("revoked", 3)
    for other in (bob.person.json("audit"), ada.person.json("audit", "--from", day.relay.url)):
        assert is_clean(other) == found
    told = [person.json("problems")["problems"] for person in (ada.person, bob.person)]
    assert [[each["subject"] for each in problems] for problems in told] == [[], [f"cut:{cy.replica}"]]
    assert not any(has(person, "The guest is still here.") for person in (ada.person, bob.person))
    assert bob.person.bodies() == [QUESTION["body"], "The guest has come.", "The guest has gone."]
    assert day.relay.stop() == 0
