"""A process with a fault in it: the adapter of a planted host to a runner, or another program that talks in lines.

Python's fork server starts it: a process that has imported what is not the project's (`ready`) is forked, and imports
the project's modules by itself. So nothing is started or read twice, and no module is in the processes of two faults.
"""

import json
import socket
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from types import TracebackType
from typing import Final, Self

from crypto.canonical import JsonError, JsonValue, parse
from vectors.mutants import plant
from vectors.mutants.fault import Fault
from vectors.runner.adapter import AdapterFault


def _server() -> ForkServerContext:
    context = get_context("forkserver")
    context.set_forkserver_preload([plant.__name__, "vectors.mutants.ready"])
    return context


_SERVER: Final = _server()


class Planted:
    """A process of a fault, for a run of vectors; `program` is a module that it runs in place of the adapter.

    Leaving the block ends it.
    """

    def __init__(self, fault: Fault, program: str | None = None) -> None:
        self._socket, far = socket.socketpair()
        with far:
            self._process = _SERVER.Process(target=plant.main, args=(fault, far, program))
            self._process.start()
        self._answers = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def ask(self, line: JsonValue, seconds: float) -> JsonValue:
        """Write a line and return the one that answers it. Raises AdapterFault when there is none in that time."""
        self._socket.settimeout(seconds)
        try:
            self._socket.sendall(json.dumps(line).encode() + b"\n")
            answer = self._answers.readline()
            return parse(answer.decode()).value
        except TimeoutError:
            raise AdapterFault(f"it wrote nothing within {seconds:g} s") from None
        except (OSError, UnicodeError, JsonError):
            raise AdapterFault("it ended, or wrote no line of JSON") from None

    def bye(self, _seconds: float) -> str | None:
        """End it; how a planted host exits tells nothing."""
        self.kill()
        return None

    def kill(self) -> None:
        """End it at once. Safe to call again."""
        with suppress(ValueError):  # it is closed already
            self._process.kill()
            self._process.join()
            self._process.close()
        self._answers.close()
        self._socket.close()
