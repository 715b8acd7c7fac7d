"""The roster: who is in the team, with what rights, as a pure fold over signed ops (federation wire 5, 2.4).

`foundings` says which teams a set of ops could be about, `resolve` and `fold` what the ops of one of them
come to (a `View`). `bodies` reads and writes what an op says, `walk` applies it in fold order, `rights`
says what a publisher may do at an op. Removals are decided before the walk that counts: `removals` decides
those that no other can affect, by `reach`, and `contested` settles the rest, looking at all outcomes of a
contest at once (`cases`).

Every answer is a function of a set, so it does not depend on the order in which ops arrived. `growing` keeps the
fold of the ops so far and takes in one more without folding all of them again; nothing else keeps state. A replica
holds one for as long as it runs; an audit, and a change that is to be judged before it is signed, fold all ops at once.
"""

from crypto.roster.claims import resolve
from crypto.roster.fold import FoundingError, fold
from crypto.roster.founding import Candidates, Founding, Pin, foundings
from crypto.roster.growing import GrowingRoster
from crypto.roster.notes import Ignored, Note
from crypto.roster.ops import Key, RosterOp
from crypto.roster.view import Cut, Decision, Invite, Member, View

__all__ = [
    "Candidates",
    "Cut",
    "Decision",
    "Founding",
    "FoundingError",
    "GrowingRoster",
    "Ignored",
    "Invite",
    "Key",
    "Member",
    "Note",
    "Pin",
    "RosterOp",
    "View",
    "fold",
    "foundings",
    "resolve",
]
