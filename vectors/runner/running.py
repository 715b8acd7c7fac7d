"""Runs vectors one after the other on one adapter, started anew when it fails (section 12.4.7)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol, Self

from crypto.canonical import JsonValue
from vectors.runner import symbols
from vectors.runner.adapter import AdapterFault
from vectors.runner.document import VERSION
from vectors.runner.hello import Hello, read_hello
from vectors.runner.judge import judge
from vectors.runner.matching import shown
from vectors.runner.observation import read_observation
from vectors.runner.shape import ShapeError, record, text
from vectors.runner.vector import JsonObject, Vector

RESTARTS: Final = 3
"""How often an adapter is started again in one run."""

PATIENCE: Final = 10.0
"""Seconds an adapter has at least to say hello and to exit, however short the time for a vector is."""

_UNSUPPORTED: Final = record({"reason": text}, open_ended=True)


class Outcome(StrEnum):
    """How a vector ended (section 12.4.8)."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not-applicable"
    ADAPTER_ERROR = "adapter-error"


@dataclass(frozen=True, slots=True)
class Result:
    """One vector's outcome, and the reasons when it did not pass."""

    vector: Vector
    outcome: Outcome
    reasons: Sequence[str] = ()


class CannotRun(Exception):  # noqa: N818 - named for what it is to the caller
    """A run that cannot start: the adapter says no hello, or a malformed one."""


class Process(Protocol):
    """A started adapter; `vectors.runner.adapter.Adapter` is one."""

    def ask(self, line: JsonValue, seconds: float) -> JsonValue:
        """Write a line and return the one that answers it. Raises AdapterFault."""

    def bye(self, seconds: float) -> str | None:
        """Tell it to exit and wait for that; return what was wrong with the way it did."""

    def kill(self) -> None:
        """End it at once."""


class Run:
    """One run. `start` starts the adapter's command; `seconds` is the time each vector has.

    `gate_types` are the registered gate types that are permanent or provisional, in the registry's order.
    Raises CannotRun when the adapter does not say a proper hello.
    """

    def __init__(self, start: Callable[[], Process], seconds: float, gate_types: Sequence[str]) -> None:
        self._start = start
        self._seconds = seconds
        self._restarts = 0
        self._process: Process | None = None
        try:
            self.hello: Hello = self._greet()
        except AdapterFault as fault:
            raise CannotRun(f"asked for its hello, {fault}") from None
        except ShapeError as error:
            raise CannotRun(f"the adapter's hello is malformed: {error}") from None
        self._known = {symbols.SYSTEM: self.hello.system_address}
        unimplemented = next((each for each in gate_types if each not in self.hello.gate_types), None)
        if unimplemented is not None:
            self._known[symbols.UNIMPLEMENTED] = unimplemented

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    def results(self, vectors: Iterable[Vector]) -> Iterator[Result]:
        """Run vectors, in order."""
        for vector in vectors:
            outcome, reasons = self._left_out(vector) or self._outcome(vector)
            yield Result(vector, outcome, reasons)

    def bye(self) -> str | None:
        """End the adapter as the protocol does; return what was wrong with the way it exited."""
        return None if self._process is None else self._process.bye(self._patience)

    @property
    def _patience(self) -> float:
        return max(self._seconds, PATIENCE)

    def _left_out(self, vector: Vector) -> tuple[Outcome, list[str]] | None:
        """Return the outcome of a vector that this adapter is not given (sections 12.2, 12.4.4)."""
        if vector.vector_class not in self.hello.classes:
            return Outcome.SKIPPED, [f"the adapter does not declare the class {vector.vector_class}"]
        if vector.profile not in self.hello.profiles:
            return Outcome.SKIPPED, [f"the adapter does not declare the profile {vector.profile}"]
        if vector.capability is not None and vector.capability not in self.hello.capabilities:
            return Outcome.SKIPPED, [f"the adapter does not declare the capability {vector.capability}"]
        if symbols.UNIMPLEMENTED not in self._known and symbols.holds(vector.raw, symbols.UNIMPLEMENTED):
            return Outcome.NOT_APPLICABLE, ["the adapter implements every registered gate type"]
        return None

    def _outcome(self, vector: Vector) -> tuple[Outcome, list[str]]:
        raw: Any = {
            **vector.raw,
            **{member: symbols.put(vector.raw[member], self._known) for member in ("given", "when", "then")},
        }
        try:
            answer = self._ask(raw)
            if answer["dmp"] == "unsupported":
                _UNSUPPORTED(answer, "")
                return Outcome.SKIPPED, [f"unsupported: {answer['reason']}"]
            reasons = judge(raw, self.hello, read_observation(answer, raw["when"]))
        except AdapterFault as fault:
            return Outcome.ADAPTER_ERROR, [str(fault)]
        except ShapeError as error:
            return Outcome.ADAPTER_ERROR, [f"the {answer['dmp']} line is malformed: {error}"]
        return (Outcome.FAIL if reasons else Outcome.PASS), reasons

    def _ask(self, vector: JsonObject) -> JsonObject:
        """Run a vector and return the line that answers it."""
        process = self._running()
        question = {name: value for name, value in vector.items() if name != "then"}
        try:
            return _answer(process.ask({"dmp": "run", "vector": question}, self._seconds), vector["id"])
        except AdapterFault:
            self._drop()
            raise

    def _running(self) -> Process:
        """Return the adapter, started again when it was dropped. Raises AdapterFault when it no longer may."""
        fault = "it failed"
        while self._process is None:
            if self._restarts == RESTARTS:
                raise AdapterFault(
                    f"not run: the adapter had been started again {RESTARTS} times, and {fault}"
                )
            self._restarts += 1
            try:
                if self._greet() != self.hello:
                    fault = "it declared something else than at first"
                    self._drop()
            except (AdapterFault, ShapeError) as error:
                fault = f"it said no proper hello: {error}"
        return self._process

    def _greet(self) -> Hello:
        self._process = self._start()
        try:
            return read_hello(self._process.ask({"dmp": "hello", "kit": VERSION}, self._patience))
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None


def _answer(line: JsonValue, vector: str) -> JsonObject:
    if not isinstance(line, dict) or line.get("dmp") not in ("observation", "unsupported"):
        raise AdapterFault("the adapter answered with neither an observation nor unsupported")
    if line.get("id") != vector:
        raise AdapterFault(f"the adapter answered for another vector: {shown(line.get('id'))}")
    return line
