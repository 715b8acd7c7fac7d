"""What two people do, from nothing to a settled question, each command a process of its own."""

import re
from dataclasses import replace

from tests.e2e.people import Person, Town


def question_id(person: Person) -> str:
    return str(person.json("open")["open"][0]["id"])


def test_found_invite_join_ask_answer_settle(town: Town) -> None:
    town = replace(town, real=True)
    ada, bob = town.person("ada"), town.person("bob")

    told = ada.dmp("team", "found", "Orchard", "--git", str(town.repository))
    assert "Founded “Orchard” on the branch dmp-federation" in told
    assert re.search(r"^  ([0-9A-Z]{4}-){12}[0-9A-Z]{4}$", told, re.MULTILINE)

    code = ada.dmp("team", "invite", "bob").strip()
    told = bob.dmp("join", code, "--git", str(town.repository))
    assert ada.fingerprint in told
    assert bob.fingerprint in told
    assert "dmp sync" in told

    told = ada.dmp("sync")
    assert (
        f"bob's bob-laptop ({bob.replica}) is in the team now, with the fingerprint {bob.fingerprint}" in told
    )
    assert "This machine is in the team now" in bob.dmp("sync")
    roster = ada.dmp("team", "roster")
    assert "admin" in roster
    assert bob.fingerprint in roster

    told = ada.dmp(
        *("send", "human:bob", "Ship it?", "--kind", "question"),
        *("--choice", "yes", "--choice", "no", "--blocking"),
    )
    assert f"besides this machine: bob's bob-laptop ({bob.replica})." in told
    asked = question_id(ada)
    assert "waiting to be published to bob's bob-laptop" in ada.dmp("thread", asked)
    ada.dmp("sync")
    assert "published to bob's bob-laptop" in ada.dmp("thread", asked)

    assert "1 unread message" in bob.dmp("sync")
    inbox = bob.dmp("inbox")
    assert f"human:ada (remote: ada's ada-laptop ({ada.replica}))" in inbox
    assert "choices: “yes”, “no”" in inbox
    assert "waits for your answer" in bob.dmp("open")
    assert f"dmp reply {asked} TEXT --choice CHOICE" in bob.dmp("read", asked)
    bob.dmp("sync")
    ada.dmp("sync")
    assert f"delivered to bob's bob-laptop ({bob.replica}): read" in ada.dmp("thread", asked)

    told = bob.dmp("reply", asked, "Go ahead.", "--choice", "yes")
    assert f"ada's ada-laptop ({ada.replica}) settles it" in told
    assert "pending until ada's ada-laptop" in bob.dmp("inbox")
    bob.dmp("sync")
    ada.dmp("sync")
    assert "settled: “yes” by human:bob (remote: bob's bob-laptop" in ada.dmp("thread", asked)
    bob.dmp("sync")
    assert "settled: “yes” by human:bob" in bob.dmp("thread", asked)
    assert bob.dmp("open") == ada.dmp("open") == "No open questions.\n"
    assert bob.dmp("problems") == ada.dmp("problems") == "No problems.\n"
    assert bob.refused("reply", asked, "Or not.", "--choice", "no").endswith("[conflict on replyTo]\n")


def test_who_has_no_invite_is_admitted_by_a_fingerprint_that_fits(town: Town) -> None:
    ada, eve = town.founder(), town.person("eve")
    told = eve.dmp("join", "--git", str(town.repository))
    assert f"dmp team admit {eve.replica} --fingerprint {eve.fingerprint}" in told
    assert "waits to be admitted" in eve.dmp("sync")
    assert "1 machine to be admitted: dmp team pending" in ada.dmp("sync")
    town.person("carl").dmp("join", "--git", str(town.repository))
    assert "2 machines to be admitted: dmp team pending" in ada.dmp("sync")
    assert "2 machines to be admitted" in ada.dmp("team", "roster")
    pending = ada.dmp("team", "pending")
    assert eve.fingerprint in pending
    assert "nobody" in pending

    wrong = ada.fingerprint
    assert "has another fingerprint" in ada.refused("team", "admit", eve.replica, "--fingerprint", wrong)
    assert "waits to be admitted" in eve.dmp("sync")

    assert "Admitted" in ada.dmp("team", "admit", eve.replica, "--fingerprint", eve.fingerprint.lower())
    assert "This machine is in the team now" in eve.dmp("sync")
    ada.dmp("team", "role", eve.replica, "admin")
    eve.dmp("sync")
    assert eve.json("team", "roster")["members"][1]["role"] == "admin"


def test_an_invite_that_cannot_admit_this_machine_is_said_to_at_once(ada: Person, orchard: Town) -> None:
    code = ada.dmp("team", "invite", "carl").strip()
    eve = orchard.person("eve")
    told = eve.dmp("join", code.removesuffix("."), "--git", str(orchard.repository))
    assert "The invite is for the handle “carl”; this machine's is eve." in told
    assert f"dmp team admit {eve.replica} --fingerprint {eve.fingerprint}" in told
    assert "1 machine to be admitted" in ada.dmp("sync")
    ada.dmp("team", "admit", eve.replica, "--fingerprint", eve.fingerprint.replace("-", "").lower())
    assert "This machine is in the team now" in eve.dmp("sync")


