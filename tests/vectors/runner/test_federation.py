"""What the runner checks of vectors of the class `federation` besides, and of messages from other replicas."""

from typing import Any

import pytest

from tests.vectors.runner.samples import SYSTEM, hello, message, observation, vector
from vectors.runner import vector_shape
from vectors.runner.judge import judge
from vectors.runner.observation import read_observation
from vectors.runner.shape import ShapeError

ROW = {
    "message": "m-1",
    "recipient": "human:bob",
    "via": "direct",
    "homes": ["bob-0000000b"],
    "state": "held",
}
RECEIVED = message("m-theirs", origin="bob-0000000b", hlc="1790000000000.0000.bob-0000000b")


def reasons(raw: dict[str, Any], **seen: Any) -> list[str]:
    return judge(raw, hello(), read_observation(observation(raw["id"], **seen), raw["when"]))


def expecting(**then: Any) -> dict[str, Any]:
    raw = vector("fed.sample.a-send-is-stored", then=then)
    vector_shape.vector(raw, "the vector")
    return raw


@pytest.mark.parametrize(
    ("listed", "seen", "passes"),
    [
        ([{"message": "$s1", "recipient": "human:bob"}], [ROW], True),
        ([{**ROW, "message": "$s1"}], [ROW], True),
        ([{**ROW, "message": "$s1", "state": "read"}], [ROW], False),
        ([{**ROW, "message": "$s1", "homes": []}], [ROW], False),
        ([{"message": "$s1", "recipient": "human:bob", "wakeAt": "bob-0000000b"}], [ROW], False),
        ([{"message": "$s1", "recipient": "human:bob"}], [], False),
        ([{"message": "$s1", "recipient": "human:bob"}], [ROW, {**ROW, "recipient": "human:cy"}], False),
        ([], [ROW], True),
    ],
)
def test_a_messages_remote_rows_are_exactly_the_listed_ones(
    listed: list[dict[str, Any]], seen: list[dict[str, Any]], passes: bool
) -> None:
    assert (reasons(expecting(remote=listed), remote=seen) == []) == passes


def test_a_message_without_remote_rows_has_none() -> None:
    assert reasons(expecting(noRemote=["$s1"]), remote=[]) == []
    assert reasons(expecting(noRemote=["$s1"])) == []
    assert reasons(expecting(noRemote=["$s1"]), remote=[ROW]) == ["noRemote: m-1 has one for human:bob"]


def test_a_message_of_another_replica_is_named_by_its_own_id() -> None:
    call = {"hook": "published", "message": "m-theirs"}
    seen: Any = {"messages": [RECEIVED, message("m-1")], "calls": [call]}
    assert reasons(expecting(messages=[{"id": "m-theirs"}], calls=[call]), **seen) == []
    assert reasons(expecting(calls=[]), **seen) == []  # it names it nowhere
    assert reasons(expecting(messages=[{"id": "m-theirs"}], calls=[]), **seen) != []
    assert (
        reasons(expecting(messages=[{"id": "m-theirs"}, {"id": "$s1"}], noOtherMessages=True), **seen) == []
    )
    assert reasons(expecting(messages=[{"id": "$s1"}], noOtherMessages=True), **seen) != []


def test_an_id_of_another_replica_may_have_any_place_and_form() -> None:
    assert reasons(expecting(), messages=[message("m-1"), {**RECEIVED, "id": "a-theirs"}]) == []
    dispatch = vector("fed.sample.theirs", profile="dispatch", when=[{"op": "roster"}], then={})
    steps = [{"ok": True, "result": {}}]
    assert reasons(dispatch, steps=steps, messages=[RECEIVED], deliveries=[], calls=[]) == []


def test_another_replicas_system_address_is_not_the_hosts() -> None:
    theirs = {**RECEIVED, "from": SYSTEM, "kind": "notice"}
    own = message("m-2", **{"from": SYSTEM}, kind="notice")
    seen: Any = {"messages": [message("m-1"), own, theirs]}
    assert reasons(expecting(messages=[{"id": "$notice1"}]), **seen) == []
    assert reasons(expecting(messages=[{"id": "$notice2"}]), **seen) == [
        "$notice2 names no message",
        "messages[0]: $notice2 is stored not at all",
    ]
    assert reasons(expecting(noOtherMessages=True, noDeliveries=[]), **seen) != []


