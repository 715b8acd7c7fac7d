"""Remotes that fail, processes that meet, input that is wrong, and interruptions."""

import json
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.people import PATIENCE, Person, Town

REFUSE_EVERY_FIRST = """
cd "$GIT_DIR" || exit 1
if mkdir refused-once 2>/dev/null; then echo "not now" >&2; exit 1; fi
rmdir refused-once
"""
"""A hook that takes every second push."""


def test_mail_waits_while_the_remote_is_away(orchard: Town, ada: Person, bob: Person) -> None:
    ada.dmp("send", "human:bob", "one")
    ada.dmp("send", "human:bob", "two")
    away = orchard.repository.rename(orchard.folder / "away.git")
    assert "2 messages wait here for the remote to take" in ada.refused("sync")
    told = ada.json("sync", code=1)
    assert told["error"]["code"] == "unreachable"
    assert told["waiting"] == {"messages": 2}
    away.rename(orchard.repository)
    assert "Published" in ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["one", "two"]


def test_both_send_at_once_while_every_first_push_is_rejected(
    orchard: Town, ada: Person, bob: Person
) -> None:
    orchard.hook("pre-receive", REFUSE_EVERY_FIRST)
    ada.dmp("send", "human:bob", "from ada")
    bob.dmp("send", "human:ada", "from bob")
    with ThreadPoolExecutor() as pool:
        for _ in range(
            4
        ):  # a hook that refuses one side twice in a row is believed; it goes on in the next pass
            list(pool.map(lambda person: person.try_("sync"), (ada, bob)))
    assert (ada.bodies(), bob.bodies()) == (["from bob"], ["from ada"])
    audited = ada.try_("audit", "--from", f"git:{orchard.repository}")
    assert audited.code == 0, audited


def test_many_commands_share_one_directory(orchard: Town, ada: Person, bob: Person) -> None:
    with ThreadPoolExecutor(max_workers=6) as pool:
        syncs = [pool.submit(ada.dmp, "sync") for _ in range(2)]
        sends = [pool.submit(ada.dmp, "send", "human:bob", f"message {n}") for n in range(8)]
        for each in (*sends, *syncs):
            each.result()
    ada.dmp("sync")
    bob.dmp("sync")
    assert sorted(bob.bodies()) == [f"message {n}" for n in range(8)]
    assert ada.dmp("problems") == "No problems.\n"
    assert ada.try_("audit").code == 0


def test_watching_carries_mail_both_ways_and_ends_on_a_signal(ada: Person, bob: Person) -> None:
    with bob.running("sync", "--watch") as watching:
        watching.noted("Syncing until interrupted")
        ada.dmp("send", "human:bob", "ping")
        ada.dmp("sync")
        watching.told("applied [1-9]")
        watching.told("1 unread message: dmp inbox")
        bob.dmp("send", "human:ada", "pong")  # another process: the watching one notices
        watching.told("Published [1-9]")
        told = watching.end(signal.SIGINT)
    assert told.code == 130
    assert "Nothing is lost" in told.err
    ada.dmp("sync")
    assert ada.bodies() == ["pong"]


def test_watching_ends_well_when_it_is_told_to(bob: Person) -> None:
    with bob.running("sync", "--watch") as watching:
        watching.noted("Syncing until interrupted")
        told = watching.end(signal.SIGTERM)
    assert (told.code, "Traceback" in told.err) == (0, False)
    assert "Nothing is lost" in told.err


def test_watching_outlives_an_unreachable_remote(orchard: Town, ada: Person, bob: Person) -> None:
    away = orchard.repository.rename(orchard.folder / "away.git")
    with bob.running("sync", "--watch", "--interval", "1") as watching:
        watching.noted("unreachable")
        away.rename(orchard.repository)
        watching.noted("it works again")
        ada.dmp("send", "human:bob", "still there?")
        ada.dmp("sync")
        watching.told("applied [1-9]")
        watching.end(signal.SIGINT)
    assert bob.bodies() == ["still there?"]


