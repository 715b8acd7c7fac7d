"""Messages as models see them: pushes and digests (sections 6.8, C.6), pure.

What others wrote never starts a line that could pass for one of the host's: a push quotes the body line by
line, a digest holds the body's first line at most, after the host's own words. A push from an external sender
quotes every line that carries its text, and one from another replica every line after its header (section F.5).
"""

import re
from dataclasses import dataclass
from typing import Final

from core.message import Message, Ref
from core.text import cut, first_line, lines, unbroken

QUOTE_PREFIX: Final = "│ "

_CHANNEL: Final = "channel:"
_ODD: Final = re.compile(
    r"[^A-Za-z0-9._-]"
)  # what no handle holds; a roster's is text of whoever admitted it
_QUOTED_CHARACTERS: Final = 80


@dataclass(frozen=True, slots=True)
class Forms:
    """How to tell the host's text from a sender's (section 6.8).

    `quote_prefix` starts each line that carries a body; the others are ECMAScript patterns, searched in a line.
    """

    quote_prefix: str
    header: str
    host_lines: tuple[str, ...]
    digest_lead: str


FORMS: Final = Forms(
    quote_prefix=QUOTE_PREFIX,
    header=r"^\[message from ",
    host_lines=(r"^\(in reply to ", "^choices: ", "^choice: ", "^refs: ", r"^The sender is waiting\. "),
    digest_lead=r"^📬(?: #[^ ]+ ·)? [^ ]+ from [^ ]+(?: \((?:external|remote: [^ ]+)\))?: ",
)
"""The Dispatch profile's forms (section C.6), with the mark of a sender on another replica added."""


def push_text(message: Message, *, external: bool = False, remote: str | None = None) -> str:
    """Return a message as it is pushed into a session's context.

    `external` when its sender is; `remote` is the handle of the replica it came from, None for this one.
    """
    quote = QUOTE_PREFIX if external or remote is not None else ""
    own = QUOTE_PREFIX if remote is not None else ""  # the host's lines that carry no text of the sender
    urgent = " · urgent" if message.is_pressing else ""
    shown = [f"[message from {_sender(message, external, remote)} · {message.kind}{urgent} · {message.id}]"]
    shown += [QUOTE_PREFIX + line for line in lines(message.body)]
    if message.reply_to is not None:
        shown.append(f"{own}(in reply to {message.reply_to})")
    if message.choices:
        shown.append(f"{quote}choices: {' | '.join(message.choices)}")
    if message.choice is not None:
        shown.append(f"{quote}choice: {message.choice}")
    if message.refs:
        shown.append(f"{quote}refs: {', '.join(map(_ref, message.refs))}")
    if message.blocking:
        shown.append(f'{own}The sender is waiting. Answer with msg_reply(messageId: "{message.id}").')
    # Nothing but a body may break lines, and what an older build stored was not checked here.
    return "\n".join(map(unbroken, shown))


def digest_text(message: Message, *, external: bool = False, remote: str | None = None) -> str:
    """Return the one line that tells a session of a message; `external` and `remote` as for a push."""
    channel = next((to.removeprefix(_CHANNEL) for to in message.to if to.startswith(_CHANNEL)), None)
    to = "" if channel is None else f" #{channel} ·"
    said = f"{message.kind} from {_sender(message, external, remote)}: {opening(message.body)}"
    return unbroken(f"📬{to} {said} ({message.id})")


def opening(body: str) -> str:
    """Return a body's first line as a digest quotes it: one over 80 code points as its first 79 and `…`."""
    return cut(first_line(body), _QUOTED_CHARACTERS)


def _sender(message: Message, external: bool, remote: str | None) -> str:
    if remote is not None:
        return f"{message.sender} (remote: {_ODD.sub('?', remote) or '?'})"
    return f"{message.sender} (external)" if external else message.sender


def _ref(ref: Ref) -> str:
    return f"{ref.type}:{ref.id}" if ref.at is None else f"{ref.type}:{ref.id}@{ref.at}"
