"""`dmp sync`: publish, pull, apply; once, or for as long as it runs."""

import signal
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

import click

from core.errors import Code, DmpError
from crypto.canonical import JsonValue
from replica.cli.connection import remembered_link, sync_pass
from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import REFUSED, Failure, failure_of
from replica.cli.messages import UNREAD
from replica.cli.standing import no_part
from replica.cli.text import counted
from replica.elsewhere import Fault
from replica.host.problems import all_problems
from replica.moving import is_relay
from replica.node import DirectoryNode, Node
from replica.passes import Outcome, catch_up, passes
from replica.records import outbox
from replica.records.link import Link
from replica.sync import Report
from replica.team.transport import DISCLOSURE
from replica.ways import Ways
from transports.base import TransportError
from transports.fault_spec import FaultSpec, SpecError, read_faults


@command("sync")
@click.option("--watch", is_flag=True, help="Keep syncing until interrupted.")
@click.option(
    "--interval",
    type=click.FloatRange(1, 3600),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="With --watch: the longest time between two passes.",
)
@click.option(
    "--faults",
    "script",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="For tests: let the transports do badly what this file says.",
)
@pass_cli
def sync(cli: Cli, watch: bool, interval: float, script: Path | None) -> None:
    """Publish what waits here, and fetch what teammates sent.

    Exits 1 when a transport does not do its part, or when this replica is paused; what waits is kept, and the other
    transports are served all the same. With --watch and --json there is one document a line for each pass.
    """
    faults = None if script is None else _faults(script)
    with cli.acting() as node:
        link = remembered_link(node)
        if watch:
            _watch(cli, node, link, interval, faults)
        before = _members(node)
        with Ways(node, faults=faults) as ways, sync_pass(cli.screen, node, ways.open(link), ways) as one:
            try:
                report = catch_up(one)
            except TransportError as error:
                raise _unreachable(node, error, one.besides) from None
        if report.paused is not None:
            raise Failure(str(Code.CONFLICT), report.paused, details=_report_json(node, report))
        if cli.as_json:
            cli.screen.document(_report_json(node, report))
        else:
            news = [*_roster_news(node, before), *_move_news(node, link)]
            cli.screen.say(_report_text(report), *news, *_standing(cli, node))
        if told := _faults_text(report):
            cli.screen.note(*told)
            click.get_current_context().exit(REFUSED)


def _faults(script: Path) -> FaultSpec:
    try:
        return read_faults(script)
    except (SpecError, OSError) as error:
        raise click.BadParameter(str(error), param_hint="--faults") from None


def _watch(cli: Cli, node: DirectoryNode, link: Link, interval: float, faults: FaultSpec | None) -> NoReturn:
    """Sync until interrupted. Raises DmpError when this replica has stopped for good."""
    screen = cli.screen
    trouble, members, here = "", _members(node), link
    reason: str | None = None
    seen: Mapping[str, int] = {}
    try:
        signal.signal(signal.SIGTERM, _end)
        screen.note("Syncing until interrupted (Ctrl-C).")
        for outcome in passes(node, link, interval, faults=faults, show=screen.working):
            if cli.as_json:
                screen.document(_outcome_json(node, outcome))
                continue
            told = _trouble(node, outcome)
            if told and told != trouble:
                screen.note(told)
            elif trouble and not told:
                screen.note("dmp: it works again")
            trouble = told
            if isinstance(outcome, Report) and (outcome.published or outcome.applied or outcome.refused):
                screen.say(_report_text(outcome))
            screen.say(*_roster_news(node, members), *_move_news(node, here))
            members, here = _members(node), remembered_link(node)
            if reason != (reason := no_part(node)) and reason is not None:
                screen.say(_silence(reason))
            screen.say(*_to_see(cli, node, seen))
            seen = _counts(node)
    except SystemExit:
        screen.note("Stopped. Nothing is lost: the next run goes on from here.")
        raise
    raise AssertionError("passes never end by themselves")


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def _trouble(node: Node, outcome: Outcome) -> str:
    """What keeps passes from doing all they should; empty when nothing does."""
    match outcome:
        case Report():
            paused = [] if outcome.paused is None else [f"dmp: paused: {outcome.paused}"]
            return "; ".join((*paused, *_faults_text(outcome)))
        case TransportError():
            return _unreachable(node, outcome).sentence()
        case DmpError():
            return f"dmp: {outcome.message} [{outcome.code}]"


def _outcome_json(node: Node, outcome: Outcome) -> dict[str, JsonValue]:
    match outcome:
        case Report():
            return _report_json(node, outcome)
        case TransportError():
            return _unreachable(node, outcome).to_json()
        case DmpError():
            failure = failure_of(outcome)
            assert failure is not None
            return failure.to_json()


