"""Metrics tell how much there is of what, to this machine alone unless they have an address of their own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from core.errors import Code, DmpError
from replica.api.app import application
from replica.elsewhere import Fault
from replica.records.link import Link
from replica.service.changes import Changes
from replica.service.metering import add_metrics, metering
from replica.service.metrics import Metrics
from replica.service.process import running
from replica.sync import Report
from tests.replica.world import World, exchange
from transports.base import TransportError


@pytest.fixture
def root(w: World) -> Path:
    """Ada's replica, with mail that she did not read, and mail that waits to go out."""
    ada, bob = w.team("ada", "bob")
    bob.send("human:ada", "the walrus sings")
    bob.ask("human:ada", body="at noon?")
    exchange(ada, bob)
    ada.send("human:bob", "it waits")
    return ada.directory.root


@pytest.fixture
def changes(root: Path) -> Iterator[Changes]:
    with Changes(root / "state.db") as made:
        yield made


def ask(root: Path, changes: Changes, metrics: Metrics, **headers: str) -> tuple[int, str]:
    """What the service answers beside its API, to somebody who sends these headers too."""

    async def asked() -> tuple[int, str]:
        app = application(root, changes, names=("dmp.example",))
        add_metrics(app, root, metrics)
        async with running(app, "127.0.0.1:0", "--listen") as address, aiohttp.ClientSession() as session:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            async with session.get(f"http://{address}/metrics", headers=given) as answer:
                return answer.status, await answer.text()

    return asyncio.run(asked())


def test_they_count_what_the_store_holds_and_what_passes_did(root: Path, changes: Changes) -> None:
    metrics = Metrics()
    failed = TransportError("nobody answers")
    for outcome in (
        Report(published=2, applied=3),
        Report(refused=1, faults=[Fault(Link("dir:/stick"), failed, False)]),
        Report(paused="it looks restored"),
        failed,
        DmpError(Code.UNAVAILABLE, "busy"),
    ):
        metrics.passed(outcome)
    metrics.failed("sync")
    status, text = ask(root, changes, metrics)
    assert status == 200
    for line in (
        *(
            "dmp_unread_messages 2.0",
            "dmp_open_questions 1.0",
            "dmp_waiting_to_publish 1.0",
            "dmp_problems 0.0",
            "dmp_signing 1.0",
        ),
        *(
            f'dmp_sync_passes_total{{outcome="{each}"}} 1.0'
            for each in ("done", "faults", "paused", "unreachable", "refused")
        ),
        *('dmp_sync_ops_total{done="published"} 2.0', 'dmp_sync_ops_total{done="refused"} 1.0'),
        'dmp_worker_failures_total{worker="sync"} 1.0',
    ):
        assert line in text.splitlines()
    assert not [word for word in ("walrus", "ada", "bob", "Orchard", "stick") if word in text]


@pytest.mark.parametrize(
    "headers",
    [{"Host": "dmp.example"}, {"X_Forwarded_For": "203.0.113.1"}, {"Forwarded": "for=203.0.113.1"}],
    ids=["name", "x-forwarded-for", "forwarded"],
)
def test_who_comes_through_a_proxy_finds_nothing(
    root: Path, changes: Changes, headers: dict[str, str]
) -> None:
    status, text = ask(root, changes, Metrics(), **headers)
    assert status == 404
    assert "dmp_" not in text


def test_an_address_of_their_own_shows_metrics_and_nothing_else(root: Path) -> None:
    async def asked() -> list[int]:
        found = []
        async with (
            running(metering(root, Metrics()), "127.0.0.1:0", "--metrics") as address,
            aiohttp.ClientSession() as session,
        ):
            for path in ("/metrics", "/api/messages", "/"):
                async with session.get(f"http://{address}{path}", headers={"Host": "elsewhere"}) as answer:
                    found.append(answer.status)
        return found

    assert asyncio.run(asked()) == [200, 404, 404]


def test_a_store_that_cannot_be_read_is_said_to_be_so(root: Path, changes: Changes) -> None:
    (root / "keys" / "replica.json").chmod(0o644)
    assert ask(root, changes, Metrics()) == (503, "the store cannot be read\n")
