"""Each expectation of section 12.4.5 is met by what meets it and by nothing else, and what always holds is checked."""

from typing import Any

import pytest

from tests.vectors.runner.samples import HELLO, SYSTEM, delivery, hello, message, observation, send, vector
from vectors.runner.judge import judge
from vectors.runner.observation import read_observation

ULID = "01j8g7z0000000000000000000"


def reasons(raw: dict[str, Any], **seen: Any) -> list[str]:
    """What is wrong with an observation of a vector; the sample's own is right for the sample."""
    return judge(raw, hello(), read_observation(observation(**seen), raw["when"]))


def then(**members: Any) -> dict[str, Any]:
    return vector(then=members)


def test_the_sample_passes() -> None:
    assert reasons(vector()) == []


def test_a_vector_that_expects_nothing_passes() -> None:
    assert reasons(vector(then={})) == []


# steps


def test_a_step_that_should_be_refused_is_not() -> None:
    [reason] = reasons(then(steps=[{"ok": False, "error": {"code": "invalid"}}]))
    assert reason.startswith("steps[0]: expected")


@pytest.mark.parametrize(
    ("expected", "actual", "passes"),
    [
        ({"code": "invalid"}, {"code": "invalid", "field": "to[0]"}, True),
        ({"code": "invalid", "field": "to[0]"}, {"code": "invalid", "field": "to[0]", "text": "no"}, True),
        ({"code": "invalid"}, {"code": "forbidden"}, False),
        ({"code": "invalid", "field": "to[0]"}, {"code": "invalid", "field": "to"}, False),
        ({"code": "invalid", "field": "to[0]"}, {"code": "invalid"}, False),
    ],
)
def test_an_errors_code_matches_and_its_field_where_it_is_given(
    expected: dict[str, str], actual: dict[str, str], passes: bool
) -> None:
    raw = then(steps=[{"ok": False, "error": expected}])
    found = reasons(raw, steps=[{"ok": False, "error": actual}], messages=[], deliveries=[], calls=[])
    assert (found == []) == passes


def test_a_result_is_matched_as_a_subset() -> None:
    assert reasons(then(steps=[{"ok": True, "result": {"downgraded": False}}])) == []
    assert reasons(then(steps=[{"ok": True, "result": {"downgraded": True}}])) == [
        "steps[0].result.downgraded: expected true, got false"
    ]
    assert reasons(then(steps=[{"ok": True, "result": {"replayed": True}}])) == [
        "steps[0].result.replayed: expected true, got nothing"
    ]


def test_a_null_outcome_is_not_checked() -> None:
    refused = {"ok": False, "error": {"code": "limited"}}
    assert reasons(then(steps=[None]), steps=[refused], messages=[], deliveries=[], calls=[]) == []


# messages


def two(**second: Any) -> list[dict[str, Any]]:
    return [message("m-1"), message("m-2", **second)]


def sends(count: int = 2, **members: Any) -> dict[str, Any]:
    return vector(when=[send()] * count, **members)


def outcomes(*ids: str) -> list[dict[str, Any]]:
    return [{"ok": True, "result": {"message": each, "downgraded": False}} for each in ids]


def test_named_messages_stand_in_the_order_they_were_created() -> None:
    raw = sends(then={"messages": [{"id": "$s2"}, {"id": "$s1"}]})
    assert reasons(raw, steps=outcomes("m-1", "m-2"), messages=two()) == [
        "messages: they were not created in this order"
    ]
    raw = sends(then={"messages": [{"id": "$s1"}, {"id": "$s2"}]})
    assert reasons(raw, steps=outcomes("m-1", "m-2"), messages=two()) == []


def test_a_named_message_is_there_once() -> None:
    found = reasons(then(messages=[{"id": "$s1"}]), messages=[message("m-1")] * 2)
    assert "messages[0]: m-1 is stored twice" in found


def test_listed_fields_match_and_others_are_free() -> None:
    assert reasons(then(messages=[{"id": "$s1", "body": "hi"}])) == []
    assert reasons(then(messages=[{"id": "$s1", "body": "ho"}])) == [
        'messages[0].body: expected "ho", got "hi"'
    ]
    assert reasons(then(messages=[{"id": "$s1", "choice": "yes"}])) == [
        'messages[0].choice: expected "yes", got nothing'
    ]


def test_data_is_matched_as_a_subset_and_refs_are_not() -> None:
    stored = message("m-1", data={"type": "x-a", "more": 1}, refs=[{"type": "file", "id": "a", "at": "b"}])
    assert reasons(then(messages=[{"id": "$s1", "data": {"type": "x-a"}}]), messages=[stored]) == []
    assert (
        reasons(then(messages=[{"id": "$s1", "refs": [{"type": "file", "id": "a"}]}]), messages=[stored])
        != []
    )


