"""Bytes have one spelling each."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypto.encoding import (
    CROCKFORD,
    EncodingError,
    b64u,
    crockford32,
    sha256_hex,
    unb64u,
    uncrockford32,
)

BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@given(st.binary(max_size=80))
def test_base64url_reads_back(data: bytes) -> None:
    text = b64u(data)
    assert unb64u(text) == unb64u(text, len(data)) == data
    assert "=" not in text


def test_p6_a_signature_has_one_accepted_spelling_of_its_last_character() -> None:
    text = b64u(bytes(range(64)))
    assert len(text) == 86
    respelled = [text[:-1] + character for character in BASE64URL]
    same_bytes = [other for other in respelled if base64.urlsafe_b64decode(other + "==") == bytes(range(64))]
    assert len(same_bytes) == 16
    for other in same_bytes:
        if other != text:
            with pytest.raises(EncodingError):
                unb64u(other, 64)


@pytest.mark.parametrize(
    "text", ["QQ==", "QQ=", "Q", "QR", "+/+/", "QQ\n", " QQ", "Q Q", "QQé", "QQ\u0661", "ab-$"]
)
def test_p6_every_other_spelling_is_refused(text: str) -> None:
    with pytest.raises(EncodingError):
        unb64u(text)


def test_a_wrong_size_is_refused() -> None:
    with pytest.raises(EncodingError, match="3 bytes where 4"):
        unb64u("AAAA", 4)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"\x00", "00"),
        (b"\xff", "ZW"),
        (b"\x08\x42\x10\x84\x21", "11111111"),
        (b"\xff" * 5, "Z" * 8),
    ],
)
def test_crockford_goes_from_the_most_significant_bit(data: bytes, text: str) -> None:
    assert crockford32(data) == text


@given(st.binary(max_size=40))
def test_crockford_reads_back(data: bytes) -> None:
    assert uncrockford32(crockford32(data), len(data)) == data


@given(st.binary(min_size=1, max_size=40))
def test_crockford_is_the_bits_as_base_32_groups_them(data: bytes) -> None:
    standard = base64.b32encode(data).decode().rstrip("=")
    translated = standard.translate(str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", CROCKFORD))
    assert crockford32(data) == translated


@pytest.mark.parametrize("text", ["0O", "I0", "L0", "U0", "zw", "ZX", "Z", "ZW0", "Z-W", "ZW\n", "٠٠"])
def test_crockford_has_no_aliases_and_no_second_spelling(text: str) -> None:
    with pytest.raises(EncodingError):
        uncrockford32(text, 1)


def test_hashes_are_lowercase_hex() -> None:
    assert sha256_hex(b"{}") == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
