"""The conformance adapter without its process, for the runner to run vectors on."""

from collections.abc import Iterable

from core.address import Grammar
from core.gate_types import GATE_TYPES
from crypto.canonical import JsonValue
from vectors.adapter.lines import hello
from vectors.adapter.members import Members
from vectors.adapter.run import observe
from vectors.runner.running import Result, Run
from vectors.runner.vector import Vector


class _InProcess:
    def __init__(self, grammar: Grammar | None) -> None:
        self._grammar = grammar

    def ask(self, line: JsonValue, _seconds: float) -> JsonValue:
        said = Members(line, "the line")
        return hello() if said.text("dmp") == "hello" else observe(said.object("vector"), self._grammar)

    def bye(self, _seconds: float) -> str | None:
        return None

    def kill(self) -> None:
        """There is nothing to end."""


def run(vectors: Iterable[Vector], grammar: Grammar | None = None) -> list[Result]:
    """Run vectors, under one grammar or each under its profile's. Raises what a run of one raises."""
    with Run(lambda: _InProcess(grammar), 10, tuple(GATE_TYPES)) as running:
        return list(running.results(vectors))
