"""Roster bodies are read as known, malformed or unknown (federation wire 5.1, 5.2)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.canonical import canonical, parse
from crypto.op import ABSENT
from crypto.roster.bodies import (
    Action,
    Admit,
    Attestation,
    CloseLegacy,
    CutPoint,
    Dismiss,
    Found,
    Malformed,
    OpenInvite,
    Recover,
    Revoke,
    Role,
    SetHosts,
    SetLicense,
    SetRecoveryKey,
    SetRole,
    SetTransport,
    TransportKind,
    Unknown,
    read_body,
)

BOB = "bob-0000000b"
CUT = CutPoint(5, "ab" * 32)

KNOWN: list[Action] = [
    Found("Orchard", (Attestation(BOB, 3, "cd" * 32),), "key"),
    Admit(BOB, "bob", Role.ADMIN, "FP", ("carl",), observer=True),
    Admit(BOB, "bob", Role.MEMBER, "FP"),
    Revoke(BOB, CUT, "left"),
    SetRole(BOB, Role.ADMIN),
    SetRole(BOB, Role.MEMBER, CUT),
    SetHosts(BOB, ("carl",)),
    SetHosts(BOB, (), CUT),
    CloseLegacy(()),
    CloseLegacy((Attestation(BOB, 0, "ef" * 32),)),
    SetLicense("dispatch1.x.y"),
    OpenInvite("0123456789abcdef", "pub", "bob", "2030-01-01T00:00:00.000Z"),
    Recover("proof"),
    SetRecoveryKey("pub"),
    SetTransport(TransportKind.GIT),
    SetTransport(TransportKind.RELAY, "wss://relay.example"),
    Dismiss(BOB, 7, "ab" * 32),
]


@pytest.mark.parametrize("body", KNOWN, ids=lambda body: type(body).__name__)
def test_every_known_action_is_read_as_it_is_written(body: Action) -> None:
    assert read_body(parse(canonical(body.to_json()).decode()).value) == body


@pytest.mark.parametrize("body", KNOWN, ids=lambda body: type(body).__name__)
def test_extra_members_are_allowed(body: Action) -> None:
    assert read_body({**body.to_json(), "more": [1]}) == body


@pytest.mark.parametrize("body", [ABSENT, None, [], "admit", 1, {}, {"action": "role"}, {"rv": 1}])
def test_what_names_no_version_and_action_is_malformed(body: object) -> None:
    assert isinstance(read_body(body), Malformed)


@pytest.mark.parametrize("rv", ["1", 1.5, True, None, [1]])
def test_a_version_that_is_no_integer_is_malformed(rv: object) -> None:
    assert read_body({"rv": rv, "action": "admit"}) == Malformed("rv")


@pytest.mark.parametrize(
    "body", [{"rv": 2, "action": "admit"}, {"rv": 1, "action": "promote"}, {"rv": 1e300, "action": "admit"}]
)
def test_another_version_and_an_action_outside_the_twelve_are_unknown(body: object) -> None:
    assert read_body(body) == Unknown()


@pytest.mark.parametrize("body", KNOWN, ids=lambda body: type(body).__name__)
def test_a_known_action_with_a_member_of_the_wrong_type_is_malformed(body: Action) -> None:
    json = body.to_json()
    for member in json.keys() - {"rv", "action"}:
        assert read_body({**json, member: None}) == Malformed(member)


@pytest.mark.parametrize(
    ("body", "member"),
    [
        ({"rv": 1, "action": "admit", "replica": BOB, "handle": "b", "role": "owner"}, "role"),
        ({**KNOWN[2].to_json(), "observer": False}, "observer"),
        ({**KNOWN[2].to_json(), "hosts": [1]}, "hosts"),
        ({**KNOWN[3].to_json(), "afterSeq": -1}, "afterSeq"),
        ({**KNOWN[3].to_json(), "afterSeq": 2**53}, "afterSeq"),
        ({**KNOWN[3].to_json(), "afterSeq": True}, "afterSeq"),
        ({"rv": 1, "action": "revoke", "replica": BOB, "afterSeq": 1, "reason": ""}, "afterHash"),
        ({"rv": 1, "action": "transport", "kind": "pigeon"}, "kind"),
        ({"rv": 1, "action": "close-legacy", "entries": [{"replica": BOB}]}, "entries"),
    ],
)
def test_a_known_action_with_a_member_missing_or_out_of_range_is_malformed(body: object, member: str) -> None:
    assert read_body(body) == Malformed(member)


@pytest.mark.parametrize("replica", ["..", "../x-0000000b", "-", "bob", "bob-0000000B", "b\n-0000000b", ""])
def test_k8_a_body_that_names_a_replica_outside_the_grammar_is_malformed(replica: str) -> None:
    assert read_body({**KNOWN[3].to_json(), "replica": replica}) == Malformed("replica")


def test_half_a_cut_counts_for_nothing() -> None:
    half = {"rv": 1, "action": "role", "replica": BOB, "role": "member"}
    assert read_body({**half, "afterSeq": 4}) == SetRole(BOB, Role.MEMBER)
    assert read_body({**half, "afterHash": "ab" * 32}) == SetRole(BOB, Role.MEMBER)


_SCALARS: list[Any] = [None, True, False, 0, 1, 2, -1, 1.5, 2.0**70, "", "member", "git", BOB, "\x1b[2J"]
_json = st.sampled_from(
    [*_SCALARS, *([each] for each in _SCALARS), *({"replica": each} for each in _SCALARS)]
)


@given(
    st.sampled_from(KNOWN),
    st.dictionaries(
        st.sampled_from(
            ["rv", "action", "replica", "handle", "role", "hosts", "afterSeq", "entries", "legacy"]
        ),
        _json,
    ),
)
def test_any_json_is_read_as_something(body: Action, changes: dict[str, object]) -> None:
    assert read_body({**body.to_json(), **changes}) is not None
