"""The three things asked of a remote: what it has, to hand it over, and to take a commit."""

from dataclasses import dataclass
from typing import Final

from transports.base import Unreachable
from transports.git import answers
from transports.git.clone import Clone, outgoing_refs
from transports.git.limits import Limits
from transports.git.run import BoundsError, Done
from transports.remotes import Remote

_FETCH: Final = (
    *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="),
    *("--update-shallow", "--"),  # else git passes over the branch of a shallow repository, and says nothing
)
_PUSH: Final = ("push", "--porcelain", "--no-verify", "--")
_QUESTION: Final = ("ls-remote", "--quiet", "--")


class DamagedError(Exception):
    """A command failed in a way that the clone may be the cause of."""


@dataclass(frozen=True, slots=True)
class FarSide:
    """A branch of a remote, as the clone reaches it."""

    remote: Remote
    branch: str
    clone: Clone
    limits: Limits

    def fetch(self, ref: str) -> bool:
        """Bring `ref` of the clone up to date; False where nobody has published yet.

        Whatever the far side says is followed, backwards too. Raises Unreachable, DamagedError.
        """
        doing = f"fetching from {self.remote.shown}"
        done = self._run(doing, *_FETCH, self.remote.url, f"+{self._name}:{ref}")
        if done.code == 0:
            return True
        if answers.branch_is_missing(done.said):
            return False
        if answers.speaks_of_damage(done.said) or self.clone.is_broken():
            raise DamagedError(done.said)
        raise answers.unreachable(doing, done.said)

    def push(self, commit: str) -> None:
        """Let the branch be `commit`, if that follows what the branch is now.

        What is pushed has the branch's own name in a folder that holds nothing else: git takes the target of
        a single ref for ambiguous where anybody has made a ref whose name ends in it.

        Raises Behind, Refused, Unreachable, DamagedError, OSError.
        """
        outgoing = outgoing_refs(self.remote.url, self.branch)
        self.clone.loose.point(f"{outgoing}/{self.branch}", commit)
        doing = f"publishing to {self.remote.shown}"
        done = self._run(doing, *_PUSH, self.remote.url, f"{outgoing}/*:refs/heads/*")
        try:
            answers.check_push(done, self.remote.shown)
        except Unreachable:
            if answers.speaks_of_damage(done.said):
                raise DamagedError(done.said) from None
            raise

    def tip(self) -> str:
        """Return the branch's commit without fetching anything; '' where there is none. Raises Unreachable."""
        doing = f"asking {self.remote.shown}"
        done = self._run(doing, *_QUESTION, self.remote.url, self._name, seconds=self.limits.question_seconds)
        if done.code:
            raise answers.unreachable(doing, done.said)
        # A question is answered with every ref whose name ends in what was asked for.
        refs = (line.partition("\t") for line in done.out.decode("utf-8", "replace").split("\n"))
        return next((oid for oid, _, name in refs if name == self._name), "")

    @property
    def _name(self) -> str:
        return f"refs/heads/{self.branch}"

    def _run(self, doing: str, *arguments: str, seconds: float | None = None) -> Done:
        try:
            return self.clone.runner.network(
                self.remote.protocols,
                *arguments,
                seconds=self.limits.network_seconds if seconds is None else seconds,
                grown=self.clone.incoming,
            )
        except BoundsError as error:
            raise answers.unreachable(doing, f"git {error}") from None
