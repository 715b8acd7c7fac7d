"""`dmp conformance-adapter`: what it says to a runner, and how it ends (section 12.4.7)."""

import io
import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from core.engine import Engine
from replica.cli import main
from vectors.adapter.lines import converse

HELLO = {"dmp": "hello", "kit": "1.0.0"}
BYE = {"dmp": "bye"}
ADA = {"address": "human:ada", "canDecide": True}
RUN = {"address": "run:r-000001", "canDecide": False}
WORLD = {"workItems": [{"id": "t-000001", "liveSession": "run:r-000001"}, {"id": "t-000002"}]}


def vector(*steps: dict[str, Any], **given: Any) -> dict[str, Any]:
    return {
        "id": "core.mine.one",
        "title": "a vector",
        "class": "host-core",
        "level": "MUST",
        "profile": "core",
        "sections": ["4.5"],
        "given": {**WORLD, **given},
        "when": list(steps),
    }


def send(*to: str, by: dict[str, Any] = ADA, **rest: Any) -> dict[str, Any]:
    return {"op": "send", "as": by, "input": {"to": list(to), "kind": "message", "body": "hi", **rest}}


def talk(*lines: dict[str, Any] | bytes) -> list[Any]:
    """Say lines to an adapter and return what it answers."""
    said = [line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines]
    answers = io.BytesIO()
    converse(said, answers)
    assert answers.getvalue().isascii()
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def observed(*steps: dict[str, Any], **given: Any) -> Any:
    (observation,) = talk({"dmp": "run", "vector": vector(*steps, **given)})
    assert (observation["dmp"], observation["id"]) == ("observation", "core.mine.one")
    return observation


def outcomes(*steps: dict[str, Any], **given: Any) -> list[Any]:
    found: list[Any] = observed(*steps, **given)["steps"]
    return found


def run_command(monkeypatch: pytest.MonkeyPatch, said: bytes, *arguments: str) -> int:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(said)))
    return main.run(["conformance-adapter", *arguments])


def test_hello_declares_its_classes_both_profiles_and_every_gate_type() -> None:
    (hello,) = talk(HELLO)
    assert hello["classes"] == ["envelope", "host-core", "a2a-binding", "federation"]
    assert hello["profiles"] == ["core", "dispatch"]
    assert sorted(hello["capabilities"]) == ["implicit-members", "muted-senders"]
    assert hello["systemAddress"] == "agent:dispatch"
    assert len(hello["gateTypes"]) == 8
    assert sorted(hello["render"]) == ["digestLead", "header", "hostLines", "quotePrefix"]


def test_nothing_after_bye_is_read() -> None:
    assert len(talk(HELLO, BYE, b"never read")) == 1


def test_a_line_may_end_in_cr_lf() -> None:
    assert talk(b'{"dmp":"hello","kit":"1"}\r\n') == talk(HELLO)


def test_an_observation_has_what_happened_in_order() -> None:
    found = observed(send("task:t-000001", "human:bob"))
    (message,) = found["messages"]
    assert found["steps"] == [{"ok": True, "result": {"message": message["id"], "downgraded": False}}]
    assert (message["from"], message["createdAt"]) == ("human:ada", "2026-09-23T10:00:00.000Z")
    assert {
        each["recipient"]: (each["state"], each["session"], each["via"]) for each in found["deliveries"]
    } == {
        "task:t-000001": ("pushed", "run:r-000001", "direct"),
        "human:bob": ("notified", None, "direct"),
    }
    assert [call["hook"] for call in found["calls"]] == ["published", "push", "notifyHuman"]


def test_each_vector_has_a_host_of_its_own() -> None:
    run = {"dmp": "run", "vector": vector(send("human:bob"))}
    first, second = talk(run, run)
    assert first == second
    assert len(second["messages"]) == 1


def test_the_seed_makes_the_ids() -> None:
    step = send("human:bob")
    assert observed(step, seed=7) == observed(step, seed=7) != observed(step, seed=8)


def test_a_step_that_fails_fails_only_itself() -> None:
    first, second = outcomes(send("human:bob", kind="shout"), send("human:bob"))
    assert first == {"ok": False, "error": {"code": "invalid", "field": "kind"}}
    assert second["ok"]


