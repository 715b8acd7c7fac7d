"""An observation is read, or refused with the place of its fault (section 12.4.7)."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.vectors.runner.samples import observation, send
from vectors.runner.observation import read_observation
from vectors.runner.shape import ShapeError

STEPS = [send(), {"op": "render", "message": "$s1"}, {"op": "recover"}]
RENDERED = {"step": 2, "text": "From x"}


def sound() -> dict[str, Any]:
    return observation(
        steps=[
            {"ok": True, "result": {"message": "m-1"}},
            {"ok": True, "result": {"text": "From x"}},
            {"ok": False, "error": {"code": "limited"}},
        ],
        render=[dict(RENDERED)],
    )


def test_a_sound_observation_is_read() -> None:
    read = read_observation(sound() | {"later": "member"}, STEPS)
    assert (read.created, read.rendered) == ({1: "m-1"}, {2: "From x"})


def refused_first(it: dict[str, Any]) -> None:
    it["steps"][0] = {"ok": False, "error": {"code": "invalid", "field": "to[0]"}}


def test_a_step_that_was_refused_creates_nothing() -> None:
    line = sound()
    refused_first(line)
    assert read_observation(line, STEPS).created == {}


FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an outcome too few": (lambda it: it["steps"].pop(), "has 2 outcomes, and the vector has 3 steps"),
    "an outcome that is null": (lambda it: it["steps"].__setitem__(2, None), "steps[2] is not an object"),
    "an outcome without ok": (lambda it: it["steps"].__setitem__(2, {}), "steps[2] has no ok"),
    "a refusal without error": (
        lambda it: it["steps"].__setitem__(2, {"ok": False}),
        "steps[2] has no error",
    ),
    "a refusal without code": (
        lambda it: it["steps"].__setitem__(2, {"ok": False, "error": {}}),
        "steps[2].error has no code",
    ),
    "a send that names nothing": (
        lambda it: it["steps"][0].pop("result"),
        "steps[0].result names no message",
    ),
    "a created message left out": (lambda it: it["messages"].clear(), "lacks m-1, which step 1 created"),
    "a message without a field": (lambda it: it["messages"][0].pop("refs"), "messages[0] has no refs"),
    "a message with a null field": (lambda it: it["messages"][0].update(choice=None), "messages[0].choice"),
    "a message with urgent as 0": (lambda it: it["messages"][0].update(urgent=0), "messages[0].urgent"),
    "a message of yesterday": (
        lambda it: it["messages"][0].update(createdAt="now"),
        "createdAt is not a time",
    ),
    "a ref in words": (lambda it: it["messages"][0].update(refs=["file:a"]), "messages[0].refs[0]"),
    "a delivery without session": (
        lambda it: it["deliveries"][0].pop("session"),
        "deliveries[0] has no session",
    ),
    "a delivery by another way": (lambda it: it["deliveries"][0].update(via="post"), "deliveries[0].via"),
    "an unknown hook": (lambda it: it["calls"].append({"hook": "ring"}), "calls[1].hook is not one of"),
    "a call with more": (lambda it: it["calls"][0].update(at="now"), "unknown member 'at'"),
    "an effect that is no id": (lambda it: it.update(gateEffects=[1]), "gateEffects[0] is not a string"),
    "a channel without members": (
        lambda it: it.update(channels=[{"name": "a"}]),
        "channels[0] has no members",
    ),
    "a rendering left out": (lambda it: it["render"].clear(), "does not hold the text of each render step"),
    "a rendering twice": (
        lambda it: it["render"].append(RENDERED),
        "does not hold the text of each render step",
    ),
    "a rendering of another step": (
        lambda it: it["render"][0].update(step=1),
        "does not hold the text of each",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_malformed_observation_is_refused_with_its_place(fault: str) -> None:
    damage, told = FAULTS[fault]
    line = sound()
    damage(line)
    with pytest.raises(ShapeError) as refused:
        read_observation(line, STEPS)
    assert told in str(refused.value)


@pytest.mark.parametrize("member", sorted(set(sound()) - {"dmp", "id"}))
def test_an_observation_says_everything(member: str) -> None:
    line = sound()
    del line[member]
    with pytest.raises(ShapeError, match=f"has no {member}"):
        read_observation(line, STEPS)
