"""A host that dies at any commit while it speaks with a peer: nothing is lost, nor said twice (section 8.9)."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

from aiohttp import web

from bindings.a2a.peers import adding, schedule
from bindings.a2a.peers.records import Point
from core.commits import CommitPoint as CorePoint
from core.message import Message
from replica.node import create, opened
from tests.bindings.a2a.peers.stage import (
    COMPLETED,
    INPUT,
    Json,
    ScriptedPeer,
    Stage,
    refusal,
    served,
    staged,
)
from tests.replica.killer import KilledError, Killer, When
from tests.replica.world import Clock, Machine
from transports.memory import MemoryRemote, MemoryTransport

PEER = "a2a:acme"
VISITED = (*Point, CorePoint.SEND, CorePoint.CLOSE)


class Mortal:
    """A host whose process dies where the killer says, and is started again."""

    def __init__(self, root: Path, killer: Killer) -> None:
        self.root, self.killer, self.clock = root, killer, Clock()
        self.stack = ExitStack()
        create(root, "ada", "laptop", wall=self.clock, random=Random(1).randbytes)
        self.stage = self.start()

    def start(self) -> Stage:
        opening = opened(
            self.root, wall=self.clock, random=Random(self.clock.ms).randbytes, observer=self.killer
        )
        node = self.stack.enter_context(opening)
        return staged(Machine(node, MemoryTransport(MemoryRemote()), self.clock))

    async def do(self, what: Callable[[Stage], object]) -> None:
        """Do something a person does, again when the process died of it."""
        try:
            what(self.stage)
        except KilledError:
            await self.revive()
            what(self.stage)

    async def work(self, *, after: int = 0) -> None:
        """Let the worker work, and after its death another."""
        alive = self.killer.done
        with suppress(KilledError):
            await self.stage.work(after=after)
        if self.killer.done is not alive:
            await self.revive()
            await self.stage.work(after=schedule.WAIT)

    async def revive(self) -> None:
        await self.stage.relay.close()
        self.stage = self.start()


def find(s: Stage, **members: str) -> Message:
    (found,) = s.said(**members)
    return found


def into_a_channel(s: Stage) -> None:
    """Write to a channel that skips the peer."""
    s.node.engine.join("all", PEER)
    adding.switch_off(s.node, "acme")
    s.ada.send("channel:all", "All.", idempotencyKey="all")


async def story(root: Path, killer: Killer) -> tuple[Counter[tuple[str, str, str]], list[Json], Counter[str]]:
    """A question that is asked back about, one that a message answers, one that is refused, messages, and a channel.

    Returns what was said in the end, the requests, and the states of the deliveries to the peer.
    """
    peer = ScriptedPeer()

    async def answer(_: web.Request, body: Json) -> web.StreamResponse:
        text = body["message"]["parts"][0]["text"]
        if text in ("Quick?", "Quick."):
            said = {"messageId": f"p-{len(peer.sent)}", "role": "ROLE_AGENT", "parts": [{"text": "Quick."}]}
            return web.json_response({"message": said})
        if text in ("Never.", "Never?"):
            return refusal(400, "No.")
        if text == "Later." and len([each for each in peer.sent if each == body]) == 1:
            return refusal(503, "Busy.")
        task = body["message"].get("taskId") or f"t-{body['message']['messageId']}"
        return web.json_response({"task": peer.tasks.setdefault(task, {"id": task, "status": peer.opens})})

    peer.on_send = answer
    async with served(peer):
        host = Mortal(root, killer)
        try:
            await host.stage.add(peer)
        except KilledError:
            await host.revive()
        if host.stage.ada.count("a2a_peers") == 0:
            await host.stage.add(peer)

        def sends(text: str, kind: str = "question") -> Callable[[Stage], object]:
            blocking = kind == "question"
            return lambda s: s.ada.send(PEER, text, kind=kind, blocking=blocking, idempotencyKey=text)

        for text in ("Slow?", "Quick?", "Never?", "Broken?"):
            await host.do(sends(text))
        for text in ("Never.", "Later.", "Quick."):
            await host.do(sends(text, "message"))
        await host.work()
        await host.work(after=schedule.WAIT)
        ids = {each["message"]["parts"][0]["text"]: each["message"]["messageId"] for each in peer.sent}
        slow = f"t-{ids['Slow?']}"
        peer.says(slow, INPUT, "Which?")
        peer.says(f"t-{ids['Broken?']}", "TASK_STATE_FAILED", "Out of paper.")
        await host.work(after=schedule.WAIT)
        question = find(host.stage, sender=PEER, kind="question")
        await host.do(
            lambda s: s.ada.send(PEER, "This.", kind="answer", replyTo=question.id, idempotencyKey="this")
        )
        await host.work(after=schedule.WAIT)
        peer.says(slow, COMPLETED, "Done.")
        await host.work(after=schedule.WAIT)
        await host.work(after=schedule.WAIT)
        await host.do(into_a_channel)
        await host.work()
        db = host.stage.node.store.db
        said = Counter(db.execute("SELECT sender, kind, body FROM messages").fetchall())
        states = Counter(
            state for (state,) in db.execute("SELECT state FROM deliveries WHERE recipient = ?", (PEER,))
        )
        await host.stage.relay.close()
        host.stack.close()
    return said, peer.sent, states


def test_a_death_at_any_commit_loses_nothing_and_says_nothing_twice(tmp_path: Path) -> None:
    whole = Killer()
    said, sent, states = asyncio.run(story(tmp_path / "whole", whole))
    assert {said[each] for each in said if each[2] != "Quick."} == {1}
    assert states == {"answered": 4, "pushed": 3, "held": 1}
    by_id = Counter(each["message"]["messageId"] for each in sent)
    assert sorted(by_id.values()) == [1, 1, 1, 1, 1, 1, 1, 2]
    assert {point for point, _ in whole.seen if point in VISITED} >= set(VISITED)
    deaths: list[tuple[str, When, int]] = [
        (point, when, number)
        for (point, when), count in sorted(whole.seen.items())
        if point in VISITED
        for number in sorted({1, (count + 1) // 2, count})
    ]
    for index, death in enumerate(deaths):
        killer = Killer(death)
        told, repeated, left = asyncio.run(story(tmp_path / f"dies-{index}", killer))
        assert killer.done, death
        assert told == said, death
        assert left == states, death
        bodies = {each["message"]["messageId"]: each for each in sent}
        again = {each["message"]["messageId"]: each for each in repeated}
        assert len(again) == len(bodies), death
        assert all(each == again[each["message"]["messageId"]] for each in repeated), death
