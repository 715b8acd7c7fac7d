"""Puts a fault into the source that a process imports, and runs the conformance adapter or another program on it."""

import os
import runpy
import socket
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from vectors.mutants.fault import Fault


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


def main(fault: Fault, lines: socket.socket, program: str | None) -> None:
    """Plant a fault, and adapt the host to a runner, or run another program; either talks by way of a socket.

    What the process says of its own failure is the fault's doing, and nobody reads it.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    plant(fault)
    if program is not None:
        sys.argv = [program]
        sys.stdin, sys.stdout = lines.makefile("r", encoding="utf-8"), lines.makefile("w", encoding="utf-8")
        runpy.run_module(program, run_name="__main__", alter_sys=True)
        return
    from vectors.adapter.lines import converse

    with lines.makefile("rb") as read, lines.makefile("wb") as written:
        converse(read, written)
