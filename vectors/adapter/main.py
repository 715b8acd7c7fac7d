"""`dmp conformance-adapter`: this implementation, for a conformance runner to drive (section 12.4)."""

import sys
import traceback

from replica.cli.context import Cli, command, pass_cli
from replica.cli.failures import BUG, USAGE, Failure


@command("conformance-adapter", short_help="Run the conformance kit's vectors, for its runner.")
@pass_cli
def conformance_adapter(cli: Cli) -> None:
    """Run conformance vectors as a runner asks for them, one line of JSON each, on standard input and output.

    It is meant for a program, such as `dmp-conformance --adapter "dmp conformance-adapter"`.
    """
    from vectors.adapter.lines import CrashError, converse
    from vectors.adapter.members import MalformedError

    try:
        converse(sys.stdin.buffer, sys.stdout.buffer)
    except MalformedError as error:
        raise Failure("malformed", str(error), exit=USAGE) from None
    except CrashError as error:
        if cli.verbose:
            traceback.print_exception(error.__cause__)
        hint = "give the adapter --verbose to see where it happened"
        raise Failure("bug", str(error), hint=hint, exit=BUG) from None