def _faults_text(report: Report) -> list[str]:
    """Which transports besides the main one did not do their part. Of a former main one nobody expects it any more."""
    return [
        f"dmp: {fault.error.message.rstrip('.')}{f' ({fault.error.hint})' if fault.error.hint else ''}; "
        f"the others were served [{_code_of(fault)}]"
        for fault in report.faults
        if not fault.only_read
    ]


def _code_of(fault: Fault) -> str:
    failure = failure_of(fault.error)
    assert failure is not None
    return failure.code


def _faults_json(report: Report) -> list[JsonValue]:
    return [
        {
            "address": fault.link.shown,
            "branch": fault.link.branch,
            "former": fault.only_read,
            "code": _code_of(fault),
            "message": fault.error.message,
        }
        for fault in report.faults
    ]


def _unreachable(node: Node, error: TransportError, besides: Report | None = None) -> Failure:
    """The failure of a pass, with how much waits here, and what came by other ways."""
    failure = failure_of(error)
    assert failure is not None
    waiting = len(outbox.waiting_messages(node.store.db))
    kept = (
        f"{counted(waiting, 'message')} {'waits' if waiting == 1 else 'wait'} here for the remote to take"
        if waiting
        else "No message of yours waits here"
    )
    details: dict[str, JsonValue] = {"waiting": {"messages": waiting}}
    came = ""
    if besides is not None:
        details |= {"applied": besides.applied, "refused": besides.refused, "faults": _faults_json(besides)}
        came = f". {counted(besides.applied, 'op')} came over other transports" if besides.applied else ""
    return Failure(
        failure.code, f"{failure.message.rstrip('.')}. {kept}{came}", hint=failure.hint, details=details
    )


def _report_json(node: Node, report: Report) -> dict[str, JsonValue]:
    return {
        "published": report.published,
        "applied": report.applied,
        "refused": report.refused,
        "waiting": {"messages": len(outbox.waiting_messages(node.store.db))},
        "paused": report.paused,
        "admitted": no_part(node) is None,
        "unread": _unread(node),
        "toAdmit": _to_admit(node),
        "problems": len(all_problems(node)),
        "faults": _faults_json(report),
    }


def _report_text(report: Report) -> str:
    if not (report.published or report.applied or report.refused):
        return "Nothing new."
    parts = [f"Published {counted(report.published, 'op')}, applied {report.applied}."]
    if report.refused:
        parts.append(f"Refused {report.refused}.")
    return " ".join(parts)


def _members(node: Node) -> frozenset[str]:
    return frozenset() if node.team is None else frozenset(node.team.view.members)


def _roster_news(node: Node, before: frozenset[str]) -> list[str]:
    """Who came into the team and who left it; an invite admits by itself, so people must hear of it."""
    team, now = node.team, _members(node)
    if team is None:
        return []
    found = []
    for replica in sorted(now - before):
        whose = "This machine" if replica == node.me else team.describe(replica)
        found.append(
            f"{whose} is in the team now, with the fingerprint {team.view.members[replica].fingerprint}."
        )
    for replica in sorted(before - now):
        whose = "This machine" if replica == node.me else team.describe(replica)
        found.append(f"{whose} is in the team no more.")
    return found


def _move_news(node: Node, before: Link) -> list[str]:
    """Where the team went, if it did; that others can read what is not sealed there, everybody should hear."""
    here = remembered_link(node)
    if here == before:
        return []
    return [
        f"The team moved, and this machine with it: it is on {here.shown} now.",
        *([DISCLOSURE] if is_relay(here) else []),
    ]


def _standing(cli: Cli, node: Node) -> list[str]:
    """What a person may want to look at next."""
    reason = no_part(node)
    return [*([] if reason is None else [_silence(reason)]), *_to_see(cli, node, {})]


def _silence(reason: str) -> str:
    return f"{reason}; it neither sends nor receives mail."


_FOUND: Final = {
    "inbox": ("unread message", ""),
    "team pending": ("machine", " to be admitted"),
    "problems": ("problem", ""),
}
"""What a pass may find more of, by the command that shows it: what is counted, and the words after it."""


def _counts(node: Node) -> dict[str, int]:
    """How much each command in _FOUND has to show."""
    unread, waiting, noted = _unread(node), _to_admit(node), len(all_problems(node))
    return dict(zip(_FOUND, (unread, waiting, noted), strict=True))


def _to_see(cli: Cli, node: Node, seen: Mapping[str, int]) -> list[str]:
    """What there is more of than was seen before, and the command that shows it."""
    return [
        f"{counted(count, _FOUND[shown][0])}{_FOUND[shown][1]}: {cli.command(shown)}"
        for shown, count in _counts(node).items()
        if count > seen.get(shown, 0)
    ]


def _unread(node: Node) -> int:
    return node.engine.count((node.address,), UNREAD)


def _to_admit(node: Node) -> int:
    """How many machines wait for somebody here to admit them; none for who may not."""
    team = node.team
    return len(team.view.pending) if team is not None and team.view.is_admin(node.me) else 0