def test_steps_name_the_messages_of_earlier_steps() -> None:
    found = observed(
        send("run:r-000001", kind="question"),
        {"op": "reply", "as": RUN, "message": "$s1", "input": {"body": "yes"}},
    )
    question, answer = found["messages"]
    assert (answer["replyTo"], answer["kind"]) == (question["id"], "answer")


def test_gates_and_notices_are_counted_apart_from_what_steps_sent() -> None:
    ask = send("task:t-000002", by=RUN, wake="request")
    own = send("human:ada", by={"address": "agent:dispatch", "canDecide": True}, kind="question")
    approve = {"op": "reply", "as": ADA, "message": "$gate1", "input": {"body": "", "choice": "approve"}}
    found = observed(own, ask, approve, owner="human:ada", rulings={"task:t-000002": "ask"})
    gate = found["messages"][2]
    assert gate["data"]["type"] == "wake"
    assert found["gateEffects"] == [gate["id"]]


def test_a_symbol_that_names_nothing_stays_and_names_no_message() -> None:
    (outcome,) = outcomes({"op": "reply", "as": ADA, "message": "$s9", "input": {"body": "x"}})
    assert outcome["error"] == {"code": "not-found", "field": "replyTo"}
    (message,) = observed(send("human:bob", body=f"$gate{'9' * 5000}"))["messages"]
    assert message["body"] == f"$gate{'9' * 5000}"


def test_the_world_changes_between_steps() -> None:
    found = observed(
        send("task:t-000002"),
        {"op": "world", "change": {"startSession": {"workItem": "t-000002", "session": "run:r-000002"}}},
        send("task:t-000002"),
        {"op": "world", "change": {"failPush": ["run:r-000002"]}},
        send("task:t-000002"),
        {"op": "world", "change": {"endSession": {"workItem": "t-000002"}}},
        {"op": "world", "change": {"advanceMs": 1500}},
        send("run:r-000002"),
    )
    assert [each["state"] for each in found["deliveries"]] == ["held", "pushed", "held"]
    assert found["steps"][-1] == {"ok": False, "error": {"code": "invalid", "field": "to[0]"}}
    assert found["steps"][1] == {"ok": True}


def test_the_clock_starts_where_the_vector_says_and_moves_on() -> None:
    later = {"op": "world", "change": {"advanceMs": 1500}}
    found = observed(send("human:bob"), later, send("human:bob"), clock="2030-01-01T00:00:00.000Z")
    assert [message["createdAt"] for message in found["messages"]] == [
        "2030-01-01T00:00:00.000Z",
        "2030-01-01T00:00:01.500Z",
    ]


def test_an_agents_registration_changes() -> None:
    agent = "agent:ada/tool"
    by = {"address": agent, "canDecide": False}
    revoke = {"op": "world", "change": {"agentStatus": {"address": agent, "status": "revoked"}}}
    before, _, after = outcomes(
        send("human:bob", by=by),
        revoke,
        send("human:bob", by=by),
        agents=[{"address": agent, "status": "approved"}],
    )
    assert (before["ok"], after["error"]["field"]) == (True, "from")


def test_validate_looks_up_its_target_and_stores_nothing() -> None:
    step = {
        "op": "validate",
        "as": ADA,
        "input": {"to": ["human:bob"], "kind": "message", "body": "x", "replyTo": "m-x"},
    }
    seeded = {
        "messages": [{"id": "m-x", "from": "human:bob", "to": ["human:ada"], "kind": "message", "body": "x"}]
    }
    absent = {**step, "replyTarget": "m-y"}
    found = observed(step, absent, {**step, "replyTarget": "m-x"}, store=seeded)
    assert [each["ok"] for each in found["steps"]] == [False, False, True]
    assert found["steps"][1]["error"] == {"code": "not-found", "field": "replyTo"}
    assert [message["id"] for message in found["messages"]] == ["m-x"]


def test_origin_received_keeps_refs_of_types_that_are_not_known_here() -> None:
    step = send("human:bob", refs=[{"type": "later", "id": "x"}])
    local, received = outcomes(step, {**step, "origin": "received"})
    assert (local["ok"], received["ok"]) == (False, True)


def test_rendered_texts_come_with_their_steps() -> None:
    found = observed(send("human:bob"), {"op": "render", "message": "$s1", "form": "digest"})
    text = found["steps"][1]["result"]["text"]
    assert found["render"] == [{"step": 2, "text": text}]
    assert "hi" in text


