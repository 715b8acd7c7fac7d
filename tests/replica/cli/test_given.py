"""What a person hands in: bodies from standard input, and codes as they are copied and written down."""

import io
import sys
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from core.errors import DmpError
from core.validate import MAX_BODY_BYTES
from replica.cli import given

FINGERPRINT = "QNE4-HWFZ-ZDC6-MDWW-1GY1-E469"
CODE = f"di1.{32 * 'a'}.{52 * '0'}."


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_body_from_standard_input_loses_one_line_break_at_its_end(
    line_break: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h\n"
    stdin(monkeypatch, f"{text}{line_break}".encode())
    assert given.body("-") == text


def test_the_longest_body_may_end_in_a_line_break(monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, MAX_BODY_BYTES * b"x" + b"\r\n")
    assert len(given.body("-")) == MAX_BODY_BYTES


@pytest.mark.parametrize("much", ["x", "\U0001f34e"])
def test_more_than_a_body_is_refused_as_too_long_wherever_it_is_cut(
    much: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, b"." + 3 * MAX_BODY_BYTES * much.encode())
    with pytest.raises(DmpError, match="may take 65536 bytes; standard input gave more"):
        given.body("-")


@pytest.mark.parametrize("read", [given.body, given.invite_code])
def test_a_closed_standard_input_is_said_to_be_closed(
    read: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DmpError, match="standard input is closed"):
        read("-")


def test_a_typed_body_that_is_no_utf8_is_refused() -> None:
    with pytest.raises(DmpError, match="use UTF-8"):
        given.body("caf\udce9")


@pytest.mark.parametrize("copied", [CODE, CODE[:-1], f" {CODE}\n"])
def test_a_code_is_read_however_it_was_copied(copied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, copied.encode())
    assert given.invite_code(copied) == given.invite_code("-") == CODE


def test_the_relay_of_a_code_is_left_alone() -> None:
    assert given.invite_code(f"{CODE}aHR0cHM") == f"{CODE}aHR0cHM"


@pytest.mark.parametrize(
    "written",
    [
        FINGERPRINT,
        FINGERPRINT.lower(),
        FINGERPRINT.replace("-", ""),
        FINGERPRINT.replace("-", " "),
        "qne4hwfz-zdc6mdww-lgyi-e469",
    ],
)
def test_a_fingerprint_is_read_however_it_was_written_down(written: str) -> None:
    assert given.fingerprint(written) == FINGERPRINT


@pytest.mark.parametrize(
    "written", ["", "QNE4", f"{FINGERPRINT}-0000", FINGERPRINT.replace("Q", "U"), f"{FINGERPRINT[:-1]}\u0131"]
)
def test_what_cannot_be_a_fingerprint_is_not_compared(written: str) -> None:
    with pytest.raises(DmpError, match="six groups of four"):
        given.fingerprint(written)


@pytest.mark.parametrize("empty", [b"", b" \n"])
def test_no_recovery_code_on_standard_input_is_not_called_a_damaged_one(
    empty: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = io.BytesIO(empty)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=reader, isatty=lambda: False))
    with pytest.raises(DmpError, match="gave no code"):
        given.recovery_code()
