"""Folding rosters so that a hostile team's, made to take long, holds up nobody else.

A small roster is folded where that is asked for. Others are folded in a thread, those whose last fold took long
apart from the rest, one at a time; and after each fold as much time passes without one as it took, so that such
a thread has half of a core at most.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, TypeVar

import structlog

from transports.relay.server.team import Team

SMALL_OPS: Final = 100
"""Rosters with no more ops are folded at once."""

LONG_SECONDS: Final = 0.25
"""A fold that took longer is a long one."""

REST_SECONDS: Final = 30.0
"""How long there is no fold after another at most."""

_Result = TypeVar("_Result")

_log = structlog.get_logger()


class Folds:
    """Folds the rosters of one relay (relay.Fold)."""

    def __init__(self) -> None:
        self._waiting: dict[Team, deque[tuple[Callable[[], Any], Callable[[Any], None]]]] = {}
        self._turns = {is_long: asyncio.Semaphore(1) for is_long in (False, True)}
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, team: Team, work: Callable[[], _Result], then: Callable[[_Result], None], /) -> None:
        if team in self._waiting:
            self._waiting[team].append((work, then))
        elif team.roster_ops <= SMALL_OPS:
            then(work())
        else:
            self._waiting[team] = deque([(work, then)])
            task = asyncio.create_task(self._fold(team))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def apart(self, work: Callable[[], _Result], *, is_long: bool) -> tuple[_Result, float]:
        """Return what `work` returns, done in a thread when its turn has come, and how many seconds it took."""
        turn = self._turns[is_long]
        await turn.acquire()
        start = perf_counter()
        try:
            result = await in_a_thread(work)
        finally:
            took = perf_counter() - start
            asyncio.get_running_loop().call_later(min(took, REST_SECONDS), turn.release)
        return result, took

    async def _fold(self, team: Team) -> None:
        """Fold what waits of one team, in order."""
        waiting = self._waiting[team]
        try:
            while waiting:
                work, then = waiting[0]
                result, team.fold_seconds = await self.apart(work, is_long=team.fold_seconds > LONG_SECONDS)
                then(result)
                waiting.popleft()
        except Exception as error:  # noqa: BLE001 - that of one team, which is read anew once nobody is connected
            _log.error("fold_failed", team=team.id, error=type(error).__name__)
        finally:
            del self._waiting[team]


async def in_a_thread(work: Callable[[], _Result]) -> _Result:
    """Do this in a thread that the end of the process does not wait for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_Result] = loop.create_future()

    def settle(result: _Result | None, error: Exception | None) -> None:
        if done.cancelled():
            return
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def run() -> None:
        result, failed = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            failed = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=run, name="fold", daemon=True).start()
    return await done
