"""The adapter's side of the conversation with the runner, one JSON object a line (sections 12.4.7, D.2)."""

import json
from collections.abc import Iterable
from importlib.metadata import version
from typing import BinaryIO, Final

from core.presentation import FORMS
from crypto.canonical import JsonError, JsonValue, decode, parse
from vectors.adapter.host import SYSTEM, ScriptedHost
from vectors.adapter.members import MalformedError, Members, Unsupported
from vectors.adapter.run import CLASSES, GRAMMARS, observe

CAPABILITIES: Final = ("implicit-members", "muted-senders")

_PACKAGE: Final = "dmp-replica"


class CrashError(Exception):
    """A vector whose run raised what no run may raise, which is the exception's cause: a bug of this host."""


def converse(lines: Iterable[bytes], answers: BinaryIO) -> None:
    """Answer the runner's lines until it says bye or says no more.

    Raises MalformedError for a line that section 12.4.7 does not have, and CrashError.
    """
    for number, line in enumerate(lines, 1):
        try:
            said = Members(parse(decode(line.removesuffix(b"\n").removesuffix(b"\r"))).value, "the line")
            word = said.one_of("dmp", "hello", "run", "bye")
            if word == "bye":
                return
            answer = hello() if word == "hello" else _run(said.object("vector"))
        except (JsonError, MalformedError) as error:
            raise MalformedError(f"line {number}: {error}") from None
        answers.write(
            json.dumps(answer).encode() + b"\n"
        )  # ASCII: no reader takes an escape for a line's end
        answers.flush()


def hello() -> JsonValue:
    """Return what this implementation declares."""
    return {
        "dmp": "hello",
        "implementation": {"name": _PACKAGE, "version": version(_PACKAGE)},
        "classes": list(CLASSES),
        "profiles": list(GRAMMARS),
        "capabilities": list(CAPABILITIES),
        "systemAddress": SYSTEM,
        "gateTypes": list(ScriptedHost.gate_types),
        "render": {
            "quotePrefix": FORMS.quote_prefix,
            "header": FORMS.header,
            "hostLines": list(FORMS.host_lines),
            "digestLead": FORMS.digest_lead,
        },
    }


def _run(vector: Members) -> JsonValue:
    vector_id = vector.text("id")
    try:
        return observe(vector)
    except Unsupported as unsupported:
        return {"dmp": "unsupported", "id": vector_id, "reason": str(unsupported)}
    except MalformedError:
        raise
    except Exception as error:
        raise CrashError(f"{vector_id} ended in {type(error).__name__}: {error}") from error