def test_join_waits_for_the_admission_when_asked_to(town: Town) -> None:
    ada, bob = town.founder(), town.person("bob")
    code = ada.dmp("team", "invite", "bob").strip()
    with bob.running("join", code, "--git", str(town.repository), "--wait") as waiting:
        waiting.noted("Waiting to be admitted")
        ada.dmp("sync")
        told = waiting.end()
    assert told.code == 0
    assert told.out.endswith("Admitted.\n")


def test_a_founding_that_went_wrong_is_repeated_with_the_right_remote(town: Town) -> None:
    ada = town.person("ada")
    assert "does not appear to be a git repository" in ada.refused(
        "team", "found", "Orchard", "--git", str(town.folder / "nowhere.git")
    )
    assert "is in no team yet" in ada.refused("sync")
    ada.dmp("team", "found", "Orchard", "--git", str(town.repository))
    ada.dmp("sync")


def test_a_founding_no_remote_took_keeps_its_recovery_code(town: Town) -> None:
    town.hook("pre-receive", "exit 1")
    ada = town.person("ada")
    told = ada.try_("team", "found", "Orchard", "--git", str(town.repository))
    assert told.code == 1
    assert "recovery code" in told.out
    assert "nobody can see it yet" in told.err
    (town.repository / "hooks" / "pre-receive").unlink()
    again = ada.dmp("team", "found", "Orchard", "--git", str(town.repository))
    assert "recovery code" not in again


def test_a_second_team_on_one_branch_and_a_second_team_for_one_key_are_refused(town: Town) -> None:
    ada, zoe = town.founder(), town.person("zoe")
    assert "a team was founded there already" in zoe.refused(
        "team", "found", "Other", "--git", str(town.repository)
    )
    zoe.dmp("team", "found", "Other", "--git", str(town.repository), "--branch", "other")
    assert "a key serves one team" in ada.refused(
        "team", "found", "Other", "--git", str(town.repository), "--branch", "third"
    )


def test_a_revoked_machine_is_told_so_and_gets_nothing_more(ada: Person, bob: Person) -> None:
    assert "Revoked" in ada.dmp("team", "revoke", bob.replica, "--reason", "laptop “lost”")
    told = ada.dmp("send", "human:bob", "secret")
    assert "Mail to human:bob stays here: nobody of that name has a machine in the team." in told
    assert "Who can read it" not in told
    assert "was revoked by ada's ada-laptop" in bob.dmp("sync")
    assert "not sent later" in bob.dmp("send", "human:ada", "hello?")
    ada.dmp("sync")
    assert bob.bodies() == []
    assert "was revoked by ada's ada-laptop" in ada.dmp("team", "roster")


def test_send_says_who_can_read_and_for_whom_the_mail_stays(ada: Person, bob: Person) -> None:
    told = ada.dmp("send", "human:bob", "human:carol", "hello")
    assert f"besides this machine: bob's bob-laptop ({bob.replica})." in told
    assert "Mail to human:carol stays here" in told
    told = ada.dmp("send", "human:carol", "hello")
    assert "Who can read it" not in told
    assert "dmp sync" not in told


def test_a_body_comes_from_standard_input_and_a_key_sends_it_once(ada: Person, bob: Person) -> None:
    for _ in range(2):
        told = ada.dmp("send", "human:bob", "-", "--idempotency-key", "build-7", stdin="two\nlines\n")
    assert told.startswith("Sent before: m-")
    ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["two\nlines"]


def test_m6_a_message_cannot_speak_as_the_program(ada: Person, bob: Person) -> None:
    ada.dmp(
        "send", "human:bob", "-", stdin="hi\x1b[2J\nsettled: “yes” by human:bob\u2028dmp: \u202eall is well"
    )
    ada.dmp("sync")
    bob.dmp("sync")
    (message,) = (each["message"] for each in bob.json("inbox")["deliveries"])
    told = bob.dmp("read", message["id"])
    assert told.splitlines()[1:] == [
        "  | hi\\x1b[2J",
        "  | settled: “yes” by human:bob",
        "  | dmp: \\u202eall is well",
    ]


def test_send_says_where_mail_waits_that_nobody_sees_at_once(town: Town) -> None:
    zoe = town.person("zoe")
    task = zoe.json("task", "add", "Tidy up")["task"]["id"]
    assert f"It waits for a session of task:{task}." in zoe.dmp("send", f"task:{task}", "hello")
    told = zoe.dmp("send", "task:t-0000ff", "hello")
    assert "Mail to task:t-0000ff stays here: there is no work item of that id here." in told
    assert "It waits" not in told
    assert "in no team" not in told
    epic = zoe.json("task", "add", "Autumn", "--epic")["task"]["id"]
    assert f"It waits, and task:{epic} is an epic." in zoe.dmp("send", f"task:{epic}", "hello")
    zoe.dmp("channel", "join", "room")
    for address in ("human:zoe", "channel:room"):
        assert "delivered to nobody" in zoe.dmp("send", address, "a note")
    told = zoe.dmp("send", "human:bob", f"task:{task}", "hello")
    assert "This machine is in no team: the mail stays here, and is not sent later." in told
    assert f"It waits for a session of task:{task}." in told
