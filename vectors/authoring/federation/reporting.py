"""State ops: what homes report of deliveries, and what comes of it where a message was created (sections F.4, F.5)."""

from collections.abc import Sequence
from typing import Any, Final

from vectors.authoring.cast import mark_read
from vectors.authoring.federation.author import START_MS
from vectors.authoring.federation.teams import (
    ADA,
    ADA2,
    BOB,
    CY,
    DESK,
    OBI,
    Team,
    mid,
    refusal,
    report,
    target,
)
from vectors.authoring.host_steps import delivery
from vectors.authoring.kit import Expected, Json, vector

M: Final = mid(1)
TASK: Final = "task:t-0ddba1"
RUN: Final = "run:r-0dd001"

MOST: Final = 500
"""Entries of one state op."""

STATES: Final = ("held", "pushed", "notified", "read", "answered")


def case(
    id: str,
    title: str,
    team: Team,
    *steps: Expected,
    sections: tuple[str, ...] = ("F.4",),
    **then: Any,
) -> Json:
    return vector(f"state-merge.{id}", title, *steps, sections=sections, given=team.given, **then)


def row(recipient: str = "human:ada", *homes: str, state: str = "forwarded") -> Json:
    """A row of the message that Bob sent."""
    return {
        "message": M,
        "recipient": recipient,
        "via": "direct",
        "homes": sorted(homes or (ADA,)),
        "state": state,
    }


def sent(*rows: Json, more: Sequence[str] = (), **members: Any) -> Team:
    """Bob sent a message, by default to Ada."""
    rows = rows or (row(),)
    message = {
        "id": M,
        "from": "human:bob",
        "to": [each["recipient"] for each in rows],
        "kind": members.pop("kind", "message"),
        "body": "Look.",
        "hlc": f"{START_MS}.0000.{BOB}",
    }
    return Team(BOB, *more, **members).begin(store={"messages": [message]}, remote=list(rows))


def said(team: Team, *entries: Json, by: str = ADA) -> Team:
    """A replica publishes a state op about it."""
    team.mates[by].state(team.bob, *entries)
    return team


def becomes(state: str, **more: Any) -> Json:
    """What the row to Ada is in the end."""
    return {"remote": [{"message": M, "recipient": "human:ada", "state": state, **more}]}


def rising() -> list[Json]:
    def goes(id: str, title: str, reports: Sequence[str], end: str) -> Json:
        team = sent()
        steps = []
        for state in reports:
            said(team, report(M, "human:ada", state))
            steps.append(team.sync(refused=[], left=[]))
        return case(id, title, team, *steps, **becomes(end))

    at_once = said(sent(), *(report(M, "human:ada", state) for state in ("read", "held", "notified")))
    return [
        *(
            goes(
                f"reported-{state}",
                f"A home reports its delivery as {state}, and the row says so",
                [state],
                state,
            )
            for state in STATES
        ),
        goes("rises-step-by-step", "A row takes each higher state its home reports", STATES, "answered"),
        goes(
            "never-falls",
            "A row keeps its state when a report of a lower one comes late",
            ["read", "notified", "held"],
            "read",
        ),
        goes("answered-is-the-last", "Nothing is higher than answered", ["answered", "read"], "answered"),
        goes(
            "pushed-is-no-higher-than-notified",
            "Pushed and notified are of one height",
            ["notified", "pushed"],
            "notified",
        ),
        goes("a-report-that-comes-twice", "A report may come twice", ["held", "held"], "held"),
        case(
            "several-in-one-op",
            "Of the entries of one op the highest counts, in whatever order they stand",
            at_once,
            at_once.sync(),
            **becomes("read"),
        ),
    ]