def test_an_interrupted_push_loses_and_doubles_nothing(
    orchard: Town, ada: Person, bob: Person, tmp_path: Path
) -> None:
    reached, never = tmp_path / "reached", tmp_path / "never"
    for pipe in (reached, never):
        os.mkfifo(pipe)
    orchard.hook("pre-receive", f"echo here > '{reached}'; cat '{never}'")
    ada.dmp("send", "human:bob", "once")
    listening = os.open(reached, os.O_RDONLY | os.O_NONBLOCK)
    with ada.running("sync") as syncing:
        assert select.select([listening], [], [], PATIENCE)[0]
        told = syncing.end(signal.SIGINT)
    os.close(listening)
    assert told.code == 130
    assert "Nothing is lost" in told.err
    (orchard.repository / "hooks" / "pre-receive").unlink()
    ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["once"]


def test_a_changed_byte_on_the_branch_holds_up_its_replica_until_it_is_put_back(
    orchard: Town, ada: Person, bob: Person
) -> None:
    cy = orchard.invited(ada, "cy")
    ada.dmp("send", "human:bob", "from ada")
    cy.dmp("send", "human:bob", "from cy")
    ada.dmp("sync")
    cy.dmp("sync")
    seq = orchard.tamper(ada)
    bob.dmp("sync")
    assert bob.bodies() == ["from cy"]
    assert ("halt:" + ada.replica, seq) in [
        (problem["subject"], problem["seq"]) for problem in bob.json("problems")["problems"]
    ]
    orchard.git("pull", "--quiet", "--ff-only")
    orchard.git("revert", "--no-edit", ":/Tidy up")
    orchard.git("push", "--quiet")
    bob.dmp("sync")
    assert sorted(bob.bodies()) == ["from ada", "from cy"]
    assert "halt" not in bob.dmp("problems")


def test_r2_a_pause_is_told_and_ends_on_its_owners_word(orchard: Town, ada: Person, bob: Person) -> None:
    mark = orchard.folder / "home" / "state" / "dmp-replica" / f"{bob.replica}.json"
    bob.dmp("sync")
    remembered = json.loads(mark.read_text())
    mark.write_text(json.dumps({**remembered, "seq": remembered["seq"] + 3}))
    bob.dmp("send", "human:ada", "hello")
    assert "it looks restored from an older backup" in bob.refused("sync")
    told = bob.json("sync", code=1)
    assert told["error"]["code"] == "conflict"
    assert told["waiting"] == {"messages": 1}
    assert "It waits: this replica signs nothing for now" in bob.dmp("send", "human:ada", "and again")
    assert "Signing again" in bob.dmp("resume")
    bob.dmp("sync")
    ada.dmp("sync")
    assert ada.bodies() == ["hello", "and again"]


