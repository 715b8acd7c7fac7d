"""Which envelopes are good for which messages, and the reason for each that is not."""

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from bindings.machine_envelope.did_key import write_did
from bindings.machine_envelope.extension import METADATA_KEY, URI
from bindings.machine_envelope.issuing import LIFETIME_MS, issue
from bindings.machine_envelope.verifying import LONGEST_MS, Reason, RejectedError, verify
from crypto.canonical import parse
from tests.bindings.machine_envelope.making import (
    ISSUER,
    NOW,
    POLICY,
    RECIPIENT,
    SENDER,
    STRANGER,
    carrying,
    envelope,
    message,
    nonce,
    signed,
    terms,
)

FIXED = (
    '{"attestation_scope":{"attested":["who sends","the exact message","its receiver, purpose and time"],'
    '"not_attested":["that the message is true, safe or wise"],'
    '"privacy":"the message itself is not part of the envelope"},'
    '"envelope_sha256":"2497f8ea981f7911f8cb0508cb70f40667a6b79fb05908755c6395ebfa2d6030",'
    '"id":"urn:sha256:00ccd3046c3fdb9959e6d8d1423345b35a10ebb5696a65f86555b3a2536ee004",'
    '"issued_at":"2027-01-15T08:00:00.000Z","issuer":"did:key:z6Mkon3Necd6NkkyfoGoHxid2znGc59LU3K7mubaRcFbLfLX",'
    '"message":{"context":{"message_id":"m-1","protocol":"a2a-message/send@1.0"},"kind":"offer",'
    '"nonce":"07070707070707070707070707070707",'
    '"payload_sha256":"b026fc1603bb027c9237424612c76207595c9647c3c3ddf45138233244b2162c",'
    '"recipient":"did:key:z6Mkt6316e2PN3mZdB6N9CrzomJYUd1s5yBZi1XYHmwT9TUP"},'
    '"proof":"3a42b9435c852d57f38ba65c73a4dc1fd392ca0d8dda2f3ffe7faf740d5c263244409a01e9c3964a3994d6c69756bb819f684ea'
    '8665e1505cfc1d53b24cf460f","protocol":"agent-guild/machine-envelope/v1",'
    '"sender":{"authentication":"agent-guild/caller-proof/v1","caller_proof_verified":true,'
    '"did":"did:key:z6Mko9hTggMwjSTEaJaPUfE6tqcy2xvU6BnNq3e3o8qVBiyH"},"type":"AgentGuildMachineEnvelope",'
    '"valid_until":"2027-01-15T08:05:00.000Z","verification":{"suite":"eddsa-jcs-2022"},"version":1}'
)
"""The envelope of fixed keys, nonce and time: what is signed does not change by mistake."""

Path = tuple[str, ...]


def reason(value: Any, for_: dict[str, Any], now: int = NOW) -> Reason:
    with pytest.raises(RejectedError) as refusal:
        verify(value, for_, POLICY, now)
    return refusal.value.reason


def members(value: dict[str, Any], path: Path = ()) -> Iterator[Path]:
    for name, each in value.items():
        yield (*path, name)
        if isinstance(each, dict):
            yield from members(each, (*path, name))


