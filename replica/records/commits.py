"""Every point where this room commits. A crash test visits each one, before and after."""

from enum import StrEnum


class CommitPoint(StrEnum):
    """A transaction of the replica, by what it makes lasting."""

    CREATED = "created"  # a new replica and whose it is
    BEGUN = "begun"  # a try to found or join: what an earlier one read is forgotten, its remote replaced
    FOUNDED = "founded"  # a founding, its recovery key and its roster ops
    JOINED = "joined"  # the remote and the key op of a machine that asks to be admitted
    PINNED = "pinned"  # which founding this replica follows
    CLAIMED = "claimed"  # key claims seen in lanes
    INVITED = "invited"  # an invite's seed, and its roster op
    ADMITTED = "admitted"  # an admission, and the invite it spends
    ROSTER_SIGNED = "roster-signed"  # any other change of the roster
    SHARED = "shared"  # local edits of shared state turned into signed ops
    REFOLDED = "refolded"  # shared state computed anew from the ops that count
    HANDED_ON = "handed-on"  # held mail queued for the replica where its work item's session lives
    SIGNED = "signed"  # outbox rows turned into signed ops
    READERS_LEFT = "readers-left"  # a signed op withdrawn to its stub, its remaining readers queued anew
    PRUNED = "pruned"  # own mail that everybody has turned into stubs
    PUBLISHED = "published"  # own ops that the transport now has
    ACKNOWLEDGED = "acknowledged"  # what teammates hold, from their acknowledgements
    APPLIED = "applied"  # received ops, all they changed, and the cursors past them
    FAULTS = "faults"  # where chains halt, stall or wait
    SYNCED = "synced"  # the end of a pass: what was acknowledged, and the tip it saw
    VISITED = "visited"  # what a transport besides the main one showed and took, or why it did not
    MOVED = "moved"  # another main transport, which has this replica's whole log
    STOPPED = "stopped"  # signing stopped for good, or paused
    RESUMED = "resumed"  # a pause overridden by its owner
    PROBLEM = "problem"  # something a person should know
    WORK_ITEM = "work-item"  # a work item made or changed
    MEMORY = "memory"  # an entry written to, or a proposal made, asked about or decided
    AGENT = "agent"  # an agent registered, muted or heard again, or revoked
    DOCUMENT = "document"  # something said of a document
    SESSION = "session"  # a session made, begun or ended
    EFFECT = "effect"  # what an answered gate changed here
    TOKEN = "token"  # who may use the host API
