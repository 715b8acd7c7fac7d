"""Several transports, and moving the team, from the command line."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.people import Person, Town


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    made = tmp_path / "stick"
    made.mkdir()
    return made


def test_a_stick_carries_mail_while_the_remote_is_away(
    orchard: Town, ada: Person, bob: Person, stick: Path
) -> None:
    for person in (ada, bob):
        person.dmp("transport", "add", f"dir:{stick}")
    ada.dmp("send", "human:bob", "By hand.")
    ada.dmp("sync")
    orchard.repository.rename(orchard.folder / "away.git")
    told = bob.try_("sync")
    assert told.code == 1
    assert "came over other transports" in told.err
    assert bob.bodies() == ["By hand."]
    (orchard.folder / "away.git").rename(orchard.repository)
    bob.dmp("sync")
    assert bob.bodies() == ["By hand."]


def test_a_transport_that_fails_is_shown_and_the_others_are_served(
    ada: Person, bob: Person, stick: Path
) -> None:
    ada.dmp("transport", "add", f"dir:{stick}")
    ada.dmp("sync")
    stick.rename(stick.with_name("pulled-out"))
    ada.dmp("send", "human:bob", "Hello.")
    told = ada.json("sync", code=1)
    assert [fault["address"] for fault in told["faults"]] == [f"dir:{stick}"]
    bob.dmp("sync")
    assert bob.bodies() == ["Hello."]
    main, other = ada.json("transport", "list")["transports"]
    assert (main["use"], main["reachable"], main["waiting"]) == ("main", True, 0)
    assert (other["use"], other["reachable"], other["waiting"]) == ("other", False, 1)
    assert other["error"]
    assert other["seenAt"] is not None
    assert f"dir:{stick}" in ada.try_("sync").err
    shown = ada.dmp("transport", "list")
    assert other["error"].split()[0] in shown
    stick.with_name("pulled-out").rename(stick)
    ada.dmp("sync")
    _, other = ada.json("transport", "list")["transports"]
    assert (other["reachable"], other["waiting"], other["error"]) == (True, 0, None)


def test_adding_and_removing(orchard: Town, ada: Person, stick: Path) -> None:
    address = f"dir:{stick}"
    assert ada.json("transport", "add", address)["already"] is False
    assert ada.json("transport", "add", address)["already"] is True
    assert "main" in ada.refused("transport", "add", str(orchard.repository))
    assert "main" in ada.refused("transport", "remove", str(orchard.repository))
    assert ada.json("transport", "remove", address)["waiting"] > 0
    assert "no such transport" in ada.refused("transport", "remove", address)
    ada.refused("transport", "add", "ext::sh -c id", code=2)


def test_nobody_adds_a_transport_before_a_team(town: Town, stick: Path) -> None:
    assert "no team yet" in town.person("cy").refused("transport", "add", f"dir:{stick}")


def test_a_team_lives_on_a_directory_alone(town: Town, stick: Path) -> None:
    ada = town.person("ada")
    ada.dmp("team", "found", "Orchard", "--git", f"dir:{stick}")
    code = ada.dmp("team", "invite", "bob").strip()
    bob = town.person("bob")
    bob.dmp("join", "-", "--git", f"dir:{stick}", stdin=code)
    ada.dmp("sync")
    bob.dmp("sync")
    ada.dmp("send", "human:bob", "No server at all.")
    ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["No server at all."]


def test_a_repository_that_moved_is_the_main_one_again(orchard: Town, ada: Person, bob: Person) -> None:
    new = orchard.folder / "elsewhere.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(orchard.repository), str(new)], check=True)
    orchard.repository.rename(orchard.folder / "gone.git")
    for person in (ada, bob):
        person.dmp("transport", "add", str(new), "--main")
    ada.dmp("send", "human:bob", "Over there.")
    ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["Over there."]
    assert ada.json("transport", "list")["transports"][0]["address"] == str(new)


def test_a_move_is_confirmed_by_a_person_and_programs_are_told_what_it_means(ada: Person) -> None:
    told = ada.refused("team", "transport", "relay", "wss://relay.example")
    assert "can read everything that is not sealed" in told
    assert "--yes" in told
    refused = ada.json("team", "transport", "relay", "wss://relay.example", code=1)
    assert refused["error"]["code"] == "forbidden"
    assert ada.json("team", "transport")["kind"] == "git"
    invalid = ada.json("team", "transport", "relay", "ws://relay.example", "--yes", code=1)
    assert (invalid["error"]["code"], invalid["error"]["field"]) == ("invalid", "url")
    assert "can read everything" in ada.try_("team", "transport", "relay", "http://x", "--yes").err
