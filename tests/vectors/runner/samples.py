"""A small kit, and an implementation that keeps it: the vectors, hello and observations tests bend."""

import copy
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vectors.runner.hello import Hello, read_hello
from vectors.runner.vector import Vector

SYSTEM = "agent:host"

HELLO: dict[str, Any] = {
    "dmp": "hello",
    "implementation": {"name": "sample", "version": "3.1"},
    "classes": ["envelope", "host-core", "a2a-binding", "federation"],
    "profiles": ["core", "dispatch"],
    "capabilities": ["implicit-members", "muted-senders"],
    "systemAddress": SYSTEM,
    "gateTypes": ["wake", "tool-approval", "scope", "agent-registration", "overseer-action"],
    "render": {
        "quotePrefix": "> ",
        "header": "^From ",
        "hostLines": ["^re: ", "^choices: ", "^refs: ", "^waiting$"],
        "digestLead": "^\\S+ says: ",
    },
}

AGE = {"createdAt": "2026-09-23T10:00:00.000Z"}


def message(id: str, **fields: Any) -> dict[str, Any]:
    """A stored message, as an observation has it."""
    return {
        "id": id,
        "thread": id,
        "replyTo": None,
        "from": "human:wyat",
        "to": ["task:t-4a8cce"],
        "kind": "message",
        "body": "hi",
        "refs": [],
        "urgent": False,
        "blocking": False,
        "wake": "none",
        **AGE,
        **fields,
    }


def delivery(id: str, message: str, recipient: str = "task:t-4a8cce", **fields: Any) -> dict[str, Any]:
    """A delivery, as an observation has it."""
    return {
        "id": id,
        "message": message,
        "recipient": recipient,
        "session": None,
        "via": "direct",
        "state": "held",
        **fields,
    }


def send(**fields: Any) -> dict[str, Any]:
    """A step that sends."""
    return {
        "op": "send",
        "as": {"address": "human:wyat", "canDecide": True},
        "input": {"to": ["task:t-4a8cce"], "kind": "message", "body": "hi"},
        **fields,
    }


def vector(id: str = "core.sample.a-send-is-stored", **members: Any) -> dict[str, Any]:
    """A vector that one send passes, with other members where a test wants them."""
    classes = {"env": "envelope", "core": "host-core", "a2a": "a2a-binding", "fed": "federation"}
    return {
        "id": id,
        "title": "A send is stored",
        "class": classes[id.split(".")[0]],
        "level": "MUST",
        "profile": "core",
        "sections": ["6.1"],
        "given": {"workItems": [{"id": "t-4a8cce"}]},
        "when": [send()],
        "then": {
            "steps": [{"ok": True, "result": {"message": "$s1", "downgraded": False}}],
            "messages": [{"id": "$s1", "kind": "message"}],
            "noOtherMessages": True,
            "deliveries": [{"message": "$s1", "recipient": "task:t-4a8cce", "state": "held"}],
            "calls": [{"hook": "published", "message": "$s1"}],
        },
        **members,
    }


def observation(id: str = "core.sample.a-send-is-stored", **members: Any) -> dict[str, Any]:
    """What an implementation that keeps `vector()` observes; `members` take the place of its own."""
    return {
        "dmp": "observation",
        "id": id,
        "steps": [{"ok": True, "result": {"message": "m-1", "downgraded": False}}],
        "messages": [message("m-1")],
        "deliveries": [delivery("d-1", "m-1")],
        "calls": [{"hook": "published", "message": "m-1"}],
        "gateEffects": [],
        "voided": [],
        "channels": [],
        "render": [],
        **members,
    }


def hello(**members: Any) -> Hello:
    """The declaration of an adapter."""
    return read_hello({**copy.deepcopy(HELLO), **members})


def vectors(*raw: dict[str, Any]) -> list[Vector]:
    """Vectors as they are when their files were read."""
    return [Vector.of(each) for each in raw]


def write_kit(folder: Path, raw: Sequence[dict[str, Any]]) -> Path:
    """Write vectors as a kit: one file for each class."""
    for name in {each["class"] for each in raw}:
        (folder / name).mkdir(parents=True, exist_ok=True)
        document = {
            "kit": "1.0.0-draft.1",
            "class": name,
            "area": "sample",
            "vectors": [each for each in raw if each["class"] == name],
        }
        (folder / name / "sample.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


ADAPTER = """
import json, os, signal, sys, time

HELLO = json.loads({hello!r})
ANSWERS = json.loads({answers!r})

def say(line):
    sys.stdout.write(line if isinstance(line, str) else json.dumps(line) + "\\n")
    sys.stdout.flush()

def answer(vector):
    return ANSWERS[vector["id"]]

{behaviour}

for line in sys.stdin:
    asked = json.loads(line)
    if asked["dmp"] == "hello":
        say(HELLO)
    elif asked["dmp"] == "run":
        say(answer(asked["vector"]))
    else:
        sys.exit(0)
"""


def adapter(
    folder: Path,
    answers: Sequence[dict[str, Any]] = (),
    *,
    behaviour: str = "",
    hello: dict[str, Any] | None = None,
) -> str:
    """Write an adapter that replays observations, and return its command. `behaviour` is Python that may put
    another `say`, `answer` or `HELLO` in place of its own.
    """
    path = folder / "adapter.py"
    path.write_text(
        ADAPTER.format(
            hello=json.dumps(hello or HELLO),
            answers=json.dumps({each["id"]: each for each in answers}),
            behaviour=behaviour,
        ),
        encoding="utf-8",
    )
    return f"{sys.executable} -I -S {path}"