def at(value: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path[:-1]:
        value = value[name]
    return value


PATHS = list(members(envelope(message())))


def test_the_envelope_of_fixed_keys_is_these_bytes() -> None:
    assert rfc8785.dumps(envelope(message())).decode() == FIXED
    assert verify(json.loads(FIXED), message(), POLICY, NOW).kind == "offer"


def test_an_envelope_verifies_by_other_libraries_alone() -> None:
    made = envelope(message())
    digest = made.pop("envelope_sha256")
    assert sha256(rfc8785.dumps(made)).hexdigest() == digest
    proof = bytes.fromhex(made.pop("proof"))
    Ed25519PublicKey.from_public_bytes(ISSUER.public).verify(proof, rfc8785.dumps(made))
    assert made["message"]["payload_sha256"] == sha256(rfc8785.dumps(message())).hexdigest()


def test_the_message_is_verified_with_the_envelope_in_it() -> None:
    for plain in (message(), message(metadata={"other": [1, 2.5]}), message(extensions=[URI])):
        made = envelope(plain)
        assert verify(made, carrying(plain, made), POLICY, NOW).message_id == "m-1"


def test_metadata_left_empty_is_signed_as_such_or_not_at_all() -> None:
    dropped, kept = message(), message(metadata={})
    digest = sha256(rfc8785.dumps(kept)).hexdigest()
    with_empty = envelope(kept, payload_sha256=digest)
    for made in (envelope(dropped), with_empty):
        verify(made, carrying(dropped, made), POLICY, NOW)


@pytest.mark.parametrize("metadata", [None, [], {"": 1}, {"x": None}])
def test_metadata_of_another_form_is_signed_as_it_is(metadata: Any) -> None:
    made = envelope(message())
    assert reason(made, message(metadata=metadata)) is Reason.PAYLOAD_MISMATCH


def test_the_digest_is_of_what_was_received_and_not_of_what_an_sdk_would_make_of_it() -> None:
    odd = parse(
        '{"messageId":"m-1","parts":[{"text":"\\u00e9"}],"role":"ROLE_USER","extra":1e2,"taskId":""}'
    ).value
    assert isinstance(odd, dict)
    made = envelope(odd)
    verify(made, odd, POLICY, NOW)
    assert reason(made, {**odd, "extra": 101}) is Reason.PAYLOAD_MISMATCH
    assert (
        reason(made, {name: each for name, each in odd.items() if name != "taskId"})
        is Reason.PAYLOAD_MISMATCH
    )


@pytest.mark.parametrize("path", PATHS, ids=".".join)
@pytest.mark.parametrize("value", [None, True, 1, "", "x", [], {}])
def test_a_change_of_any_member_is_refused(path: Path, value: Any) -> None:
    made = copy.deepcopy(envelope(message()))
    within = at(made, path)
    if type(within[path[-1]]) is type(value) and within[path[-1]] == value:
        return
    within[path[-1]] = value
    assert reason(made, message()) in (Reason.INVALID, Reason.UNTRUSTED_ISSUER)


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_a_member_that_is_missing_is_refused_also_when_it_is_signed_so(path: Path) -> None:
    made = copy.deepcopy(envelope(message()))
    del at(made, path)[path[-1]]
    again = made if path[-1] in ("proof", "envelope_sha256") else signed(made)
    assert reason(again, message()) is Reason.INVALID


@pytest.mark.parametrize(
    "path", [(), *(each for each in PATHS if each[-1] in ("sender", "message", "context"))]
)
def test_a_member_too_many_is_refused_also_when_it_is_signed_so(path: Path) -> None:
    made = copy.deepcopy(envelope(message()))
    at(made, (*path, "more"))["more"] = 1
    assert reason(signed(made), message()) is Reason.INVALID


@given(st.data())
def test_any_other_bit_in_what_is_signed_is_refused(data: st.DataObject) -> None:
    text = bytearray(FIXED.encode())
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= 1 << data.draw(st.integers(0, 7))
    try:
        changed = json.loads(text)
    except ValueError:
        return
    if changed != json.loads(FIXED):
        with pytest.raises(RejectedError):
            verify(changed, message(), POLICY, NOW)


@given(
    st.dictionaries(
        st.sampled_from(
            ["messageId", "role", "parts", "taskId", "contextId", "extensions", "metadata", "more"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
            lambda inner: (
                st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
            ),
            max_leaves=4,
        ),
        min_size=1,
        max_size=3,
    )
)
def test_a_change_of_the_message_is_refused(changed: dict[str, Any]) -> None:
    other = {**message(), **changed}
    made = envelope(message())
    if other in (message(), message(metadata={})):
        verify(made, other, POLICY, NOW)
    else:
        assert reason(made, other) in (Reason.PAYLOAD_MISMATCH, Reason.CONTEXT_MISMATCH)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"recipient": write_did(STRANGER.public)}, Reason.WRONG_RECIPIENT),
        ({"recipient": RECIPIENT.lower()}, Reason.WRONG_RECIPIENT),
        ({"kind": "intent"}, Reason.WRONG_PURPOSE),
        ({"kind": "Offer"}, Reason.WRONG_PURPOSE),
        ({"context_protocol": "a2a-message/send@0.3.0"}, Reason.CONTEXT_MISMATCH),
        ({"message_id": "m-2"}, Reason.CONTEXT_MISMATCH),
        ({"payload_sha256": "0" * 64}, Reason.PAYLOAD_MISMATCH),
    ],
)
def test_what_a_trusted_issuer_signed_for_something_else_is_refused(
    changed: dict[str, str], expected: Reason
) -> None:
    assert reason(envelope(message(), **changed), message()) is expected


