"""Every kind of problem: what it means, whether a person may put it away, and what to do about it (wire 12).

A subject is a kind and what it is about, `halt:ada-0000000a`. Who notes a problem takes its subject from here, so that
each has a remedy, and the pages that list them can be compared with this table.

Most clear themselves when their cause is gone. What tells of one thing that happened stays until a person has seen it
and says so (`dmp problems ack`); it comes back when there is something new to say. What would go on hurting while
nobody sees it can only be mended.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """What subjects that begin with `prefix` are about.

    `seen` tells whether a person may say that they have seen it, after which it is not shown any more; `clears`,
    whether it goes away by itself. `remedy` is what the person who reads it can do.
    """

    prefix: str
    meaning: str
    remedy: str
    seen: bool = False
    clears: bool = False

    def of(self, *about: object) -> str:
        """The subject of a problem of this kind: about a replica, or an op by its replica and seq."""
        return ":".join((self.prefix, *map(str, about)))

    def covers(self, subject: str) -> bool:
        """Whether a subject is of this kind."""
        return subject == self.prefix or subject.startswith(f"{self.prefix}:")


_VERSION: Final = "ask its author which version they run; nothing else of theirs is held up"

HALT: Final = Kind(
    "halt",
    "a replica's log goes no further here: it contradicts itself, something in it was damaged, or an op is missing",
    "`dmp audit` says which. Put a damaged or lost file on the branch back as it was (`git revert`); a log that "
    "contradicts itself is never mended: revoke the replica, and let its owner join afresh",
    clears=True,
)
WITHHELD: Final = Kind(
    "withheld",
    "the remote seems to keep back what a replica published: somebody's signed word tells of a later op, or an op that "
    "was read is not there any more",
    "ask the replica's owner, by voice, what they published last; look who can push to the branch, and whether it was "
    "set back. Where the word is false, ask whoever gave it",
    clears=True,
)
UNACKNOWLEDGED: Final = Kind(
    "unacknowledged",
    "a teammate's machine goes on publishing, but has not acknowledged for a day what this one published: this "
    "log may be stuck there, or the remote shows that machine something else than this one",
    "have its owner look at `dmp problems` there, and compare what you both see on the remote",
    seen=True,
    clears=True,
)
CLOCK: Final = Kind(
    "clock",
    "a replica's clock is over 5 minutes ahead; its ops wait until that time comes",
    "its owner sets the clock",
    clears=True,
)
LINES: Final = Kind(
    "lines",
    "lines in a replica's lane link to nothing in its log, and were passed over",
    "look who pushes to the branch",
    clears=True,
)
BLOAT: Final = Kind(
    "transport:bloat",
    "the branch grows: it takes more than a gigabyte, or a machine that has not been heard of for a month keeps mail "
    "on it that everybody else has",
    "revoke a machine that is gone, then run `dmp team compact`; what the history of a branch takes, only a new branch "
    "does not have",
    seen=True,
    clears=True,
)
TRANSPORT: Final = Kind(
    "transport",
    "something on the branch is no op, and was passed over",
    "look who pushes to the branch",
    seen=True,
)
SET_BACK: Final = Kind(
    "set-back",
    "a transport besides the main one does not hold any more what was seen there; this machine's own ops are published "
    "there again",
    "look who can write there; what the team's main transport has is not touched",
    seen=True,
)
MOVE: Final = Kind(
    "move",
    "an admin moved the team to another main transport, and this machine cannot follow yet; it goes on over the one "
    "before, and tries again with every sync",
    "do what the text says; where nothing helps, ask the admin who moved the team",
    clears=True,
)
FLAGGED: Final = Kind(
    "flagged",
    "a line names one member twice; the last one counts",
    "ask its author which version they run",
    seen=True,
)
MISSING: Final = Kind(
    "missing",
    "mail came without its content; its author was told, and publishes it again if that is still possible",
    "wait, or ask its author",
    clears=True,
)
KEY: Final = Kind(
    "key",
    "more keys than are kept claim one replica's id",
    "admit the right machine by its fingerprint: the others then count for nothing",
    seen=True,
)
OP: Final = Kind(
    "op",
    "an op has no effect, or waits because it cannot be judged yet",
    "what waits is tried again by itself; of what has no effect, ask its author what they meant to do",
    clears=True,
)
ROSTER: Final = Kind(
    "roster",
    "more roster ops have no effect than are listed one by one",
    "`dmp audit` lists them all; ask their author, or revoke the replica",
)
REPLICA: Final = Kind(
    "replica",
    "a machine let itself in as an admin with the recovery code",
    "ask its owner, by voice, whether it was them. If nobody knows it, revoke it at once; make a new code in any case "
    "(`dmp team recovery-key`)",
)
INVITE: Final = Kind(
    "invite",
    "an invite was used twice, after it was spent, too late, or may not admit who used it",
    "admit the right machine by its fingerprint",
    seen=True,
    clears=True,
)
READS: Final = Kind(
    "reads",
    "a machine came to read mail of yours: another machine of yours, one that an admin let host your handle, or one "
    "that reads along in all mail",
    "if you do not know it, ask an admin by whose word it was let in (`dmp team roster`), and have it revoked",
    seen=True,
    clears=True,
)
CUT: Final = Kind(
    "cut",
    "a replica that was revoked goes on publishing; it is not applied",
    "nothing; tell its owner, if it is a mistake",
    seen=True,
)
OBSERVER: Final = Kind(
    "observer",
    "a machine that only reads along publishes more than that it is there; it is not applied",
    "ask its owner which version they run",
    seen=True,
)
QUOTA: Final = Kind(
    "quota",
    "a replica publishes more than an hour's quota; the rest waits",
    "wait, or ask its owner what is running there",
    seen=True,
    clears=True,
)
MALFORMED: Final = Kind("malformed", "mail could not be read, and was dropped", _VERSION, seen=True)
MAIL_DROP: Final = Kind(
    "mail-drop",
    "mail breaks a rule, and was dropped or refused; its author was told where that helps",
    _VERSION,
    seen=True,
)
COLLISION: Final = Kind(
    "collision",
    "one message id came with two contents; the one that came first is kept, and the other's author was told",
    "ask both authors, naming the two ops: one of them, or a machine that saw the id first, does not tell the truth",
    seen=True,
)
SPEAKS_FOR: Final = Kind(
    "speaks-for",
    "mail names a sender for whom its replica does not speak, and was dropped",
    "ask its author; an admin says for whom a machine speaks (`dmp team hosts`)",
    seen=True,
)
MESSAGE: Final = Kind(
    "message",
    "a replica settled a question that is not its own, and was not believed; or settled its own in two ways",
    _VERSION,
    seen=True,
)
TASK: Final = Kind("task", "an op about a work item breaks a rule, and changed nothing", _VERSION, seen=True)
AGENT: Final = Kind("agent", "an op about an agent breaks a rule, and changed nothing", _VERSION, seen=True)
CHANNEL: Final = Kind(
    "channel", "an op about a channel breaks a rule, and changed nothing", _VERSION, seen=True
)
PRESENCE: Final = Kind(
    "presence", "an op about a session or a machine breaks a rule, and changed nothing", _VERSION, seen=True
)
MEMORY: Final = Kind("memory", "an op of team memory breaks a rule, and changed nothing", _VERSION, seen=True)
MEMORY_QUOTA: Final = Kind(
    "memory-quota",
    "a replica makes more entries of memory than an hour's quota; the rest waits",
    "wait, or ask its owner what is running there",
    seen=True,
    clears=True,
)
MEMORY_CAP: Final = Kind(
    "memory-cap",
    "more changes of memory from one replica, behind which no human stands, wait for you than are asked about at once",
    "answer those that are open (`dmp memory proposals`), or set `memory.teammates` in `config.toml`",
    clears=True,
)
DOC: Final = Kind("doc", "an op about a document breaks a rule, and changed nothing", _VERSION, seen=True)
DOC_QUOTA: Final = Kind(
    "doc-quota",
    "a replica makes more documents than an hour's quota; the rest waits",
    "wait, or ask its owner what is running there",
    seen=True,
    clears=True,
)
RUN_CONFLICT: Final = Kind(
    "run-conflict",
    "two replicas say that one session is theirs; it is nobody's until that is decided",
    "ask both; an admin says whose it is (`dmp session resolve`), or revokes the one that lies",
    seen=True,
    clears=True,
)
FOUNDING: Final = Kind(
    "team:founding",
    "more than one team was founded on this branch",
    "ask for the founder's fingerprint, by voice, and run `dmp team trust FINGERPRINT`; or join with an invite code, "
    "which names one team",
    clears=True,
)
NEWER: Final = Kind(
    "team:paused",
    "the roster says something that only a newer version reads; nothing of anyone is applied until then",
    "upgrade; or, if nobody has a version that knows it, an admin takes that op out (`dmp team dismiss`)",
    clears=True,
)
OWN_PAUSED: Final = Kind(
    "own:paused",
    "this directory looks restored from an older backup, so it signs nothing",
    "use the newest copy; or, if nothing signed here was lost, run `dmp resume`",
    clears=True,
)
OWN_RESTORED: Final = Kind(
    "own:restored",
    "this directory was restored from a backup, so it signs nothing before it has read back what it published",
    "`dmp sync`, while the team's main transport can be reached",
    clears=True,
)
OWN_STOPPED: Final = Kind(
    "own:stopped",
    "this replica's key was used elsewhere, so it signs nothing ever again",
    "make a new replica in another directory (`dmp init`), join with it, and have this one revoked",
)
CONFIG: Final = Kind(
    "config",
    "what is set for this replica, in `config.toml` or the environment, has a fault, and counts for nothing",
    "mend it; `dmp service config` shows what may be set",
    clears=True,
)

KINDS: Final = tuple(each for each in vars().values() if isinstance(each, Kind))
"""Every kind, as above."""

_OTHER: Final = Kind("", "something that another version noted", "upgrade, and sync again", seen=True)


def kind_of(subject: str) -> Kind:
    """The kind of a subject. One that an earlier or later version noted is of a kind of its own."""
    return next((kind for kind in KINDS if kind.covers(subject)), _OTHER)


def of_type(op_type: str) -> Kind:
    """The kind of problems with ops of a type that is shared state."""
    kind = kind_of(op_type)
    return Kind(op_type, _OTHER.meaning, _OTHER.remedy, seen=True) if kind is _OTHER else kind
