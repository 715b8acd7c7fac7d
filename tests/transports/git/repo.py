"""A bare repository that is the far side of git transports, and a hand that writes anything into it."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from transports.git import GitTransport, Limits
from transports.remotes import DEFAULT_BRANCH, Source, parse_remote

_ANYBODY = {
    "GIT_AUTHOR_NAME": "anybody",
    "GIT_AUTHOR_EMAIL": "anybody@example.invalid",
    "GIT_COMMITTER_NAME": "anybody",
    "GIT_COMMITTER_EMAIL": "anybody@example.invalid",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
}

FILE, TREE, LINK, MODULE = "100644", "40000", "120000", "160000"


class FakeTime:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class GitFarSide:
    """The branch of a bare repository in `folder`; transports have directories of their own beside it."""

    folder: Path
    branch: str = DEFAULT_BRANCH
    limits: Limits = field(default_factory=Limits)
    _opened: int = 0

    def __post_init__(self) -> None:
        subprocess.run(["git", "init", "--quiet", "--bare", str(self.bare)], check=True, env=_ANYBODY)

    @property
    def bare(self) -> Path:
        return self.folder / "remote.git"

    def open(self, name: str = "") -> GitTransport:
        """Open a transport in the directory of this name, a fresh one by default."""
        self._opened += 1
        time = FakeTime()
        return GitTransport(
            parse_remote(str(self.bare), Source.TYPED),
            self.folder / (name or f"near-{self._opened}"),
            self.branch,
            limits=self.limits,
            clock=time.clock,
            sleep=time.sleep,
            rest=time.sleep,
            random=lambda: 0.5,
        )

    def cut(self) -> None:
        self.bare.rename(self.folder / "away.git")

    def mend(self) -> None:
        (self.folder / "away.git").rename(self.bare)

    def put(self, replica: str, *raws: bytes) -> None:
        """Add a segment to a lane, named after those it has."""
        fed = self.entries_at("fed")
        lane = self.entries_at(f"fed/{replica}")
        name = f"{len(lane) + 1:012d}.jsonl"
        lane[name] = (FILE, self.blob(b"".join(raw + b"\n" for raw in raws)))
        self.write(fed | {replica: (TREE, self.tree(lane))})

    def write(self, fed: dict[str, tuple[str, str]], **others: tuple[str, str]) -> None:
        """Commit a root that holds this as `fed`, and the other entries of the tip besides."""
        root = self.entries(self.tip()) if self.tip() else {}
        self.write_root(root | {"fed": (TREE, self.tree(fed))} | others)

    def write_root(self, root: dict[str, tuple[str, str]]) -> None:
        parent = ["-p", self.tip()] if self.tip() else []
        commit = self.git("commit-tree", *parent, "-m", "by hand", self.tree(root)).decode().strip()
        self.git("update-ref", f"refs/heads/{self.branch}", commit)

    def tip(self) -> str:
        return (
            self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{self.branch}").decode().strip()
        )

    def entries(self, tree: str) -> dict[str, tuple[str, str]]:
        """Return the (mode, object id) of each entry of a tree."""
        found = {}
        for line in self.git("ls-tree", "-z", tree).split(b"\0")[:-1]:
            about, name = line.split(b"\t", 1)
            mode, _, oid = about.decode().split(" ")
            found[name.decode()] = (mode, oid)
        return found

    def entries_at(self, path: str) -> dict[str, tuple[str, str]]:
        """Return the entries of a folder of the branch; of none where there is no such folder."""
        found = self.git("ls-tree", self.tip(), path).decode().split() if self.tip() else []
        return self.entries(found[2]) if found else {}

    def files(self) -> dict[str, str]:
        """Return the object id of every file on the branch, by path."""
        lines = self.git("ls-tree", "-r", "-z", self.tip()).split(b"\0")[:-1]
        return {line.split(b"\t")[1].decode(): line.split(b"\t")[0].decode().split(" ")[2] for line in lines}

    def content(self, path: str) -> bytes:
        return self.git("cat-file", "blob", f"{self.tip()}:{path}")

    def blob(self, data: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", stdin=data).decode().strip()

    def tree(self, entries: dict[str, tuple[str, str]]) -> str:
        """Write a tree of entries in git's order, whatever their modes and objects are."""
        ordered = sorted(entries.items(), key=lambda item: item[0] + ("/" if item[1][0] in TREES else ""))
        data = b"".join(
            f"{mode.lstrip('0')} {name}".encode() + b"\0" + bytes.fromhex(oid)
            for name, (mode, oid) in ordered
        )
        return (
            self.git("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=data).decode().strip()
        )

    def hook(self, name: str, script: str) -> None:
        path = self.bare / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        command = ["git", f"--git-dir={self.bare}", *arguments]
        return subprocess.run(command, input=stdin, check=True, capture_output=True, env=_ANYBODY).stdout


TREES = (TREE, "040000")
