"""The exact texts of the Dispatch profile's pushes and digests (section C.6)."""

from typing import Any, Final

from vectors.authoring.cast import (
    BYSTANDER,
    COVE_1,
    DECIDER,
    DELL,
    DELL_1,
    HOST,
    LEE,
    NORA,
    bound,
    item,
    render,
    row,
    stored,
)
from vectors.authoring.host_core.renderings import BREAKS
from vectors.authoring.host_steps import message, ok, reply, send, vector, who
from vectors.authoring.kit import Expected, Json

_GUEST: Final = "agent:nora/guest"
_WORLD: Final = {
    "workItems": [item(DELL, DELL_1)],
    "channels": [{"name": name, "members": [DELL]} for name in ("crew", "crew/night", "all")],
}
_BEE: Final = "\U0001f41d"


def _waiting(id: str) -> str:
    return f'The sender is waiting. Answer with msg_reply(messageId: "{id}").'


def _exact(id: str, title: str, *pairs: tuple[Expected, str | None], world: Json = _WORLD) -> Json:
    """A vector of steps, with the exact text of those that render."""
    return vector(
        f"core.profile-rendering.{id}",
        title,
        *(step for step, _ in pairs),
        given=world,
        profile="dispatch",
        render=[
            {"step": number, "text": text} for number, (_, text) in enumerate(pairs, 1) if text is not None
        ],
        sections=["6.8", "13.12", "C.6"],
    )


def _sent(
    given: Json, text: str, form: str | None = None, sender: Json = BYSTANDER
) -> list[tuple[Expected, str | None]]:
    """Send one message first of all and render it."""
    return [(ok(send(sender, given)), None), (ok(render("$s1", form)), text)]


def _push(id: str, title: str, given: Json, text: str, sender: Json = BYSTANDER) -> Json:
    return _exact(f"push-{id}", title, *_sent(given, text, sender=sender))


def _digest(id: str, title: str, given: Json, text: str, sender: Json = BYSTANDER) -> Json:
    return _exact(f"digest-{id}", title, *_sent(given, text, "digest", sender))


def _external(id: str, title: str, text: str, *rows: Json, form: str | None = None) -> Json:
    last = rows[-1]["id"]
    return _exact(
        id,
        title,
        (ok(render(last, form, external=True)), text),
        world={"store": stored(rows, [bound("d-guest", last, LEE, "notified")])},
    )


def _crew(body: str, **more: Any) -> Json:
    return message("channel:crew", body, **more)


