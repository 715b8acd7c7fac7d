"""Every command the README and the pages of docs/ show is run: two people, a bare repository, real processes."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from replica.cli import main
from tests.e2e import forked
from tests.e2e.people import PATIENCE, Person, Town, environment

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = ("console", "sh")
DATA = ("ini", "json", "python", "text", "toml")

FROM_NOTHING = ["README.md", "docs/getting-started.md"]
SERVED = "docs/api.md"
"""A page whose commands speak to a service that runs."""

BESIDE_ITS_ROOM = ("docs/a2a-peers.md",)
"""Pages whose commands need more than a team; tests beside what they tell of type them."""

IN_A_TEAM = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "docs").glob("*.md")
    if str(path.relative_to(ROOT)) not in (*FROM_NOTHING, SERVED, *BESIDE_ITS_ROOM)
)

LEARNT = {
    "code": r"(di1\.[0-9a-f]{32}\.\S+)",
    "id": r"\b(m-[0-9a-z]{26})\b",
    "question": r'(?:waits for your answer: |"id": ")(m-[0-9a-z]{26})(?="[^{}]*"kind": "question"|(?!"))',
    "replica": r"team admit (\S+-[0-9a-f]{8}) --fingerprint",
    "fingerprint": r"team admit \S+-[0-9a-f]{8} --fingerprint (\S+)",
    "recovery-code": r"^ +((?:[0-9A-Z]{4}-){12}[0-9A-Z]{4})$",
    "founder-fingerprint": r"^this machine  (\S+)  ada-",
    "other-replica": r"\b(bob-[0-9a-f]{8})\b",
    "task": r"Made task:(t-[0-9a-f]{10})",
    "epic": r"Made task:(e-[0-9a-f]{10})",
    "session": r"Made run:(r-[0-9a-f]{10})",
    "memory": r"\b(mem-[0-9A-Z]{26})\b",
    "other-memory": r"\b(mem-[0-9A-Z]{26})\b.*“Line length”",
    "proposal": r"\b(mp-[0-9A-Z]{26})\b",
    "revision": r"\b(rev-[0-9A-Z]{26})\b",
    "gate": r"dmp answer (m-[0-9a-z]{26})",
}
"""What a reader takes from the output of one command for a later one, by the name pages give it."""

PLAIN = re.compile(r"dmp [^|&;<>$`\\~*]+")
"""A command that a shell changes nothing of, but for quotes and a comment."""


def commands(page: str) -> Iterator[str]:
    """The commands of a page, in order: lines after `$ ` in console blocks, all lines in sh blocks."""
    for language, block in FENCE.findall((ROOT / page).read_text()):
        assert language in COMMANDS + DATA, f"{page} has a block of {language!r}"
        for line in block.splitlines():
            if language == "sh" and line.strip():
                yield line
            elif language == "console" and line.startswith("$ "):
                yield line.removeprefix("$ ")


class Shell:
    """Somebody who types what a page says, and fills in what earlier commands printed.

    `forks`: a plain command is a forked process (`tests.e2e.forked`), and not the real program in a real shell.
    """

    def __init__(self, home: Path, *, forks: bool = False, **variables: str) -> None:
        self._home = home
        self._forks = forks
        self._environment = {**environment(home), **variables}
        self._known: dict[str, str] = {}

    def run(self, command: str) -> None:
        filled = re.sub(r"<([a-z-]+)>", lambda found: self._known[found[1]], command)
        code, told = (self._fork if self._forks and PLAIN.fullmatch(filled) else self._type)(filled)
        assert code == 0, f"{filled}\n{told}"
        self._learn(told)

    def _fork(self, command: str) -> tuple[int, str]:
        _, *arguments = shlex.split(command, comments=True)
        code, out, err = forked.run(arguments, env=self._environment, seconds=PATIENCE, folder=self._home)
        return code, (err + out).decode()

    def _type(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT if command.startswith("python -m tests.") else self._home,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout

    def _learn(self, out: str) -> None:
        for name, pattern in LEARNT.items():
            found = re.search(pattern, out, re.MULTILINE)
            if found is not None:
                self._known[name] = found[1]


def type_all(page: str, shell: Shell) -> int:
    typed = 0
    for command in commands(page):
        target = re.fullmatch(r"make (\w+)(?: \w+=\w+)*", command)
        if target is not None:  # this runs inside one of them
            assert re.search(rf"^{target[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        elif command != ". .venv/bin/activate":
            shell.run(command)
            typed += 1
    return typed


@pytest.mark.parametrize("page", FROM_NOTHING)
def test_a_page_that_starts_from_nothing_runs(page: str, tmp_path: Path) -> None:
    assert type_all(page, Shell(tmp_path)) > 10


@pytest.mark.parametrize("page", IN_A_TEAM)
def test_a_page_for_people_in_a_team_runs(page: str, orchard: Town, ada: Person) -> None:
    home = orchard.folder / "home"
    orchard.repository.rename(home / "team.git")
    orchard.repository.symlink_to(home / "team.git")
    with (home / "team.jsonl").open("wb") as file:
        for person in ("ada", "bob"):
            lane = f"dmp-federation:fed/{orchard.person(person, init=False).replica}/000000000001.jsonl"
            subprocess.run(
                ["git", "--git-dir=team.git", "show", lane],
                cwd=home,
                env=environment(home),
                stdout=file,
                check=True,
            )
    type_all(page, Shell(home, forks=True, DMP_DIR=str(ada.root)))


def test_the_pages_link_to_pages_that_are_there() -> None:
    for page in [*FROM_NOTHING, *IN_A_TEAM, SERVED]:
        text = (ROOT / page).read_text()
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_commands_of_the_help_are_all_on_a_page() -> None:
    shown = " ".join(command for page in [*FROM_NOTHING, *IN_A_TEAM, SERVED] for command in commands(page))
    assert [name for name in main.COMMANDS if f"dmp {name}" not in shown] == []