def believed() -> list[Json]:
    stranger = said(sent(), report(M, "human:ada", "read"), by=CY)
    both = sent(row(), row("human:cy", CY))
    said(both, report(M, "human:ada", "read"), report(M, "human:cy", "held"), by=CY)
    unreached = said(sent(more=[ADA2]), report(M, "human:ada", "read"), by=ADA2)
    observer = sent(row("human:ada", ADA, OBI), more=[OBI], roles={OBI: {"observer": True}})
    said(observer, report(M, "human:ada", "read"), by=OBI)
    revoked = sent(row("human:cy", CY))
    revoked.ada.revokes(revoked.cy)
    said(revoked, report(M, "human:cy", "read"), by=CY)
    unknown = said(sent(), report(mid(7), "human:ada", "read"))
    nobody = said(sent(), report(M, "human:cy", "read"))
    aside = sent()
    aside.ada.state(aside.cy, report(M, "human:ada", "read"))
    two = sent(row("human:ada", ADA, ADA2), more=[ADA2])
    said(two, report(M, "human:ada", "read"))
    said(two, report(M, "human:ada", "notified"), by=ADA2)
    hosted = sent(row("human:dee", CY), roles={CY: {"hosts": ["dee"]}})
    said(hosted, report(M, "human:dee", "read"), by=CY)
    return [
        case(
            "a-report-by-no-home",
            "A report counts only from a replica that homes the recipient",
            stranger,
            stranger.sync(),
            **becomes("forwarded"),
        ),
        case(
            "a-report-about-ones-own-alone",
            "A replica reports its own recipients, and no others in the same op",
            both,
            both.sync(),
            remote=[
                {"message": M, "recipient": "human:ada", "state": "forwarded"},
                {"message": M, "recipient": "human:cy", "state": "held"},
            ],
        ),
        case(
            "a-report-by-a-home-it-never-went-to",
            "A replica that the message never went to reports nothing of it",
            unreached,
            unreached.sync(),
            **becomes("forwarded"),
        ),
        case(
            "a-report-by-an-observer",
            "An observer's report does not count",
            observer,
            observer.sync(),
            **becomes("forwarded"),
        ),
        case(
            "a-report-after-a-cut",
            "A report by a revoked replica after its cut does not count",
            revoked,
            revoked.sync(),
            remote=[{"message": M, "recipient": "human:cy", "state": "forwarded"}],
        ),
        case(
            "a-report-about-an-unknown-message",
            "A report about a message that is not here is passed over",
            unknown,
            unknown.sync(parked=[], left=[]),
            **becomes("forwarded"),
        ),
        case(
            "a-report-about-who-is-no-recipient",
            "A report about someone who has no row makes none",
            nobody,
            nobody.sync(),
            **becomes("forwarded"),
        ),
        case(
            "a-report-to-others",
            "A state op that is not sealed to this replica is nothing to it",
            aside,
            aside.sync(),
            **becomes("forwarded"),
        ),
        case(
            "the-highest-of-several-homes",
            "A row's state is the highest that its homes report",
            two,
            two.sync(),
            **becomes("read", homes=[ADA, ADA2]),
        ),
        case(
            "a-report-by-a-host",
            "A replica that hosts a person reports for them",
            hosted,
            hosted.sync(),
            remote=[{"message": M, "recipient": "human:dee", "state": "read"}],
        ),
    ]