def test_a_reason_is_compared_where_it_is_given() -> None:
    refused = {"ok": False, "error": {"code": "invalid", "reason": "bad signature"}}
    raw = vector("fed.sample.a", when=[{"op": "readClock", "text": "x"}], then={"steps": [refused]})
    vector_shape.vector(raw, "the vector")
    nothing: Any = {"messages": [], "deliveries": [], "calls": []}
    assert reasons(raw, steps=[refused], **nothing) == []
    other = {"ok": False, "error": {"code": "invalid", "reason": "seq must rise"}}
    assert reasons(raw, steps=[other], **nothing) != []


@pytest.mark.parametrize(
    "members",
    [
        {"when": [{"op": "roster"}]},
        {"when": [{"op": "sync", "lanes": {}}]},
        {"given": {"muted": []}},
        {"then": {"noRemote": []}},
        {"then": {"steps": [{"ok": False, "error": {"code": "invalid", "reason": "x"}}]}},
    ],
)
def test_what_federation_has_besides_is_no_other_classs(members: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"when": [{"op": "recover"}], "then": {}}
    vector_shape.vector(vector("fed.sample.a", **{**plain, **members}), "the vector")
    with pytest.raises(ShapeError):
        vector_shape.vector(vector("core.sample.a", **{**plain, **members}), "the vector")


@pytest.mark.parametrize(
    "step",
    [
        {"op": "sync", "lanes": []},
        {"op": "sync", "lanes": {"a": [1]}},
        {"op": "sync", "lanes": {"a": [{"hex": "0"}]}},
        {"op": "homes"},
        {"op": "homes", "address": 1},
        {"op": "workItem", "task": "t"},
        {"op": "putMemory", "as": {"address": "human:bob"}, "fields": {}},
        {"op": "takeMemory", "as": {"address": "human:bob", "canDecide": True}, "memory": "m", "revision": 1},
        {"op": "decideRevision", "document": "d", "revision": "r", "approve": "yes"},
    ],
)
def test_a_malformed_step_is_refused(step: dict[str, Any]) -> None:
    with pytest.raises(ShapeError):
        vector_shape.vector(vector("fed.sample.a", when=[step], then={}), "the vector")


MEM = "mem-01M36VAD80SM3JSP5YDYFP42E2"
PUTS: dict[str, Any] = {"op": "putMemory", "as": {"address": "human:bob", "canDecide": True}, "fields": {}}


def made(memory: Any) -> list[dict[str, Any]]:
    """The outcome of writing an entry, and of reading one."""
    return [{"ok": True, "result": {"memory": memory}}, {"ok": True, "result": {"exists": True, "id": MEM}}]


def writing(named: str) -> dict[str, Any]:
    """A vector that writes an entry and expects that another step names it."""
    expected = [None, {"ok": True, "result": {"id": named}}]
    when = [PUTS, {"op": "memory", "id": named}]
    return vector("fed.sample.an-entry", when=when, then={"steps": expected})


def test_what_a_step_made_is_named_by_the_steps_number() -> None:
    raw = writing("$memory1")
    vector_shape.vector(raw, "the vector")
    seen: Any = {"steps": made(MEM), "messages": []}
    assert reasons(raw, **seen) == []
    other = made("mem-01M36VAD80SM3JSP5YDYFP42E3")
    assert len(reasons(raw, steps=other, messages=[])) == 1
    refused: Any = [{"ok": False, "error": {"code": "invalid"}}, made(MEM)[1]]
    assert "$memory1 names nothing" in reasons(raw, steps=refused, messages=[])


@pytest.mark.parametrize("named", ["$memory2", "$memory3", "$document1", "$revision1"])
def test_a_name_of_what_no_earlier_step_makes_is_refused(named: str) -> None:
    with pytest.raises(ShapeError, match=r"names no earlier step that makes a"):
        vector_shape.vector(writing(named), "the vector")


@pytest.mark.parametrize("memory", [None, 7, "mem-1", "doc-01M36VAD80SM3JSP5YDYFP42E2", f"{MEM}0"])
def test_an_id_that_is_made_has_the_form_that_ops_take(memory: Any) -> None:
    raw = writing("$memory1")
    with pytest.raises(ShapeError, match=r"steps\[0\]\.result\.memory"):
        reasons(raw, steps=made(memory), messages=[])
