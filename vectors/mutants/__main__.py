"""`make mutants`: run the kit on every fault, and record which of the project's own vectors caught it.

A fault that gets away from those is planted in simulated teams, and the first seed that breaks a promise is recorded;
one that gets away from these too, or that is in a transport, in the tests, of which the first that fails is recorded.
One that gets away from all is run on the public vectors, where DMP_PUBLIC_VECTORS names them, to tell which
vector is missing here; what is recorded must be at hand wherever the project is. Exits with 1 where one got away.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from vectors.adapter.run import A2A_BINDING, CLASSES, FEDERATION
from vectors.mutants.catching import CAUGHT, SEEDS, first_seed, first_test, run
from vectors.mutants.fault import Fault, StaleError, read_faults, write_faults
from vectors.runner.files import OWN, read_vectors
from vectors.runner.running import CannotRun
from vectors.runner.vector import Vector

PUBLIC_VECTORS: Final = "DMP_PUBLIC_VECTORS"

RECORDED: Final = 2
"""Vectors recorded for a fault: the second stands in when the first is taken out of the kit."""

SIMULATED: Final = ("crypto/", "replica/")
"""Where faults lie that simulated teams may catch."""

TESTED: Final = ("transports/", "replica/", "bindings/")
"""Where faults lie that tests may catch, in the folder of `tests` with the same name."""


def main(names: Sequence[str]) -> int:
    """Run the kit on the faults of these names, or on every fault; return the exit code."""
    faults = read_faults()
    chosen = [fault for fault in faults if not names or fault.name in names]
    found: dict[str, Fault] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for fault, public in pool.map(_judged, chosen):
            found[fault.name] = fault
            by = _told(fault) or f"GOT AWAY (from the public ones: {public or 'too'})"
            print(f"{fault.name}: {by}", flush=True)
    write_faults(found.get(fault.name, fault) for fault in faults)
    away = [fault.name for fault in found.values() if not _told(fault)]
    print(f"{len(found)} faults, {len(away)} got away{': ' if away else ''}{', '.join(away)}")
    return 1 if away else 0


def _told(fault: Fault) -> str:
    """What catches a fault; empty where it gets away."""
    return (
        " ".join(fault.caught_by) or ("" if fault.seed is None else f"seed {fault.seed}") or fault.test or ""
    )


def _judged(fault: Fault) -> tuple[Fault, str | None]:
    """Return a fault with what catches it now, and the public vector that would where nothing of our own does."""
    if fault.test is not None and first_test(fault, [fault.test]) is not None:
        return fault, None
    caught = replace(fault, caught_by=(), seed=None, test=None)
    if not fault.file.startswith("transports/"):
        own = sorted(read_vectors(*OWN), key=lambda vector: _later(fault, vector))
        caught = replace(caught, caught_by=tuple(islice(_catching(fault, own), RECORDED)))
    if not _told(caught) and fault.file.startswith(SIMULATED):
        caught = replace(caught, seed=first_seed(fault, range(SEEDS)))
    if not _told(caught) and fault.file.startswith(TESTED):
        caught = replace(caught, test=first_test(fault, [f"tests/{fault.file.partition('/')[0]}"]))
    public = os.environ.get(PUBLIC_VECTORS)
    if _told(caught) or not public:
        return caught, None
    return caught, next(_catching(fault, read_vectors(Path(public) / "kit" / "vectors")), None)


def _later(fault: Fault, vector: Vector) -> tuple[bool, bool, bool, bool]:
    """What is likely to catch a fault, and soon, comes first.

    That is what did before, then what is about its side, then what needs no replica, then all but the many contests.
    """
    if fault.file.startswith("bindings/"):
        of_its_side = vector.vector_class == A2A_BINDING
    else:
        of_its_side = (vector.vector_class == FEDERATION) is not fault.file.startswith("core/")
    has_replica = "replica" in vector.raw["given"]
    return vector.id not in fault.caught_by, not of_its_side, has_replica, vector.id.startswith("fed.contest")


def _catching(fault: Fault, vectors: Iterable[Vector]) -> Iterator[str]:
    """Yield the ids of the vectors that catch a fault."""
    ours = [vector for vector in vectors if vector.vector_class in CLASSES]
    return (result.vector.id for result in run(fault, ours) if result.outcome in CAUGHT)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (StaleError, CannotRun) as error:
        sys.exit(str(error))