def refusals() -> list[Json]:
    def two() -> Team:
        return sent(row("human:ada", ADA, ADA2), more=[ADA2])

    one = said(sent(), refusal(M, "limited: too many"))
    half = said(two(), refusal(M))
    whole = two()
    said(whole, refusal(M))
    said(whole, refusal(M), by=ADA2)
    late = said(sent(), report(M, "human:ada", "held"), refusal(M))
    lifted = said(sent(), refusal(M))
    before = lifted.sync()
    said(lifted, report(M, "human:ada", "held"))
    stranger = said(sent(), refusal(M), by=CY)
    wide = sent(row(), row("human:cy", CY))
    said(wide, refusal(M), by=CY)
    theirs = Team(BOB).begin()
    theirs.ada.mail([theirs.bob, theirs.cy], theirs.ada.message(1, ["human:bob", "human:cy"]))
    known = theirs.sync()
    said(theirs, refusal(M), by=CY)
    again = said(sent(), refusal(M), refusal(M))
    told_of = said(sent(), refusal(M, "limited: too many"))
    return [
        case(
            "refused-by-its-only-home",
            "A row whose every home refused is refused",
            one,
            one.sync(),
            sections=("F.4", "F.5"),
            **becomes("refused"),
        ),
        case(
            "refused-by-one-of-two",
            "A row one of whose homes refused is not refused",
            half,
            half.sync(),
            **becomes("forwarded"),
        ),
        case(
            "refused-by-both",
            "A row both of whose homes refused is refused",
            whole,
            whole.sync(),
            **becomes("refused"),
        ),
        case(
            "refused-after-a-report",
            "A row that a home reported on is not refused any more",
            late,
            late.sync(),
            **becomes("held"),
        ),
        case(
            "a-report-lifts-a-refusal",
            "Any later report from a home takes the place of refused",
            lifted,
            before,
            lifted.sync(),
            **becomes("held"),
        ),
        case(
            "refused-by-no-home",
            "A refusal by a replica that is no home counts for nothing",
            stranger,
            stranger.sync(),
            **becomes("forwarded"),
        ),
        case(
            "refused-for-its-own-recipients",
            "A refusal is about the recipients that its publisher homes",
            wide,
            wide.sync(),
            remote=[
                {"message": M, "recipient": "human:ada", "state": "forwarded"},
                {"message": M, "recipient": "human:cy", "state": "refused"},
            ],
        ),
        case(
            "refused-elsewhere",
            "A refusal counts at the message's origin alone",
            theirs,
            known,
            theirs.sync(),
            remote=[{"message": M, "recipient": "human:cy", "state": "forwarded"}],
        ),
        case("refused-twice", "A refusal may come twice", again, again.sync(), **becomes("refused")),
        case(
            "the-sender-is-told",
            "The sender of a message that every home refused gets a notice",
            told_of,
            told_of.sync(),
            sections=("F.5",),
            messages=[
                {
                    "id": "$notice1",
                    "to": ["human:bob"],
                    "kind": "notice",
                    "replyTo": M,
                    "refs": [{"type": "message", "id": M}],
                }
            ],
            deliveries=[delivery("$notice1", "human:bob", "notified")],
        ),
    ]


def malformed() -> list[Json]:
    good = report(M, "human:ada", "read")

    def dropped(id: str, title: str, *entries: Any) -> Json:
        team = sent()
        team.ada.state(team.bob, *entries)
        said(team, report(M, "human:ada", "held"))
        sections = ("F.1", "F.4") if len(entries) > MOST else ("F.4",)
        return case(id, title, team, team.sync(left=[], parked=[]), sections=sections, **becomes("held"))

    full = sent()
    said(full, *[report(M, "human:ada", "held")] * (MOST - 1), report(M, "human:ada", "notified"))
    return [
        dropped(
            "sending-is-never-reported",
            "An op that reports a delivery as sending is dropped whole, and what follows counts",
            good,
            {**good, "state": "sending"},
        ),
        dropped(
            "an-entry-of-no-kind", "One entry that is none makes the op malformed", good, {"t": "rumour"}
        ),
        dropped(
            "an-entry-without-a-recipient", "A report names its recipient", good, {**good, "recipient": None}
        ),
        dropped(
            "an-entry-without-a-time",
            "An entry says when",
            {name: good[name] for name in good if name != "at"},
        ),
        dropped(
            "a-state-that-no-home-reports",
            "A state op that reports a state only an origin gives is dropped whole",
            good,
            report(M, "human:ada", "forwarded"),
        ),
        dropped("over-500-entries", "A state op carries at most 500 entries", *[good] * (MOST + 1)),
        case(
            "500-entries",
            "A state op carries up to 500 entries",
            full,
            full.sync(),
            sections=("F.1", "F.4"),
            **becomes("notified"),
        ),
    ]


