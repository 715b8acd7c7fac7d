"""The render checks: does a push or a digest keep the sender's text apart from the host's (sections 6.8, 12.4.6)?

They judge any host by the forms it declared, so they know nothing of how its lines look.
"""

from collections.abc import Iterable, Iterator, Sequence

from vectors.runner.hello import Forms
from vectors.runner.matching import shown
from vectors.runner.patterns import find
from vectors.runner.text import is_blank, lines, written_lines
from vectors.runner.vector import JsonObject


def push_faults(
    text: str, message: JsonObject, forms: Forms, *, replied_to: JsonObject | None, external: bool
) -> Iterator[str]:
    """Yield what a pushed rendering of a message does wrong. Raises PatternFault, as `digest_faults` does.

    `external` adds what rule 4 asks for an external sender; `replied_to` is the message it replies to, where
    the host has it.
    """
    body = written_lines(message["body"])
    first, *later = lines(text)
    if find(forms.header, first) is None:
        yield f"rule 1: the first line does not match header: {shown(first)}"
    yield from _carrying(body, [first], "rule 1: the first line contains a line of the body")

    quoted = [line for line in later if line.startswith(forms.quote_prefix)]
    others = [line for line in later if not line.startswith(forms.quote_prefix)]
    yield from _carrying(
        body, others, "rules 2 and 4: a line without quotePrefix contains a line of the body"
    )
    body_size = len(lines(message["body"]))
    if len(quoted) < body_size:
        yield f"rule 3: {len(quoted)} lines start with quotePrefix, and the body has {body_size}"
    for line in others:
        if all(find(pattern, line) is None for pattern in forms.host_lines):
            yield f"rule 4: a line is neither quoted nor a host line: {shown(line)}"
    if external:
        words = _sent_besides_body(message, replied_to)
        yield from _carrying(
            words, others, "rule 4: a line without quotePrefix carries an external sender's text"
        )


def digest_faults(text: str, message: JsonObject, forms: Forms) -> Iterator[str]:
    """Yield what a digest of a message does wrong."""
    if len(lines(text)) > 1:
        yield f"a digest is not one line: {shown(text)}"
    written = text.encode()
    start, end = find(forms.digest_lead, text) or (-1, -1)
    if start != 0:
        yield f"the first match of digestLead does not start the digest: {shown(text)}"
        return
    lead, rest = written[:end].decode(), written[end:].decode()
    first, *later = lines(message["body"])
    yield from _carrying(
        written_lines(message["body"]), [lead], "the lead of a digest contains a line of the body"
    )
    if not is_blank(first) and first.startswith(lead):
        yield f"the body's first line starts with the lead of the digest: {shown(lead)}"
    for line in later:
        if not is_blank(line) and line in rest and line not in first:
            yield f"a digest holds a later line of the body: {shown(line)}"


def _carrying(words: Iterable[str], carriers: Sequence[str], fault: str) -> Iterator[str]:
    for word in words:
        for carrier in carriers:
            if word in carrier:
                yield f"{fault}, {shown(word)}: {shown(carrier)}"


def _sent_besides_body(message: JsonObject, replied_to: JsonObject | None) -> list[str]:
    """Return what else of an external sender's a line may carry: choices, the choice, refs, an echo."""
    words = [*message.get("choices", ()), message.get("choice", "")]
    for ref in message["refs"]:
        words += [ref["id"], ref.get("at", "")]
    if replied_to is not None:
        words += written_lines(replied_to["body"])
    return [word for word in words if not is_blank(word)]