def test_a_seeded_message_is_named_by_its_literal_id() -> None:
    given = {"store": {"messages": [{"id": "m-seed"}]}}
    raw = vector(given=given, then={"messages": [{"id": "m-seed", "kind": "notice"}]})
    assert reasons(raw, messages=[message("m-seed", kind="notice"), message("m-1")]) == []
    assert reasons(raw) == ["messages[0]: m-seed is stored not at all"]


def test_a_symbol_that_names_nothing_fails() -> None:
    assert reasons(then(noDeliveries=["$gate1"])) == ["$gate1 names no message"]


def test_gates_and_notices_are_counted_without_steps_and_seeded_rows() -> None:
    given = {"store": {"messages": [{"id": "m-0"}]}}
    asked = {"from": SYSTEM, "kind": "question"}
    stored = [
        message("m-0", **asked),
        message("m-1", **asked),
        message("m-2", **asked, body="first"),
        message("m-3", **{**asked, "from": "human:wyat"}),
        message("m-4", **{**asked, "kind": "notice"}, body="told"),
        message("m-5", **asked, body="second"),
    ]
    raw = vector(
        given=given,
        then={
            "messages": [
                {"id": "$gate1", "body": "first"},
                {"id": "$notice1", "body": "told"},
                {"id": "$gate2", "body": "second"},
            ]
        },
    )
    assert reasons(raw, messages=stored) == []


# noOtherMessages


def test_another_message_is_told() -> None:
    [reason] = reasons(vector(), messages=two())
    assert reason.startswith('noOtherMessages: there is another message, {"id": "m-2"')


@pytest.mark.parametrize(
    ("fields", "is_free"),
    [
        ({"from": SYSTEM, "kind": "notice"}, True),
        ({"from": SYSTEM, "kind": "question"}, False),
        ({"from": "agent:other", "kind": "notice"}, False),
    ],
)
def test_notices_from_the_system_address_are_no_other_messages(fields: dict[str, Any], is_free: bool) -> None:
    assert (reasons(vector(), messages=two(**fields)) == []) == is_free


def test_seeded_rows_and_messages_named_anywhere_are_no_other_messages() -> None:
    raw = vector(
        given={"store": {"messages": [{"id": "m-seed"}]}},
        when=[send(), send(), {"op": "thread", "thread": "$s2"}],
        then={"noOtherMessages": True, "noDeliveries": ["$s1"]},
    )
    steps = [*outcomes("m-1", "m-2"), {"ok": True, "result": {"messages": ["m-2"]}}]
    stored = [message("m-seed"), *two()]
    assert reasons(raw, steps=steps, messages=stored, deliveries=[]) == []


def test_a_message_of_a_step_that_is_named_nowhere_is_another() -> None:
    raw = sends(then={"noOtherMessages": True, "messages": [{"id": "$s1"}]})
    assert len(reasons(raw, steps=outcomes("m-1", "m-2"), messages=two())) == 1


# deliveries


ROW = {"message": "$s1", "recipient": "task:t-4a8cce"}


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [delivery("d-1", "m-1"), delivery("d-2", "m-1")],
        [delivery("d-1", "m-1"), delivery("d-2", "m-1", "human:ada")],
        [delivery("d-1", "m-1", "human:ada")],
    ],
)
def test_a_messages_deliveries_are_exactly_the_listed_ones_once_each(seen: list[dict[str, Any]]) -> None:
    [reason] = reasons(then(deliveries=[ROW]), deliveries=seen)
    assert reason.startswith("deliveries of m-1: expected one each to")


def test_deliveries_of_a_message_that_is_not_listed_are_free() -> None:
    assert reasons(then(deliveries=[ROW]), deliveries=[delivery("d-1", "m-1"), delivery("d-2", "m-x")]) == []


@pytest.mark.parametrize("listed", [{"via": "channel"}, {"state": "pushed"}, {"session": "run:r-1"}])
def test_via_state_and_session_are_compared_where_listed(listed: dict[str, str]) -> None:
    row = delivery("d-1", "m-1")
    assert reasons(then(deliveries=[{**ROW, **listed}]), deliveries=[row]) != []
    assert reasons(then(deliveries=[{**ROW, **listed}]), deliveries=[{**row, **listed}]) == []


def test_a_null_session_is_compared_too() -> None:
    bound = [delivery("d-1", "m-1", session="run:r-1")]
    assert reasons(then(deliveries=[{**ROW, "session": None}]), deliveries=bound) != []