def test_r3_a_directory_restored_from_a_backup_stops_and_says_what_to_do(
    orchard: Town, ada: Person, bob: Person
) -> None:
    backup = (bob.root / "state.db").read_bytes()
    bob.dmp("send", "human:ada", "after the backup")
    bob.dmp("sync")
    for leftover in bob.root.glob("state.db-*"):
        leftover.unlink()
    (bob.root / "state.db").write_bytes(backup)
    told = bob.refused("sync")
    assert "signs nothing any more" in told.replace("It signs", "signs")
    assert "dmp init" in told
    assert "own" in bob.dmp("problems")
    assert bob.refused("resume").endswith("[conflict]\n")
    told = bob.dmp("send", "human:ada", "into the void")
    assert "signs nothing any more (see `dmp problems`): the mail stays here, and is not sent later." in told
    assert "Who can read it" not in told
    assert "dmp sync" not in told


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["read", "m-00000000000000000000000000"], 1, "not-found"),
        (["read", "../state.db"], 1, "not-found"),
        (["thread", "m-0"], 1, "not-found"),
        (["reply", "m-0", "hello"], 1, "not-found"),
        (["send", "bob", "hello"], 1, "invalid on to[0]"),
        (["send", "human:bob", "human:Bob!", "hello"], 1, "invalid on to[1]"),
        (["send", "human:bob", " "], 1, "invalid on body"),
        (["send", "human:bob", "x", "--choice", "yes"], 1, "invalid on choices"),
        (["send", "human:bob", "x", "--ref", "nothing"], 1, "invalid on refs[0]"),
        (["send", "human:bob", "x", "--data", "{"], 1, "invalid on data"),
        (["send", "human:bob", "x", "--data", '{"type": "gate"}'], 1, "invalid on data.type"),
        (["team", "invite", "Bob Smith"], 1, "invalid on handle"),
        (["team", "revoke", "zoe-00000000", "--reason", "x"], 1, "not-found on replica"),
        (["team", "role", "zoe-00000000", "king"], 2, "usage"),
        (["join", "di1.nonsense"], 1, "invalid on code"),
        (["task", "add", "Paint", "--status", "king"], 2, "usage"),
        (["memory", "merge", "mem-0", "mem-0"], 2, "usage"),
        (["sync", "--interval", "0"], 2, "usage"),
        (["sinc"], 2, "usage"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_wrong_input_is_refused_in_a_sentence(
    settled_town: Town, arguments: list[str], code: int, why: str
) -> None:
    told = settled_town.person("bob", init=False).try_(*arguments)
    assert told.code == code
    assert f"[{why}" in told.err
    assert told.out == ""


def test_input_that_is_no_unicode_is_refused(bob: Person) -> None:
    assert "[invalid on body]" in bob.refused("send", "human:ada", "\udcff")
    assert "[invalid on body]" in bob.refused("send", "human:ada", "-", stdin=b"\xff\xfe")
    assert "[not-found on ID]" in bob.refused("read", "\udcff")
    assert "[invalid on idempotencyKey]" in bob.refused(
        "send", "human:ada", "x", "--idempotency-key", "\udcff"
    )


def test_an_address_that_would_run_a_program_is_refused(town: Town) -> None:
    ada = town.person("ada")
    for remote in ("ext::sh -c id", "--upload-pack=id", "fd::17"):
        assert "[usage]" in ada.refused("team", "found", "Orchard", f"--git={remote}", code=2)


def test_a_password_in_an_address_is_never_shown(town: Town) -> None:
    ada = town.person("ada")
    told = ada.try_("team", "found", "Orchard", "--git", "https://ada:hunter2@127.0.0.1:1/x.git", "--verbose")
    assert told.code == 1
    assert "hunter2" not in told.out + told.err


def test_keys_that_others_can_read_are_not_used(bob: Person) -> None:
    (bob.root / "keys" / "replica.json").chmod(0o644)
    told = bob.refused("inbox")
    assert "chmod 600" in told
    assert "[forbidden]" in told


def test_what_is_no_directory_or_no_store_is_said_to_be_none(town: Town, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    nobody = Person("nobody", file, town.folder / "home")
    assert "[unavailable]" in nobody.refused("inbox")
    assert "[unavailable]" in nobody.refused("init", "--handle", "ada")
    assert "make one with `dmp init" in Person("x", tmp_path / "x", nobody.home).refused("inbox")
    ada = town.person("ada")
    (ada.root / "state.db").write_bytes(b"no database, and never was one" * 500)
    assert "file is not a database" in ada.refused("inbox")


def test_a_reader_that_goes_away_is_no_error_to_shout_about(bob: Person) -> None:
    with bob.running("team", "roster") as running:
        assert running.process.stdout is not None
        running.process.stdout.close()
        assert running.process.stderr is not None
        err = running.process.stderr.read()
    assert err == ""


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("inbox >&-", 0),
        ("inbox --dir nowhere 2>&-", 1),
        ("inbox <&- >&- 2>&-", 0),
        ("send human:ada - <&-", 1),
        ("inbox > /dev/full", 1),
        ("inbox --json > /dev/full", 1),
        ("inbox --dir nowhere 2> /dev/full", 1),
    ],
)
def test_streams_that_are_closed_or_full_end_no_command_in_a_traceback(
    typed: str, code: int, bob: Person
) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"$0" -m replica.cli.main {typed}', sys.executable],
        env=bob.environment,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == code
    assert done.stderr.count(b"\n") <= 1
    assert b"bug in dmp" not in done.stderr
