"""Searching for the patterns that an adapter declares (sections 1.4, 6.8).

A pattern comes from whoever is judged, and the engine that searches for it cannot be interrupted: there are
patterns that take it longer than the universe will last, and some that end its process. So it runs in one of its
own, with a deadline, and is started again when it had to be ended.
"""

import atexit
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from vectors.runner.adapter import Adapter, AdapterFault

SECONDS: Final = 5.0
"""How long one search may take, or reading one pattern. Honest ones take microseconds."""

_COMMAND: Final = shlex.join([sys.executable, "-P", str(Path(__file__).with_name("searching.py"))])


class PatternFault(Exception):  # noqa: N818 - named for what it is to the caller
    """A pattern that is none, or that cannot be searched for; the text is what it does instead."""

    def __init__(self, pattern: str, fault: str) -> None:
        super().__init__(fault)
        self.pattern = pattern


class _Searcher:
    """The process, which is started when it is first needed."""

    def __init__(self) -> None:
        self._process: Adapter | None = None

    def ask(self, pattern: str, text: str) -> Any:
        if self._process is None:
            self._process = Adapter(f"exec {_COMMAND}", lambda _: None)
        try:
            return self._process.ask({"pattern": pattern, "text": text}, SECONDS)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


_searcher: Final = _Searcher()
atexit.register(_searcher.end)


def find(pattern: str, text: str) -> tuple[int, int] | None:
    """Return where the first match of a pattern begins and ends, in bytes of UTF-8; None where there is none.

    Raises PatternFault.
    """
    try:
        answer = _searcher.ask(pattern, text)
    except AdapterFault:
        raise PatternFault(pattern, f"ends the search for it, or takes it over {SECONDS:g} s") from None
    if "fault" in answer:
        raise PatternFault(pattern, f"is not an ECMAScript pattern: {answer['fault']}")
    found = answer["found"]
    return None if found is None else (found[0], found[1])