def test_a_message_without_deliveries_has_none() -> None:
    assert reasons(then(noDeliveries=["$s1"]), deliveries=[]) == []
    assert reasons(then(noDeliveries=["$s1"])) == ["noDeliveries: m-1 has one to task:t-4a8cce"]


# calls


PUBLISHED = {"hook": "published", "message": "m-1"}
PUSHED = {"hook": "push", "session": "run:r-1", "message": "m-1"}
OTHERS = {"hook": "published", "message": "m-9"}


def expected(*calls: dict[str, str]) -> list[dict[str, str]]:
    return [{**each, "message": "$s1"} for each in calls]


@pytest.mark.parametrize(
    ("seen", "passes"),
    [
        ([PUBLISHED, PUSHED], True),
        ([PUBLISHED, OTHERS, PUSHED], True),
        ([PUSHED, PUBLISHED], False),
        ([PUBLISHED], False),
        ([PUBLISHED, PUSHED, PUSHED], False),
        ([PUBLISHED, {**PUSHED, "session": "run:r-2"}], False),
    ],
)
def test_calls_that_name_a_named_message_are_exact_and_in_order(
    seen: list[dict[str, str]], passes: bool
) -> None:
    assert (reasons(then(calls=expected(PUBLISHED, PUSHED)), calls=seen) == []) == passes


def test_calls_about_a_seeded_message_count_named_or_not() -> None:
    raw = vector(given={"store": {"messages": [{"id": "m-seed"}]}}, then={"calls": expected(PUBLISHED)})
    seen = [PUBLISHED, {"hook": "published", "message": "m-seed"}]
    assert reasons(raw, calls=seen, messages=[message("m-seed"), message("m-1")]) == [
        'calls[1]: expected null, got {"hook": "published", "message": "m-seed"}'
    ]


def test_a_call_that_names_two_messages_counts_for_either() -> None:
    answered = {"hook": "onAnswered", "question": "m-x", "answer": "m-1"}
    assert len(reasons(then(calls=expected(PUBLISHED)), calls=[PUBLISHED, answered])) == 1


@pytest.mark.parametrize(
    ("listed", "passes"),
    [
        ([], True),
        ([PUSHED], True),
        ([PUBLISHED, PUSHED], True),
        ([PUSHED, PUBLISHED], False),
        ([PUSHED, PUSHED], False),
    ],
)
def test_included_calls_are_there_in_order(listed: list[dict[str, str]], passes: bool) -> None:
    raw = then(callsInclude=expected(*listed), noDeliveries=["$notice9"] if not listed else [])
    found = [each for each in reasons(raw, calls=[PUBLISHED, PUSHED]) if "$notice9" not in each]
    assert (found == []) == passes


# gateEffects, voided, channels, render


@pytest.mark.parametrize("member", ["gateEffects", "voided"])
def test_effects_and_voided_answers_are_sets(member: str) -> None:
    raw = then(**{member: ["$s1", "m-a"]})
    assert reasons(raw, **{member: ["m-a", "m-1"]}) == []
    assert len(reasons(raw, **{member: ["m-1"]})) == 1
    assert len(reasons(raw, **{member: ["m-1", "m-a", "m-b"]})) == 1


@pytest.mark.parametrize(
    ("seen", "passes"),
    [
        ([{"name": "auth", "members": ["human:b", "human:a"]}], True),
        ([{"name": "auth", "members": ["human:a"]}], False),
        ([{"name": "auth", "members": ["human:a", "human:b", "human:c"]}], False),
        ([], False),
        ([{"name": "auth", "members": ["human:b", "human:a"]}, {"name": "web", "members": []}], False),
        ([{"name": "auth", "members": ["human:b", "human:a"]}] * 2, False),
    ],
)
def test_every_channel_is_listed_with_its_members(seen: list[dict[str, Any]], passes: bool) -> None:
    raw = then(channels=[{"name": "auth", "members": ["human:a", "human:b"]}])
    assert (reasons(raw, channels=seen) == []) == passes


RENDERED = {"step": 2, "text": "From human:wyat m-1\n> hi"}


def rendering(**members: Any) -> dict[str, Any]:
    return vector(when=[send(), {"op": "render", "message": "$s1", **members.pop("step", {})}], **members)


def rendered(text: str) -> dict[str, Any]:
    return {
        "steps": [*outcomes("m-1"), {"ok": True, "result": {"text": text}}],
        "render": [{"step": 2, "text": text}],
    }


def test_an_exact_text_is_compared_with_its_symbols_replaced() -> None:
    raw = rendering(then={"render": [{"step": 2, "text": "From human:wyat $s1\n> hi"}]})
    assert reasons(raw, **rendered("From human:wyat m-1\n> hi")) == []
    assert len(reasons(raw, **rendered("From human:wyat m-1\n> hi\n> "))) == 1


