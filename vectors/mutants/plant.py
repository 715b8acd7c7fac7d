"""`python -m vectors.mutants.plant NAME [MODULE ...]`: the conformance adapter, of a host with one fault.

With a module it runs that one as a program instead, and gives it what follows.
"""

import runpy
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from vectors.mutants.fault import Fault, read_faults


class _Loader(SourceFileLoader):
    """Compiles a module's source with a fault in it, and keeps nothing of that."""

    def __init__(self, fault: Fault, path: str) -> None:
        super().__init__(fault.module, path)
        self._fault = fault

    def get_code(self, _name: str) -> CodeType:
        source = self._fault.plant(Path(self.path).read_text("utf-8"))
        return compile(source, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._fault.module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(self._fault, spec.origin)
        return spec


def plant(fault: Fault) -> None:
    """Put a fault into its module, which must not have been imported yet."""
    if fault.module in sys.modules:
        raise RuntimeError(f"{fault.module} is imported already, without the fault {fault.name}")
    sys.meta_path.insert(0, _Finder(fault))


def main(name: str, *program: str) -> None:
    """Plant the fault of a name, and adapt the host to a runner, or run another program."""
    plant(next(fault for fault in read_faults() if fault.name == name))
    if program:
        sys.argv = [*program]
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
        return
    from vectors.adapter.lines import converse

    converse(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main(*sys.argv[1:])
