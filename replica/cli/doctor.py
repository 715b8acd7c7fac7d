"""`dmp doctor`: whether all is well, and what to do where it is not."""

from typing import Final

import click

from replica.cli.context import Cli, command, pass_cli
from replica.cli.text import counted, in_own_zone

FAILED: Final = 1
WARNED: Final = 3

_EXITS: Final = (0, WARNED, FAILED)


@command("doctor")
@pass_cli
def doctor(cli: Cli) -> None:
    """Look at this replica's keys, store, clock, chain, team, transports, disk and settings, and say what to do.

    Exits 0 when all is well, 3 when there is something to look at, and 1 when something does not work. It changes
    nothing. While a service runs, transports are not asked; what its last sync found is told.
    """
    from replica.service.doctor import Finding, Verdict, examine

    found: list[Finding] = []
    checks = examine(cli.root)
    while True:
        with cli.screen.working("looking"):  # a large store and a far side each take their time
            each = next(checks, None)
        if each is None:
            break
        found.append(each)
        if not cli.as_json:
            cli.screen.say(f"{each.verdict.name.lower():<8} {each.check}: {in_own_zone(each.text)}")
            if each.remedy:
                cli.screen.say(f"         To do: {each.remedy}")
    worst = max((each.verdict for each in found), default=Verdict.OK)
    if cli.as_json:
        cli.screen.document(
            {
                "verdict": worst.name.lower(),
                "checks": [
                    {
                        "check": each.check,
                        "verdict": each.verdict.name.lower(),
                        "text": each.text,
                        "remedy": each.remedy,
                    }
                    for each in found
                ],
            }
        )
    else:
        failures = sum(each.verdict is Verdict.FAILURE for each in found)
        warnings = sum(each.verdict is Verdict.WARNING for each in found)
        cli.screen.say(
            "",
            "All is well."
            if worst is Verdict.OK
            else f"{counted(failures, 'failure')}, {counted(warnings, 'warning')}.",
        )
    click.get_current_context().exit(_EXITS[worst])
