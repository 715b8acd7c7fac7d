"""An event loop in a thread of its own, for callers that know nothing of loops."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


async def _settled() -> None:
    """Let sockets that were closed be closed: the loop does that in turns of its own."""
    for _ in range(3):
        await asyncio.sleep(0)


class LoopThread:
    """Runs coroutines for whoever waits for them. It ends with `close`, or with the process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="relay", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Wait for what a coroutine returns. When the wait is interrupted, so is the coroutine."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop, and end the thread."""
        self.run(_settled())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()