def test_channels_come_with_their_explicit_members() -> None:
    join = {"op": "join", "channel": "eng", "member": "human:bob"}
    leave = {"op": "leave", "channel": "ops", "member": "human:eve"}
    given = [{"name": "ops", "members": ["human:eve"]}]
    found = observed(join, leave, channels=given)
    assert found["channels"] == [{"name": "eng", "members": ["human:bob"]}, {"name": "ops", "members": []}]
    assert found["steps"][1]["result"] == {"removed": True}


def test_text_of_any_kind_crosses_in_one_line_of_ascii() -> None:
    body = "a\u2028b\u2029c\x85d\ne"
    (message,) = observed(send("human:bob", body=body))["messages"]
    assert message["body"] == body


@pytest.mark.parametrize(
    "wanted",
    [
        {**vector(), "class": "astronomy"},
        {**vector(), "given": {"moons": 2}},
        vector({"op": "a2a.peer", "alias": "acme"}),
        vector({"op": "a2a.project", "facts": {"moons": 2}}),
        vector({"op": "world", "change": {"eclipse": True}}),
        vector(send("human:bob"), clock="0001-01-01T00:00:00.000Z"),
        vector({"op": "world", "change": {"advanceMs": 10**15}}, send("human:bob")),
        vector({"op": "world", "change": {"advanceMs": -(10**15)}}, send("human:bob")),
    ],
)
def test_what_this_host_does_not_do_is_unsupported_with_a_reason(wanted: dict[str, Any]) -> None:
    (answer,) = talk({"dmp": "run", "vector": wanted})
    assert (answer["dmp"], answer["id"]) == ("unsupported", "core.mine.one")
    assert len(answer["reason"]) > 10


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"\n", "not JSON"),
        (b"{\n", "not JSON"),
        (b"7\n", "the line must be an object"),
        (b"{}\n", "needs dmp"),
        (b'{"dmp":"sing"}\n', "must be one of hello, run, bye"),
        (b'{"dmp":"run","vector":7}\n', "vector must be an object"),
        (
            json.dumps({"dmp": "run", "vector": {**vector(), "when": [7]}}).encode(),
            "when[0] must be an object",
        ),
        (json.dumps({"dmp": "run", "vector": vector({"op": "close"})}).encode(), "when[0] needs question"),
        (
            json.dumps({"dmp": "run", "vector": vector(clock="noon")}).encode(),
            "given.clock is not a timestamp",
        ),
        (
            json.dumps(
                {"dmp": "run", "vector": vector(agents=[{"address": "agent:a", "status": "odd"}])}
            ).encode(),
            "given.agents[0].status must be one of pending, approved, revoked",
        ),
        (
            json.dumps(
                {"dmp": "run", "vector": vector(channels=[{"name": "\ud800", "members": ["human:a"]}])}
            ).encode(),
            "given cannot be stored",
        ),
        (
            json.dumps(
                {
                    "dmp": "run",
                    "vector": vector(
                        store={
                            "deliveries": [
                                {"id": "d-1", "message": "m-1", "recipient": "human:a", "state": "read"}
                            ]
                        }
                    ),
                }
            ).encode(),
            "given cannot be stored",
        ),
        (
            json.dumps(
                {"dmp": "run", "vector": vector({"op": "inbox", "recipient": "human:a", "states": ["lost"]})}
            ).encode(),
            "when[0].states[0] must be one of held, sending",
        ),
    ],
)
def test_a_malformed_line_ends_the_adapter_with_a_sentence(
    line: bytes, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(monkeypatch, json.dumps(HELLO).encode() + b"\n" + line) == 2
    err = capsys.readouterr().err
    assert "line 2: " in err
    assert told in err
    assert "Traceback" not in err


def test_a_vector_that_meets_a_bug_takes_the_adapter_down_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(*_: object) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(Engine, "open_blocking", breaks)
    run = json.dumps({"dmp": "run", "vector": vector({"op": "openBlocking"})}).encode()
    assert run_command(monkeypatch, run) == 70
    told = capsys.readouterr()
    assert "core.mine.one ended in KeyError" in told.err
    assert "Traceback" not in told.err
    assert told.out == ""
    assert run_command(monkeypatch, run, "--verbose") == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("said", [b'{"dmp":"bye"}\n', b""])
def test_bye_and_silence_end_the_adapter(
    said: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(monkeypatch, said) == 0
    assert capsys.readouterr().out == ""