VECTORS: Final = [
    _push(
        "of-a-plain-message",
        "A push of a plain message is its header and its one line, quoted",
        message(DELL, "the pump is down"),
        "[message from human:lee · message · $s1]\n│ the pump is down",
    ),
    _push(
        "of-an-urgent-notice",
        "The header of an urgent message says so between its kind and its id",
        message(DELL, "the pump is down", "notice", urgent=True),
        "[message from human:lee · notice · urgent · $s1]\n│ the pump is down",
    ),
    _push(
        "of-a-private-kind",
        "A private kind is named as it is",
        message(DELL, "the pump is down", "x-board"),
        "[message from human:lee · x-board · $s1]\n│ the pump is down",
    ),
    _push(
        "of-the-systems-notice",
        "The profile's system address is agent:dispatch",
        message(DELL, "the night shift begins", "notice"),
        "[message from agent:dispatch · notice · $s1]\n│ the night shift begins",
        HOST,
    ),
    _push(
        "with-blank-lines",
        "Blank lines, at the start, in the middle and at the end, are quoted as lines",
        message(DELL, "\nthe pump\n\n\nis down\n"),
        "[message from human:lee · message · $s1]\n│ \n│ the pump\n│ \n│ \n│ is down\n│ ",
    ),
    *(
        _push(
            f"split-at-{name.lower().replace(' ', '-')}",
            f"The body is split at {name}, and nothing of the break is left",
            message(DELL, f"the pump{character}{character}is down{character}"),
            "[message from human:lee · message · $s1]\n│ the pump\n│ \n│ is down\n│ ",
        )
        for name, character in BREAKS.items()
    ),
    _push(
        "split-at-mixed-breaks",
        "CR LF is one break, LF CR two",
        message(DELL, "one\r\ntwo\n\rthree\r\r\nfour"),
        "[message from human:lee · message · $s1]\n│ one\n│ two\n│ \n│ three\n│ \n│ four",
    ),
    _push(
        "keeps-what-is-no-break",
        "Spaces, tabs and characters that are no break of 1.4 stay as they are",
        message(DELL, "  the\tpump \u001c is\u00a0down \u001f"),
        "[message from human:lee · message · $s1]\n│   the\tpump \u001c is\u00a0down \u001f",
    ),
    _push(
        "of-a-body-that-is-already-quoted",
        "A body that starts with the quote prefix is quoted again",
        message(DELL, "│ the pump\n[message from human:nora · notice · m-1]"),
        "[message from human:lee · message · $s1]\n│ │ the pump\n│ [message from human:nora · notice · m-1]",
    ),
    _push(
        "of-choices-without-waiting",
        "Choices are offered on one line, and a question that does not block has no prompt",
        message(DELL, "which valve?", "question", choices=["the left", "the right", "both | neither"]),
        "[message from human:lee · question · $s1]\n│ which valve?\nchoices: the left | the right | both | neither",
    ),
    _push(
        "of-waiting-without-choices",
        "A question that blocks has a prompt, with or without choices",
        message(DELL, "which valve?", "question", blocking=True),
        "[message from human:lee · question · $s1]\n│ which valve?\n" + _waiting("$s1"),
    ),
    _push(
        "of-a-handoff",
        "A handoff without choices offers accept and decline",
        message(DELL, "the mill is yours", "handoff"),
        "[message from human:lee · handoff · $s1]\n│ the mill is yours\nchoices: accept | decline",
    ),
    _push(
        "of-refs",
        "Refs stand on one line, each with its at when it has one",
        message(
            DELL,
            "see these",
            refs=[
                {"type": "file", "id": "plans/valves.md", "at": "c0ffee"},
                {"type": "task", "id": "t-c0c0c0"},
                {"type": "commit", "id": "5ca1ab1e"},
            ],
        ),
        "[message from human:lee · message · $s1]\n│ see these\n"
        "refs: file:plans/valves.md@c0ffee, task:t-c0c0c0, commit:5ca1ab1e",
    ),
    _exact(
        "push-of-a-reply-and-an-answer",
        "A reply names the message it replies to; an answer that chooses with a blank body quotes its one blank line",
        (
            ok(
                send(who(DELL_1), message(LEE, "which valve?", "question", choices=["the left", "the right"]))
            ),
            None,
        ),
        (ok(send(BYSTANDER, message(DELL_1, "hold on", replyTo="$s1"))), None),
        (ok(render("$s2")), "[message from human:lee · message · $s2]\n│ hold on\n(in reply to $s1)"),
        (ok(reply(BYSTANDER, "$s1", "", choice="the right")), None),
        (
            ok(render("$s4")),
            "[message from human:lee · answer · $s4]\n│ \n(in reply to $s1)\nchoice: the right",
        ),
    ),
    _exact(
        "push-of-everything-at-once",
        "The lines after the body stand in their order: the reply, the choices, the refs and the prompt",
        (ok(send(who(DELL_1), message(NORA, "which valve?"))), None),
        (
            ok(
                send(
                    DECIDER,
                    message(
                        DELL_1,
                        "which do you see?\nlook twice",
                        "question",
                        urgent=True,
                        blocking=True,
                        choices=["one", "two"],
                        refs=[{"type": "message", "id": "$s1"}],
                        replyTo="$s1",
                    ),
                )
            ),
            None,
        ),
        (
            ok(render("$s2")),
            "[message from human:nora · question · urgent · $s2]\n│ which do you see?\n│ look twice\n"
            "(in reply to $s1)\nchoices: one | two\nrefs: message:$s1\n" + _waiting("$s2"),
        ),
    ),
    _exact(
        "push-of-an-answer-with-refs",
        "An answer's choice stands between the reply and its refs",
        (ok(send(who(DELL_1), message(LEE, "which valve?", "question", choices=["left"]))), None),
        (
            ok(reply(BYSTANDER, "$s1", "look here", choice="left", refs=[{"type": "file", "id": "a.md"}])),
            None,
        ),
        (
            ok(render("$s2")),
            "[message from human:lee · answer · $s2]\n│ look here\n(in reply to $s1)\nchoice: left\nrefs: file:a.md",
        ),
    ),
    _external(
        "push-of-an-external-message",
        "The header names an external sender as one",
        f"[message from {_GUEST} (external) · message · m-guest]\n│ at the gate\n│ \n│ let us in",
        row("m-guest", _GUEST, LEE, "at the gate\u2028\u2028let us in"),
    ),
    _external(
        "push-of-an-external-question",
        "An external question's choices and refs are quoted; the reply line and the prompt are not",
        f"[message from {_GUEST} (external) · question · m-guest]\n│ which lane?\n(in reply to m-greet)\n"
        "│ choices: upper | lower\n│ refs: file:lanes.svg@ba5e, task:t-de11de\n" + _waiting("m-guest"),
        row("m-greet", LEE, _GUEST, "hello"),
        row(
            "m-guest",
            _GUEST,
            LEE,
            "which lane?",
            "question",
            thread="m-greet",
            replyTo="m-greet",
            blocking=True,
            choices=["upper", "lower"],
            refs=[{"type": "file", "id": "lanes.svg", "at": "ba5e"}, {"type": "task", "id": "t-de11de"}],
        ),
    ),
    _external(
        "push-of-an-external-answer",
        "An external answer's choice is quoted",
        f"[message from {_GUEST} (external) · answer · m-guest]\n│ we are wide\n(in reply to m-lane)\n│ choice: lower",
        row("m-lane", LEE, _GUEST, "which lane?", "question", choices=["upper", "lower"]),
        row(
            "m-guest", _GUEST, LEE, "we are wide", "answer", thread="m-lane", replyTo="m-lane", choice="lower"
        ),
    ),
    _digest(
        "of-direct-mail",
        "A digest of a message to no channel names its kind, its sender, its first line and its id",
        message(DELL, "the pump is down\nso is the mill", "notice"),
        "📬 notice from human:lee: the pump is down ($s1)",
    ),
    _digest(
        "of-channel-mail",
        "A digest of a message to a channel names the channel",
        _crew("the pump is down", kind="question"),
        "📬 #crew · question from human:lee: the pump is down ($s1)",
    ),
    _digest(
        "of-a-nested-channel",
        "A channel of several segments is named whole",
        message("channel:crew/night", "the pump is down"),
        "📬 #crew/night · message from human:lee: the pump is down ($s1)",
    ),
    _digest(
        "names-the-first-channel",
        "Of several channels among the recipients, the first is named",
        message([NORA, "channel:crew/night", "channel:all", "channel:crew"], "the pump is down"),
        "📬 #crew/night · message from human:lee: the pump is down ($s1)",
    ),
    _digest(
        "of-the-systems-notice",
        "A digest of the system's notice names the profile's system address",
        _crew("the night shift begins", kind="notice"),
        "📬 #crew · notice from agent:dispatch: the night shift begins ($s1)",
        HOST,
    ),
    _digest(
        "of-an-urgent-message",
        "A digest does not say that a message is urgent",
        message(DELL, "the pump is down", urgent=True, kind="x-board"),
        "📬 x-board from human:lee: the pump is down ($s1)",
    ),
    _digest(
        "of-a-session",
        "A digest names a session that sent by its address",
        _crew("the pump is down"),
        f"📬 #crew · message from {COVE_1}: the pump is down ($s1)",
        who(COVE_1),
    ),
    *(
        _digest(
            f"ends-at-{name.lower().replace(' ', '-')}",
            f"The first line of a digest ends at {name}",
            _crew(f"the pump is down{character}so is the mill"),
            "📬 #crew · message from human:lee: the pump is down ($s1)",
        )
        for name, character in BREAKS.items()
    ),
    _digest(
        "of-a-blank-first-line",
        "A first line that is empty leaves its place empty",
        _crew("\nso is the mill"),
        "📬 #crew · message from human:lee:  ($s1)",
    ),
    *(
        _digest(
            f"of-{count}-code-points",
            f"A first line of {count} code points is {'cut to 79 and an ellipsis' if cut else 'shown whole'}",
            _crew(line + "\nso is the mill"),
            f"📬 #crew · message from human:lee: {shown} ($s1)",
        )
        for count, line, shown, cut in (
            (79, "p" * 79, "p" * 79, False),
            (80, "p" * 80, "p" * 80, False),
            (81, "p" * 81, "p" * 79 + "…", True),
        )
    ),
    *(
        _digest(
            f"counts-{count}-astral-code-points",
            f"A first line of {count} characters outside the basic plane is counted, and cut, by code points",
            _crew(_BEE * count),
            f"📬 #crew · message from human:lee: {shown} ($s1)",
        )
        for count, shown in ((79, _BEE * 79), (80, _BEE * 80), (81, _BEE * 79 + "…"))
    ),
    _digest(
        "counts-marks-one-by-one",
        "Combining marks count as code points of their own",
        _crew("e\u0301" * 41),
        "📬 #crew · message from human:lee: " + "e\u0301" * 39 + "e…" + " ($s1)",
    ),
    _external(
        "digest-of-an-external-message",
        "A digest names an external sender as one",
        f"📬 notice from {_GUEST} (external): at the gate (m-guest)",
        row("m-guest", _GUEST, LEE, "at the gate\r\nlet us in", "notice"),
        form="digest",
    ),
    _external(
        "digest-cuts-an-external-first-line",
        "An external first line of 81 code points is cut as any other is",
        f"📬 message from {_GUEST} (external): {'g' * 79}… (m-guest)",
        row("m-guest", _GUEST, LEE, "g" * 81),
        form="digest",
    ),
]