def test_an_issuer_that_was_not_pinned_is_refused() -> None:
    assert reason(envelope(message(), STRANGER), message()) is Reason.UNTRUSTED_ISSUER


def test_a_signature_by_another_key_than_the_issuers_is_refused() -> None:
    for key in (STRANGER, SENDER):
        assert reason(signed(envelope(message()), key), message()) is Reason.INVALID


def test_a_proof_over_the_envelope_in_another_form_is_refused() -> None:
    made = envelope(message())
    bare = {name: each for name, each in made.items() if name not in ("proof", "envelope_sha256")}
    proven = {**bare, "proof": ISSUER.sign(json.dumps(bare).encode()).hex()}
    again = {**proven, "envelope_sha256": sha256(rfc8785.dumps(proven)).hexdigest()}
    assert reason(again, message()) is Reason.INVALID


def test_the_reasons_come_in_this_order() -> None:
    made = envelope(message(), recipient="x", kind="y", context_protocol="z", payload_sha256="0" * 64)
    late, other = NOW + LONGEST_MS, message(messageId="m-2")
    assert reason(made, other, late) is Reason.PAYLOAD_MISMATCH
    made = envelope(other, recipient="x", kind="y", context_protocol="z")
    assert reason(made, other, late) is Reason.WRONG_RECIPIENT
    assert reason(envelope(other, kind="y", context_protocol="z"), other, late) is Reason.WRONG_PURPOSE
    assert reason(envelope(other, context_protocol="z"), other, late) is Reason.CONTEXT_MISMATCH
    assert reason(envelope(other), other, late) is Reason.EXPIRED


def test_the_time_has_no_tolerance() -> None:
    made = envelope(message())
    verify(made, message(), POLICY, NOW)
    verify(made, message(), POLICY, NOW + LIFETIME_MS)
    assert reason(made, message(), NOW - 1) is Reason.NOT_YET_VALID
    assert reason(made, message(), NOW + LIFETIME_MS + 1) is Reason.EXPIRED


def test_an_envelope_for_more_than_a_day_is_refused() -> None:
    for_a_day = issue(ISSUER, terms(message()), NOW, nonce, LONGEST_MS)
    verify(for_a_day, message(), POLICY, NOW)
    longer = issue(ISSUER, terms(message()), NOW, nonce, LONGEST_MS + 1)
    assert reason(longer, message()) is Reason.INVALID


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [{"type": "AgentGuildMachineEnvelope"}]])
def test_what_is_no_envelope_is_refused(value: Any) -> None:
    assert reason(value, message()) is Reason.INVALID


def test_an_envelope_that_is_too_large_is_refused() -> None:
    made = envelope(message())
    made["attestation_scope"]["privacy"] = "x" * 20_000
    assert reason(signed(made), message()) is Reason.INVALID


def test_an_envelope_or_message_without_a_canonical_form_is_refused() -> None:
    made = envelope(message())
    made["attestation_scope"]["privacy"] = "\ud800"
    assert reason(made, message()) is Reason.INVALID
    assert reason(envelope(message()), message(contextId="\ud800")) is Reason.PAYLOAD_MISMATCH


def test_the_metadata_key_is_the_published_one() -> None:
    elsewhere = replace(POLICY, metadata_key="other")
    made = envelope(message())
    with pytest.raises(RejectedError):
        verify(made, carrying(message(), made), elsewhere, NOW)
    assert METADATA_KEY == "io.agent-guild/machine-envelope"