def test_every_push_and_digest_is_checked_whatever_the_vector_expects() -> None:
    assert reasons(rendering(then={}), **rendered("From human:wyat\n> hi")) == []
    [reason] = reasons(rendering(then={}), **rendered("From human:wyat\n> hi\nnot a line of the host"))
    assert reason.startswith("render of step 2: rule 4")
    digest = rendering(then={}, step={"form": "digest"})
    assert reasons(digest, **rendered("wyat says: hi")) == []
    assert [each[:16] for each in reasons(digest, **rendered("From human:wyat\n> hi"))] == [
        "render of step 2"
    ] * 2


@pytest.mark.parametrize(
    ("form", "pattern", "text"),
    [("push", "header", f"From {'a' * 60}!\n> hi"), ("digest", "digestLead", f"{'a' * 60}! hi")],
)
def test_a_pattern_that_takes_for_ever_is_a_fault_of_the_implementation(
    form: str, pattern: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vectors.runner.patterns.SECONDS", 0.5)
    raw, slow = rendering(step={"form": form}, then={}), hello(render={**HELLO["render"], pattern: "(a+)+$"})
    seen = read_observation(observation(**rendered(text)), raw["when"])
    [reason] = judge(raw, slow, seen)
    assert reason.startswith('render of step 2: the pattern "(a+)+$" ends the search')
    honest = rendered("From human:wyat\n> hi") if form == "push" else rendered("human:wyat says: hi")
    assert reasons(raw, **honest) == []  # the next search has a process of its own


def test_an_external_senders_push_is_checked_for_what_it_replies_to() -> None:
    raw = rendering(given={"store": {"messages": [{"id": "m-0"}]}}, then={}, step={"external": True})
    stored = [message("m-0", body="secret words"), message("m-1", replyTo="m-0")]
    honest = {**rendered("From human:wyat\n> hi\nre: m-0"), "messages": stored}
    assert reasons(raw, **honest) == []
    echo = {**rendered("From human:wyat\n> hi\nre: secret words"), "messages": stored}
    assert len(reasons(raw, **echo)) == 1


# What is always checked


@pytest.mark.parametrize("member", ["messages", "deliveries"])
@pytest.mark.parametrize("bad", ["", "M-1", "-m", "m 1", "m" * 65, "m-é"])
def test_every_id_is_an_identifier(member: str, bad: str) -> None:
    rows = {"messages": two(), "deliveries": [delivery("d-1", "m-1"), delivery("d-2", "m-1")]}
    rows[member][1]["id"] = bad
    found = reasons(vector(then={}), **rows)
    assert any("is not an identifier of at most 64 bytes" in each for each in found)


@pytest.mark.parametrize("member", ["messages", "deliveries"])
def test_every_id_is_unique(member: str) -> None:
    rows = {"messages": [message("m-1")] * 2, "deliveries": [delivery("d-1", "m-1")] * 2}
    assert reasons(vector(then={}), **{member: rows[member]}) == [
        f'{member}: the id "{rows[member][0]["id"]}" is there twice'
    ]


def test_generated_ids_increase_bytewise() -> None:
    raw = sends(then={})
    steps = outcomes("m-b", "m-a")
    [reason] = reasons(raw, steps=steps, messages=[message("m-b"), message("m-a")], deliveries=[])
    assert reason == 'messages: "m-a" was created after "m-b" and sorts before it'
    assert reasons(raw, steps=outcomes("m-z", "m-za"), messages=[message("m-z"), message("m-za")]) == []


def test_seeded_ids_are_exempt_from_the_increase_and_from_dispatchs_form() -> None:
    given = {"store": {"messages": [{"id": "m-z"}], "deliveries": [{"id": "d-z", "message": "m-z"}]}}
    raw = vector(given=given, profile="dispatch", then={})
    stored = [message("m-z"), message(f"m-{ULID}")]
    rows = [delivery("d-z", "m-z"), delivery(f"d-{ULID}", f"m-{ULID}")]
    assert reasons(raw, steps=outcomes(f"m-{ULID}"), messages=stored, deliveries=rows) == []


@pytest.mark.parametrize(
    "id", [f"d-{ULID}", ULID, f"m-{ULID[1:]}", f"m-{ULID.replace('j', 'u')}", f"m-{ULID}0"]
)
def test_a_dispatch_vector_wants_dispatchs_ids(id: str) -> None:
    def seen(profile: str) -> list[str]:
        raw = vector(profile=profile, then={})
        return reasons(raw, steps=outcomes(id), messages=[message(id)], deliveries=[], calls=[])

    assert [each for each in seen("dispatch") if "Dispatch profile" in each] != []
    assert seen("core") == []
