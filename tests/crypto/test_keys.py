"""Replica ids, fingerprints, key bodies and private keys (Appendix F)."""

import base64
import hashlib
import os
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from crypto.canonical import canonical, decode, parse
from crypto.encoding import CROCKFORD, b64u, unb64u
from crypto.keys import (
    MAX_CAPS,
    REPLICA_ID,
    InviteProof,
    KeyBody,
    KeyBodyError,
    Legacy,
    Secrets,
    SecretsError,
    fingerprint,
    mint_replica_id,
    parse_key_body,
    person_part,
    team_id,
)

SIGN_PUB, SEAL_PUB = b64u(bytes(range(32))), b64u(bytes(range(32, 64)))
BODY: dict[str, Any] = {
    "handle": "ada",
    "device": "laptop",
    "build": "dmp-replica 0.1.0",
    "signPub": SIGN_PUB,
    "sealPub": SEAL_PUB,
    "legacy": None,
}


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in BODY.items() if key != name}


# Replica ids


@pytest.mark.parametrize(
    ("handle", "person"),
    [
        ("ada", "ada"),
        ("Ada.Lovelace_1-x", "ada.lovelace_1-x"),
        ("ädä love", "dlove"),
        ("日本", "replica"),
        ("", "replica"),
        ("a" * 40, "a" * 32),
    ],
)
def test_a_minted_id_keeps_of_the_handle_what_the_grammar_allows(handle: str, person: str) -> None:
    replica = mint_replica_id(handle, lambda size: b"\x00\x0a" * (size // 2))
    assert replica == f"{person}-000a000a"
    assert person_part(replica) == person


@given(st.text(max_size=50))
def test_every_minted_id_is_within_the_grammar(handle: str) -> None:
    assert REPLICA_ID.fullmatch(mint_replica_id(handle, os.urandom))


@pytest.mark.parametrize("replica", ["a-00000000", "..-0000000a", "--0000000a", "A.b_c-d-deadbeef"])
def test_k8_ids_within_the_grammar_may_look_like_paths_and_options(replica: str) -> None:
    assert REPLICA_ID.fullmatch(replica)


@pytest.mark.parametrize(
    "replica",
    [
        "ada",
        "-0000000a",
        "ada-0000000A",
        "ada-000000a",
        "ada-0000000a\n",
        "ada/-0000000a",
        "ad\u00e4-0000000a",
        "ada-0000000\u0661",
        "a" * 33 + "-0000000a",
    ],
)
def test_p5_ids_outside_the_grammar_are_refused(replica: str) -> None:
    assert not REPLICA_ID.fullmatch(replica)


# Fingerprints


def test_a_fingerprint_is_fifteen_bytes_of_a_hash_in_six_groups() -> None:
    digest = hashlib.sha256(f"dispatch-fp-v1\n{SIGN_PUB}\n{SEAL_PUB}".encode()).digest()[:15]
    standard = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", CROCKFORD)
    text = base64.b32encode(digest).decode().translate(standard)
    shown = fingerprint(SIGN_PUB, SEAL_PUB)
    assert shown.split("-") == [text[start : start + 4] for start in range(0, 24, 4)]
    assert shown == "JKPG-X006-C4Z0-A6RW-TRBJ-0Z6T"


def test_a_fingerprint_covers_both_keys_in_their_order() -> None:
    other = b64u(bytes(32))
    shown = {
        fingerprint(SIGN_PUB, SEAL_PUB),
        fingerprint(SEAL_PUB, SIGN_PUB),
        fingerprint(other, SEAL_PUB),
        fingerprint(SIGN_PUB, other),
    }
    assert len(shown) == 4


def test_a_team_id_is_half_of_the_founding_hash() -> None:
    assert team_id("0123456789abcdef" * 4) == "0123456789abcdef" * 2


# Key bodies


def test_a_key_body_gives_its_keys_and_fingerprint() -> None:
    body = parse_key_body(BODY)
    assert body == KeyBody("ada", "laptop", "dmp-replica 0.1.0", SIGN_PUB, SEAL_PUB)
    assert (body.sign_key, body.seal_key) == (bytes(range(32)), bytes(range(32, 64)))
    assert body.fingerprint == fingerprint(SIGN_PUB, SEAL_PUB)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"legacy": {"throughSeq": 0, "digest": "0a" * 32}},
        {"invite": {"id": "0123456789abcdef", "sig": "x"}},
        {"caps": ["relay", "x-1"]},
        {"device": "d" * 128, "build": "é😀"},
        {"handle": "0" + "a._-" * 15 + "zzz"},
    ],
)
def test_a_key_body_writes_what_it_read(more: dict[str, Any]) -> None:
    body = {**BODY, **more}
    assert parse_key_body(body).to_json() == body


def test_optional_members_are_typed() -> None:
    more: dict[str, Any] = {
        "legacy": {"throughSeq": 7, "digest": "0a" * 32},
        "invite": {"id": "i", "sig": "s"},
        "caps": ["relay"],
    }
    body = parse_key_body({**BODY, **more})
    assert (body.legacy, body.invite, body.caps) == (Legacy(7, "0a" * 32), InviteProof("i", "s"), ("relay",))


