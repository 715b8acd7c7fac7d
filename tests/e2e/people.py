"""People at their machines: `dmp` processes, and a real bare repository between them."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.e2e import forked

DMP = (sys.executable, "-m", "replica.cli.main")
BRANCH = "dmp-federation"
FIRST_SEGMENT = "000000000001.jsonl"
PATIENCE = 60.0
"""Seconds after which a process that should have ended is killed, and its test fails."""


@dataclass(frozen=True)
class Told:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


def environment(home: Path) -> dict[str, str]:
    """An environment in which nothing outside `home` is read or written."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def started(
    arguments: Sequence[str], *, env: Mapping[str, str], stdin: bytes, seconds: float
) -> tuple[int, bytes, bytes]:
    """Run a command as `forked.run` does, with the program that people start."""
    done = subprocess.run(
        [*DMP, *arguments], input=stdin, capture_output=True, env=env, timeout=seconds, check=False
    )
    return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True)
class Person:
    """Somebody with one machine: a replica directory of their own.

    Their commands are forked processes (`tests.e2e.forked`), unless it is the `real` program that they start.
    """

    handle: str
    root: Path
    home: Path
    real: bool = False

    @property
    def environment(self) -> dict[str, str]:
        """What this person's commands find around them."""
        return {**environment(self.home), "DMP_DIR": str(self.root)}

    def try_(self, *arguments: str, stdin: str | bytes = b"") -> Told:
        """Run a command, however it ends."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        run = started if self.real else forked.run
        code, out, err = run(arguments, env=self.environment, stdin=given, seconds=PATIENCE)
        told = Told(code, out.decode(), err.decode())
        assert "Traceback" not in told.err
        return told

    def dmp(self, *arguments: str, stdin: str | bytes = b"") -> str:
        """Run a command that must end well, and return what it said."""
        told = self.try_(*arguments, stdin=stdin)
        assert told.code == 0, told
        return told.out

    def refused(self, *arguments: str, code: int = 1, stdin: str | bytes = b"") -> str:
        """Run a command that must not end well, and return why."""
        told = self.try_(*arguments, stdin=stdin)
        assert told.code == code, told
        return told.err

    def json(self, *arguments: str, code: int = 0) -> Any:
        """Run a command as a program does: one document on standard output, nothing beside it."""
        told = self.try_(*arguments, "--json")
        assert told.code == code, told
        assert told.err == ""
        (line,) = told.out.splitlines()
        return json.loads(line)

    @contextmanager
    def running(self, *arguments: str, seconds: float = PATIENCE) -> Iterator["Running"]:
        """Run a command beside the test, until the end of a block, or so many seconds."""
        process = subprocess.Popen(
            [*DMP, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        overdue = threading.Timer(seconds, process.kill)
        overdue.start()
        try:
            yield Running(process)
        finally:
            overdue.cancel()
            process.kill()
            process.communicate()

    @property
    def replica(self) -> str:
        """The id of this person's replica."""
        found = json.loads((self.root / "keys" / "replica.json").read_text())["replica"]
        assert isinstance(found, str)
        return found

    @property
    def fingerprint(self) -> str:
        """What this person would read out on the phone."""
        return str(self.json("team", "fingerprint")["fingerprint"])

    def bodies(self) -> list[str]:
        """The bodies in the mailbox, oldest first."""
        return [each["message"]["body"] for each in self.json("inbox")["deliveries"]]