def told() -> list[Json]:
    """What Bob's replica tells of the deliveries here."""

    def heard(*readers: str, more: Sequence[str] = (), **members: Any) -> tuple[Team, Expected]:
        team = Team(BOB, *more).begin()
        mates = [team.mates[each] for each in readers]
        people = dict.fromkeys(mate.address for mate in mates)
        message = team.ada.message(1, list(people), **members)
        team.ada.mail(mates, message)
        return team, team.sync()

    read, came = heard(BOB, CY)
    asked, arrived = heard(BOB, kind="question", choices=["yes", "no"])
    desk, both = heard(BOB, DESK, more=[DESK])
    desk.mates[DESK].state([desk.bob, desk.ada], report(M, "human:bob", "read"))
    waits, question = heard(BOB, DESK, more=[DESK], kind="question", choices=["yes", "no"])
    waits.mates[DESK].state([waits.bob, waits.ada], report(M, "human:bob", "read"))
    other, there = heard(BOB, CY)
    other.cy.state([other.bob, other.ada], report(M, "human:bob", "read"))
    return [
        case(
            "read-is-reported",
            "A delivery that is read is reported to the origin and to every replica that has the message",
            read,
            came,
            (mark_read(M, "human:bob"), {"ok": True, "result": {"state": "read"}}),
            read.sync(reported=[{"to": [ADA, CY], "message": M, "recipient": "human:bob", "state": "read"}]),
            deliveries=[delivery(M, "human:bob", "read")],
        ),
        case(
            "answered-is-reported",
            "A question's delivery that is answered is reported",
            asked,
            arrived,
            (
                {
                    "op": "reply",
                    "as": {"address": "human:bob", "canDecide": False},
                    "message": M,
                    "input": {"body": "Yes.", "choice": "yes"},
                },
                {"ok": True},
            ),
            asked.sync(reported=[{"to": [ADA], "message": M, "recipient": "human:bob", "state": "answered"}]),
            sections=("F.4", "F.6"),
            deliveries=[delivery(M, "human:bob", "answered")],
        ),
        case(
            "read-on-another-machine",
            "What a person read on one machine is read on the others",
            desk,
            both,
            desk.sync(),
            deliveries=[delivery(M, "human:bob", "read")],
        ),
        case(
            "a-question-read-on-another-machine",
            "A question that waits is hidden by no report",
            waits,
            question,
            waits.sync(),
            deliveries=[delivery(M, "human:bob", "notified")],
        ),
        case(
            "read-by-another-person",
            "A report by a replica that does not home a person moves no delivery of theirs",
            other,
            there,
            other.sync(),
            deliveries=[delivery(M, "human:bob", "notified")],
        ),
        *taken_over(),
    ]


def taken_over() -> list[Json]:
    def held() -> Team:
        team = Team(BOB)
        team.ada.task(TASK, title="Row 7", status="working", assignee="human:bob")
        team.begin()
        message = team.ada.message(1, TASK)
        team.ada.mail([team.bob, team.cy], message, [target(TASK, team.bob)])
        return team

    ran, never = held(), held()
    first, other = ran.sync(), never.sync()
    ran.cy.runs(RUN, TASK)
    ran.cy.state([ran.bob, ran.ada], report(M, TASK, "pushed"))
    never.cy.state([never.bob, never.ada], report(M, TASK, "pushed"))
    return [
        case(
            "held-mail-that-was-taken-over",
            "Mail held here for a work item is let go once a replica that ran it reports it pushed",
            ran,
            first,
            ran.sync(),
            noDeliveries=[M],
        ),
        case(
            "held-mail-that-was-not",
            "A replica that never ran a work item takes over none of its mail",
            never,
            other,
            never.sync(),
            deliveries=[delivery(M, TASK, "held")],
        ),
    ]


VECTORS = [*rising(), *believed(), *refusals(), *malformed(), *told()]
