"""Resolution against the text of the specification, written down a second time (sections 3.5-3.7, 4.6, 6.1).

`expected` is slow and literal, and shares nothing with the core. Any sends in any world must come out the same.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import DmpError
from core.inputs import Sender
from core.message import Message
from core.store import registers
from tests.core.support import ADA, BOB, HOST, draft, world

TASKS = ("task:t-000001", "task:t-000002")
RUNS = tuple(f"run:r-00000{n}" for n in range(1, 4))
AUXILIARY, ENDED, SYSTEM, MUTED = "run:r-0000aa", "run:r-0000bb", "agent:dispatch", "agent:muted"
PEOPLE = ("human:ada", "human:bob", "human:eve", "agent:bot", MUTED, SYSTEM)
CHANNELS = ("channel:a", "channel:b", "channel:epic/e-1", "channel:nowhere")
EVERYBODY = (*TASKS, *RUNS, AUXILIARY, ENDED, *PEOPLE, *CHANNELS)
SENDERS = (ADA, BOB, HOST, *(Sender(each) for each in (*RUNS, AUXILIARY, ENDED, "agent:bot", MUTED)))

Start = tuple[str, str, str | None]
"""A delivery's route, state and session."""


@dataclass
class Facts:
    """What the host knows: which work item each session stands for, what is live, and the channels."""

    stands_for: dict[str, str]
    live: dict[str, str | None]
    explicit: dict[str, list[str]]
    implicit: list[str]
    sent: list[Message] = field(default_factory=list)

    def is_live(self, run: str) -> bool:
        return run == AUXILIARY or run in self.live.values()

    def members(self, channel: str) -> list[str] | None:
        computed = self.implicit if channel == "channel:epic/e-1" else []
        if channel not in self.explicit and not computed:
            return None
        found = [*self.explicit.get(channel, []), *computed]
        return [each for each in found if not each.startswith("channel:")]


def expected(
    facts: Facts, sender: str, to: list[str], replied: Message | None, *, wake: bool
) -> tuple[list[str], dict[str, Start]] | set[tuple[str, str]]:
    """Return the stored `to` and the deliveries, or the errors of which the send may fail with any."""
    meant = list(to)
    for index, entry in enumerate(to):
        named = replied is not None and entry in (replied.sender, *replied.to)
        if named and entry in facts.stands_for and not facts.is_live(entry):
            meant[index] = facts.stands_for[entry]
    stored: list[str] = []
    for entry in meant:
        became = any(new == entry != old for old, new in zip(to, meant, strict=True))
        if not (became and entry in stored):
            stored.append(entry)
    slots: dict[str, int] = {}
    routes: dict[str, str] = {}
    for index, entry in enumerate(meant):
        is_channel = entry.startswith("channel:")
        reached = facts.members(entry) if is_channel else [entry]
        if reached is None:
            return {("not-found", f"to[{index}]")}
        for each in reached:
            slots.setdefault(each, index)
            if not is_channel or each not in routes:
                routes[each] = "channel" if is_channel else "direct"
    for dropped in (sender, SYSTEM, facts.stands_for.get(sender, "")):
        routes.pop(dropped, None)
    starts: dict[str, Start] = {}
    errors = set()
    for each, route in routes.items():
        run = facts.live.get(each) if each.startswith("task:") else each
        if sender == MUTED:
            starts[each] = (route, "read", None)
        elif each.startswith("human:"):
            starts[each] = (route, "notified", None)
        elif run is not None and facts.is_live(run):
            starts[each] = (route, "sending", run)
        elif not each.startswith("run:"):
            starts[each] = (route, "held", None)
        elif route == "direct":
            asked = wake and sender.startswith("human:") and each in facts.stands_for
            if asked or (replied is not None and each == replied.sender):
                starts[each] = (route, "held", None)
            else:
                errors.add(("invalid", f"to[{slots[each]}]"))
    return errors or (stored, starts)


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_every_send_resolves_as_the_specification_says(data: st.DataObject) -> None:
    def some(name: str, pool: tuple[str, ...], least: int, most: int) -> list[str]:
        return data.draw(st.lists(st.sampled_from(pool), min_size=least, max_size=most), name)

    facts = Facts(
        {run: data.draw(st.sampled_from(TASKS), run) for run in RUNS},
        dict.fromkeys(TASKS),
        {each: some(each, EVERYBODY, 0, 3) for each in ("channel:a", "channel:b")},
        some("implicit", (*TASKS, *RUNS, "human:eve"), 0, 2),
    )
    one = world(
        workItems=[
            {"id": task[5:], "sessions": [run for run in RUNS if facts.stands_for[run] == task]}
            for task in TASKS
        ],
        auxSessions=[AUXILIARY],
        agents=[
            {"address": "agent:bot", "status": "approved"},
            {"address": MUTED, "status": "approved", "muted": True},
        ],
        implicit={"epic/e-1": facts.implicit},
    )
    one.host.reaches = lambda _session: False  # type: ignore[method-assign]
    with one.store.transaction("test") as db:  # an older build may have let anybody join
        for name, members in facts.explicit.items():
            joined: dict[str, Any] = {"human:gone": False, **dict.fromkeys(members, True)}
            registers.edit(db, "channel", name.removeprefix("channel:"), joined)
    for _ in range(data.draw(st.integers(1, 6), "sends")):
        for task in TASKS:
            own = [run for run in RUNS if facts.stands_for[run] == task]
            one.host.live[task] = facts.live[task] = data.draw(st.sampled_from([None, *own]), f"live {task}")
        sender = data.draw(st.sampled_from(SENDERS), "sender")
        seen = [each for each in facts.sent if one.engine.can_read(sender, each.id)]
        replied = data.draw(st.sampled_from([*seen, None]), "replied")
        near = (*RUNS, *TASKS) if replied is None else (replied.sender, *replied.to, *TASKS)
        to = some("to", CHANNELS, 0, 1) + some("to", near, 0, 3) + some("to", EVERYBODY, 1, 2)
        wake = data.draw(st.booleans(), "wake")
        told = expected(facts, sender.address, to, replied, wake=wake)
        reply_to, wakes = (None if replied is None else replied.id), "request" if wake else "none"
        given_input = draft(*to, reply_to=reply_to, wake=wakes)
        if isinstance(told, set):
            with pytest.raises(DmpError) as refusal:
                one.engine.send(sender, given_input)
            assert (refusal.value.code.value, refusal.value.field) in told
            continue
        message = one.engine.send(sender, given_input).message
        deliveries = one.engine.deliveries(message.id)
        starts = {each.recipient: (each.via, each.state, each.session) for each in deliveries}
        assert (list(message.to), starts) == told
        facts.sent.append(message)
    one.store.close()