@dataclass(frozen=True)
class Running:
    """A `dmp` that runs beside the test."""

    process: subprocess.Popen[str]

    def told(self, pattern: str) -> str:
        """Wait for a line on standard output."""
        assert self.process.stdout is not None
        return self._wait(self.process.stdout, pattern)

    def noted(self, pattern: str) -> str:
        """Wait for a line on standard error."""
        assert self.process.stderr is not None
        return self._wait(self.process.stderr, pattern)

    def end(self, how: signal.Signals | None = None) -> Told:
        """Wait for the end, after a signal where one is given."""
        if how is not None:
            self.process.send_signal(how)
        out, err = self.process.communicate()
        return Told(self.process.returncode, out, err)

    def _wait(self, stream: IO[str], pattern: str) -> str:
        seen = []
        for line in stream:
            if re.search(pattern, line):
                return line
            seen.append(line)
        raise AssertionError(f"it ended without saying {pattern!r}: {seen}")


@dataclass(frozen=True)
class Town:
    """A folder with people's machines and the repository between them."""

    folder: Path
    real: bool = False

    @property
    def repository(self) -> Path:
        return self.folder / "orchard.git"

    def build(self) -> None:
        """Make the repository."""
        (self.folder / "home").mkdir(parents=True)
        subprocess.run(
            ["git", "init", "--quiet", "--bare", str(self.repository)],
            check=True,
            env=environment(self.folder / "home"),
        )

    def person(self, handle: str, *, init: bool = True) -> Person:
        """Somebody new; `init` makes their replica."""
        someone = Person(handle, self.folder / handle, self.folder / "home", self.real)
        if init:
            someone.dmp("init", "--handle", handle, "--device", f"{handle}-laptop")
        return someone

    def founder(self) -> Person:
        """Ada, who founded the team here."""
        ada = self.person("ada")
        ada.dmp("team", "found", "Orchard", "--git", str(self.repository))
        return ada

    def invited(self, inviter: Person, handle: str) -> Person:
        """Somebody who joined with an invite, and was admitted."""
        someone = self.person(handle)
        code = inviter.dmp("team", "invite", handle).strip()
        someone.dmp("join", "-", "--git", str(self.repository), stdin=code)
        inviter.dmp("sync")
        someone.dmp("sync")
        return someone

    def hook(self, name: str, script: str) -> None:
        """Let the repository run a hook."""
        path = self.repository / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """Run git as somebody who can push: in a clone of the team's branch unless another folder is given."""
        if folder is None:
            folder = self.folder / "clone"
            if not folder.exists():
                self.git(
                    *("clone", "--quiet", "--branch", BRANCH, str(self.repository), str(folder)),
                    folder=self.folder,
                )
        identity = ("-c", "user.name=mallory", "-c", "user.email=mallory@example.org")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=folder,
            env=environment(self.folder / "home"),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def lane(self, person: Person) -> list[dict[str, Any]]:
        """The ops of a person on the branch."""
        lines = self.git("show", f"{BRANCH}:fed/{person.replica}/{FIRST_SEGMENT}", folder=self.repository)
        return [json.loads(line) for line in lines.splitlines()]

    def tamper(self, person: Person) -> int:
        """Change one character of a person's first mail on the branch, and return the seq of that op."""
        op = next(op for op in self.lane(person) if op["type"] == "mail")
        sealed = str(op["sealed"]["ct"])
        self.git("fetch", "--quiet")
        self.git("reset", "--quiet", "--hard", f"origin/{BRANCH}")
        segment = self.folder / "clone" / "fed" / person.replica / FIRST_SEGMENT
        segment.write_text(
            segment.read_text().replace(sealed, ("B" if sealed[0] == "A" else "A") + sealed[1:])
        )
        self.git("commit", "--quiet", "--all", "--message", "Tidy up")
        self.git("push", "--quiet")
        return int(op["seq"])

    def moved_to(self, folder: Path) -> "Town":
        """A copy of everything in another folder, which each replica then knows as its remote."""
        shutil.copytree(self.folder, folder)
        shutil.rmtree(folder / "home" / "state")  # these are no copies that anybody should be warned of
        town = Town(folder)
        for database in folder.glob("*/state.db"):
            with sqlite3.connect(database) as db:
                db.execute("UPDATE transports SET address = ?", (str(town.repository),))
            db.close()
        return town
