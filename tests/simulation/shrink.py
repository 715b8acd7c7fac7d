"""Shrinking: fewer acts, without crashes and faults that do not matter, that break a promise all the same."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tests.simulation.acts import Act, Script


def shrink(script: Script, fails: Callable[[Script], bool]) -> Script:
    """Take out of a failing script all that it fails without (delta debugging over its acts)."""
    script = replace(script, acts=tuple(_fewest(script.acts, lambda acts: fails(replace(script, acts=acts)))))
    for at in range(len(script.acts)):
        script = _plainest(script, at, fails)
    return script


def _plainest(script: Script, at: int, fails: Callable[[Script], bool]) -> Script:
    """Take out of one act all that a script fails without."""
    for simpler in _simpler(script.acts[at]):
        tried = replace(script, acts=(*script.acts[:at], simpler, *script.acts[at + 1 :]))
        if fails(tried):
            return _plainest(tried, at, fails)
    return script


def _fewest(acts: Sequence[Act], fails: Callable[[tuple[Act, ...]], bool]) -> Sequence[Act]:
    """Take out ever smaller pieces, from the end on, as long as what is left fails."""
    size = max(1, len(acts) // 2)
    while acts:
        shorter = next((rest for rest in _without(acts, size) if fails(tuple(rest))), None)
        if shorter is not None:
            acts = shorter
        elif size == 1:
            return acts
        else:
            size //= 2
    return acts


def _without(acts: Sequence[Act], size: int) -> Iterator[Sequence[Act]]:
    for start in reversed(range(0, len(acts), size)):
        yield [*acts[:start], *acts[start + size :]]


def _simpler(act: Act) -> Iterator[Act]:
    if act.pull:
        yield replace(act, pull=False)
    if act.push:
        yield replace(act, push=False)
    if act.crash is not None:
        yield replace(act, crash=None)
    for fault in act.faults:
        yield replace(act, faults=tuple(each for each in act.faults if each is not fault))


def as_code(script: Script) -> str:
    """A script as Python that runs it again."""
    lines = [
        "from tests.simulation.acts import Act, Script",
        "from tests.simulation.run import run",
        "",
        f"outcome = run(Script(seed={script.seed}, size={script.size}, acts=(",
        *(f"    {_act(act)}," for act in script.acts),
        ")))",
        "print(outcome.broken, outcome.where)",
    ]
    return "\n".join(lines)


def _act(act: Act) -> str:
    passes = f"{', pull=True' if act.pull else ''}{', push=True' if act.push else ''}"
    crash = "" if act.crash is None else f", crash={(str(act.crash[0]), act.crash[1])!r}"
    faults = "" if not act.faults else f", faults={tuple(map(str, act.faults))!r}"
    return f"Act({act.what!r}, who={act.who}, seed={act.seed}, after={act.after}{passes}{crash}{faults})"
