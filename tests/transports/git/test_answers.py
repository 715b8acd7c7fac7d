"""What git prints is told apart: away, beaten, refused."""

import pytest

from transports.base import Behind, Refused, Unreachable
from transports.git.answers import branch_is_missing, check_push, speaks_of_damage, unreachable
from transports.git.run import Done

REF = "abc:refs/heads/dmp-federation"


def push(line: str, said: str = "", code: int = 1) -> None:
    out = f"To https://ada:secret@example.org/mail\n{line}\nDone\n"
    check_push(Done(code, out.encode(), said), "https://example.org/mail")


@pytest.mark.parametrize(
    "line", [f" \t{REF}\tabc..def", f"*\t{REF}\t[new branch]", f"=\t{REF}\t[up to date]"]
)
def test_a_push_that_was_taken(line: str) -> None:
    push(line, code=0)


@pytest.mark.parametrize(
    "summary",
    [
        "[rejected] (fetch first)",
        "[rejected] (non-fast-forward)",
        "[rejected] (stale info)",
        "[remote rejected] (cannot lock ref 'refs/heads/x': is at 12 but expected 34)",
        "[remote rejected] (failed to update ref)",
        "[remote rejected] (incorrect old value provided)",
        "[remote rejected] (reference already exists)",
    ],
)
def test_a_push_that_somebody_else_was_faster_than(summary: str) -> None:
    with pytest.raises(Behind):
        push(f"!\t{REF}\t{summary}")


@pytest.mark.parametrize(
    ("summary", "said", "shown"),
    [
        ("[remote rejected] (pre-receive hook declined)", "remote: only on Sundays", "only on Sundays"),
        ("[remote rejected] (protected branch hook declined)", "remote: error: GH006: Protected", "GH006"),
        (
            "[remote rejected] (unpacker error)",
            "error: remote unpack failed: no space left",
            "unpacker error",
        ),
        ("[remote rejected] (deny updating a hidden ref)", "", "hidden ref"),
    ],
)
def test_a_push_that_the_remote_s_rules_refuse(summary: str, said: str, shown: str) -> None:
    with pytest.raises(Refused) as refusal:
        push(f"!\t{REF}\t{summary}", said)
    assert shown in refusal.value.message


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "ssh: connect to host example.org port 22: Connection refused"),
        ("", "error: failed to push some refs"),
        (f"!\t{REF}\t[remote failure] (remote failed to report status)", ""),
    ],
)
def test_a_push_of_which_nothing_is_known(line: str, said: str) -> None:
    with pytest.raises(Unreachable):
        push(line, said, code=128)


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("ssh: Could not resolve hostname x: Name or service not known", "the address"),
        ("fatal: unable to access 'https://x/': Could not resolve host: x", "the address"),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", "credentials"),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", "credentials"),
        ("git@x: Permission denied (publickey).", "credentials"),
        ("Host key verification failed.", "host's key"),
        ("fatal: '/x' does not appear to be a git repository", "repository exists"),
        ("remote: Repository not found.", "repository exists"),
        ("fatal: detected dubious ownership in repository at '/x'", "safe.directory"),
        ("fatal: transport 'ext' not allowed", "protocol"),
        ("git did not finish in time", "network"),
    ],
)
def test_each_way_of_being_away_has_a_hint(said: str, hint: str) -> None:
    error = unreachable("fetching", said)
    assert hint in error.hint
    assert error.message.startswith("fetching: ")


def test_m6_what_a_remote_says_is_shown_clean_and_short() -> None:
    said = "remote: \x1b[31mred\x07\u202e " + "x" * 1000 + "\nfatal: https://ada:secret@example.org/mail"
    message = unreachable("fetching", said).message
    assert len(message) < 500
    assert not any(ord(character) < 32 or character in "\x9b\u202e" for character in message)
    assert "secret" not in unreachable("fetching", said[-60:]).message


def test_a_branch_that_is_not_there_yet_is_told_from_a_repository_that_is_not() -> None:
    assert branch_is_missing("fatal: couldn't find remote ref refs/heads/dmp-federation\n")
    assert not branch_is_missing("fatal: '/x' does not appear to be a git repository\n")


def test_a_damaged_clone_is_told_from_a_remote_that_is_away() -> None:
    assert speaks_of_damage("error: object file clone.git/objects/12/34 is empty")
    assert not speaks_of_damage("fatal: Could not read from remote repository.")
    assert not speaks_of_damage("remote: fatal: bad tree object 0123\nerror: git upload-pack died")