def test_members_of_a_key_body_that_are_not_known_are_passed_over() -> None:
    assert parse_key_body({**BODY, "later": {"x": 1}}) == parse_key_body(BODY)


def test_p3_a_sequence_written_with_a_point_is_an_integer() -> None:
    text = decode(canonical({**BODY, "legacy": {"throughSeq": 5, "digest": "0a" * 32}})).replace(
        ":5}", ":5.0}"
    )
    assert parse_key_body(parse(text).value).legacy == Legacy(5, "0a" * 32)


@pytest.mark.parametrize("value", [None, [], "key", 1, True])
def test_a_key_body_is_an_object(value: Any) -> None:
    with pytest.raises(KeyBodyError):
        parse_key_body(value)


@pytest.mark.parametrize("name", BODY)
def test_every_required_member_is_required(name: str) -> None:
    with pytest.raises(KeyBodyError, match=name):
        parse_key_body(without(name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("handle", ""),
        ("handle", "Ada"),
        ("handle", "-ada"),
        ("handle", "a" * 65),
        ("handle", "ada\n"),
        ("handle", "ad\u0430"),
        ("handle", 1),
        ("device", ""),
        ("device", "d" * 129),
        ("device", "😀" * 65),
        ("device", "a\x1b[31m"),
        ("device", "a\x85b"),
        ("device", "a\x9bb"),
        ("device", "a\n"),
        ("device", None),
        ("build", "\x00"),
        ("build", 1.5),
        ("signPub", "AAAA"),
        ("signPub", SIGN_PUB + "="),
        ("signPub", SIGN_PUB[:-1] + "9"),
        ("signPub", None),
        ("sealPub", SEAL_PUB[:-1] + "B"),
        ("sealPub", b64u(bytes(33))),
        ("legacy", False),
        ("legacy", []),
        ("legacy", {}),
        ("legacy", {"throughSeq": 1}),
        ("legacy", {"digest": "0a" * 32}),
        ("legacy", {"throughSeq": -1, "digest": "0a" * 32}),
        ("legacy", {"throughSeq": True, "digest": "0a" * 32}),
        ("legacy", {"throughSeq": 1.5, "digest": "0a" * 32}),
        ("legacy", {"throughSeq": 2**53, "digest": "0a" * 32}),
        ("legacy", {"throughSeq": 1, "digest": "0A" * 32}),
        ("legacy", {"throughSeq": 1, "digest": "0a" * 32 + "\n"}),
        ("invite", None),
        ("invite", "i"),
        ("invite", {"id": "i"}),
        ("invite", {"id": 1, "sig": "s"}),
        ("caps", None),
        ("caps", "relay"),
        ("caps", [1]),
        ("caps", ["Relay"]),
        ("caps", ["-x"]),
        ("caps", ["relay\n"]),
        ("caps", ["a" * 33]),
        ("caps", ["a"] * (MAX_CAPS + 1)),
    ],
)
def test_p5_p6_a_member_outside_its_rule_is_refused(name: str, value: Any) -> None:
    with pytest.raises(KeyBodyError):
        parse_key_body({**BODY, name: value})


# Private keys


def test_new_keys_come_from_the_given_randomness_alone() -> None:
    drawn = iter([bytes([1]) * 32, bytes([2]) * 32])
    secrets = Secrets.generate(lambda size: next(drawn))
    assert (secrets.signer.seed, secrets.seal_private) == (bytes([1]) * 32, bytes([2]) * 32)
    assert unb64u(secrets.sign_pub, 32) == secrets.signer.public
    agreed = X25519PrivateKey.from_private_bytes(bytes([2]) * 32).public_key().public_bytes_raw()
    assert unb64u(secrets.seal_pub, 32) == agreed


def test_private_keys_are_written_as_pkcs8_der_and_read_back() -> None:
    secrets = Secrets.generate(os.urandom)
    prefix = "302e020100300506032b65{}04220420"  # RFC 8410
    assert unb64u(secrets.sign_priv).hex() == prefix.format("70") + secrets.signer.seed.hex()
    assert unb64u(secrets.seal_priv).hex() == prefix.format("6e") + secrets.seal_private.hex()
    assert Secrets.from_pkcs8(secrets.sign_priv, secrets.seal_priv) == secrets


def test_private_keys_do_not_show() -> None:
    secrets = Secrets.generate(lambda size: bytes([7]) * size)
    assert repr(bytes([7]) * 32) not in repr(secrets)
    assert "seal_private" not in repr(secrets)


def test_a_text_that_is_no_private_key_of_its_kind_is_refused() -> None:
    secrets = Secrets.generate(os.urandom)
    for sign_priv, seal_priv in [
        ("", secrets.seal_priv),
        ("AAAA", secrets.seal_priv),
        (secrets.sign_priv + "=", secrets.seal_priv),
        (secrets.seal_priv, secrets.sign_priv),
        (secrets.sign_priv, secrets.sign_priv),
    ]:
        with pytest.raises(SecretsError):
            Secrets.from_pkcs8(sign_priv, seal_priv)
