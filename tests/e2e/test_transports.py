"""Several transports, and moving the team, from the command line: in this process, with a relay in another."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from replica.cli import main
from tests.e2e.people import Person, Told, Town, environment
from tests.transports.relay.process import served


@dataclass
class Typist:
    """Somebody whose commands run in this process."""

    person: Person
    capsys: pytest.CaptureFixture[str]

    def try_(self, *arguments: str) -> Told:
        self.capsys.readouterr()
        code = main.run([*arguments, "--dir", str(self.person.root)])
        told = self.capsys.readouterr()
        return Told(code, told.out, told.err)

    def dmp(self, *arguments: str) -> str:
        told = self.try_(*arguments)
        assert told.code == 0, told
        return told.out

    def refused(self, *arguments: str, code: int = 1) -> str:
        told = self.try_(*arguments)
        assert told.code == code, told
        return told.err

    def json(self, *arguments: str, code: int = 0) -> Any:
        told = self.try_(*arguments, "--json")
        assert told.code == code, told
        return json.loads(told.out)

    def bodies(self) -> list[str]:
        return [each["message"]["body"] for each in self.json("inbox")["deliveries"]]


@dataclass
class Typists:
    """People of a town."""

    town: Town
    capsys: pytest.CaptureFixture[str]

    def of(self, handle: str, *, init: bool = True) -> Typist:
        typist = Typist(self.town.person(handle, init=False), self.capsys)
        if init:
            typist.dmp("init", "--handle", handle, "--device", f"{handle}-laptop")
        return typist


@pytest.fixture
def people(orchard: Town, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typists:
    for name, value in environment(orchard.folder / "home").items():
        monkeypatch.setenv(name, value)
    return Typists(orchard, capsys)


@pytest.fixture
def ada(people: Typists) -> Typist:
    return people.of("ada", init=False)


@pytest.fixture
def bob(people: Typists) -> Typist:
    return people.of("bob", init=False)


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    made = tmp_path / "stick"
    made.mkdir()
    return made


def test_a_stick_carries_mail_while_the_remote_is_away(
    orchard: Town, ada: Typist, bob: Typist, stick: Path
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
    ada: Typist, bob: Typist, stick: Path
) -> None:
    ada.dmp("transport", "add", f"dir:{stick}")
    ada.dmp("sync")
    stick.rename(stick.with_name("pulled-out"))
    ada.dmp("send", "human:bob", "Hello.")
    assert "is it there, and may you write to it?" in ada.refused("sync")
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


def test_adding_and_removing(orchard: Town, ada: Typist, stick: Path) -> None:
    address = f"dir:{stick}"
    assert ada.json("transport", "add", address)["already"] is False
    assert ada.json("transport", "add", address)["already"] is True
    assert "main" in ada.refused("transport", "add", str(orchard.repository))
    assert "main" in ada.refused("transport", "remove", str(orchard.repository))
    assert ada.json("transport", "remove", address)["waiting"] > 0
    assert "no such transport" in ada.refused("transport", "remove", address)
    ada.refused("transport", "add", "ext::sh -c id", code=2)


@pytest.mark.parametrize(
    ("address", "code", "says"),
    [
        ("dri:stick", 2, "did you mean dir:?"),
        ("memory:mail", 2, "what is left there ends with the process"),
        ("dir:nowhere", 1, "make it, or plug in what it is on"),
        ("nowhere.git", 1, "make it, or plug in what it is on"),
    ],
)
def test_what_nobody_can_meet_at_is_not_added(
    ada: Typist, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, code: int, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert says in " ".join(ada.refused("transport", "add", address, code=code).split())
    assert len(ada.json("transport", "list")["transports"]) == 1


def test_a_host_is_told_by_name_where_it_may_have_been_meant_otherwise(ada: Typist) -> None:
    assert "Added loft:mail (a git repository on the host loft). " in ada.dmp("transport", "add", "loft:mail")


def test_nobody_adds_a_transport_before_a_team(people: Typists, stick: Path) -> None:
    assert "no team yet" in people.of("cy").refused("transport", "add", f"dir:{stick}")


def test_a_team_lives_on_a_directory_alone(people: Typists, stick: Path) -> None:
    ada = people.of("zoe")
    ada.dmp("team", "found", "Orchard", "--git", f"dir:{stick}")
    code = ada.dmp("team", "invite", "yan").strip()
    bob = people.of("yan")
    bob.dmp("join", code, "--git", f"dir:{stick}")
    ada.dmp("sync")
    bob.dmp("sync")
    ada.dmp("send", "human:yan", "No server at all.")
    ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["No server at all."]
    assert "a directory keeps everything" in " ".join(ada.refused("team", "compact").split())


def test_a_repository_that_moved_is_the_main_one_again(orchard: Town, ada: Typist, bob: Typist) -> None:
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


def test_a_move_is_confirmed_by_a_person_and_programs_are_told_what_it_means(ada: Typist) -> None:
    told = ada.person.refused("team", "transport", "relay", "wss://relay.example")
    assert "can read everything that is not sealed" in told
    assert "--yes" in told
    refused = ada.json("team", "transport", "relay", "wss://relay.example", code=1)
    assert refused["error"]["code"] == "forbidden"
    assert ada.json("team", "transport")["kind"] == "git"
    invalid = ada.json("team", "transport", "relay", "ws://relay.example", "--yes", code=1)
    assert (invalid["error"]["code"], invalid["error"]["field"]) == ("invalid", "url")
    assert "can read everything" in ada.try_("team", "transport", "relay", "http://x", "--yes").err


def test_a_team_moves_to_a_relay_takes_somebody_in_there_and_goes_back(
    orchard: Town, people: Typists, ada: Typist, bob: Typist, tmp_path: Path
) -> None:
    with served(tmp_path / "relay") as relay:
        bob.dmp("send", "human:ada", "Before.")
        moved = ada.json("team", "transport", "relay", relay.url, "--yes")
        assert "can read everything that is not sealed" in moved["disclosure"]
        assert (moved["already"], moved["here"]) == (False, relay.url)
        assert ada.json("team", "transport", "relay", relay.url, "--yes")["already"] is True
        told = bob.dmp("sync")
        assert f"it is on {relay.url} now" in told
        assert "can read everything that is not sealed" in told
        assert bob.json("team", "transport")["here"] == relay.url
        for person in (ada, bob):
            person.dmp("sync")
        assert ada.bodies() == ["Before."]

        cy = people.of("cy")
        code = ada.dmp("team", "invite", "cy").strip()
        assert relay.url not in code  # which is in it all the same
        cy.dmp("join", code)
        for person in (ada, cy, bob):
            person.dmp("sync")
        cy.dmp("send", "human:bob", "Over the relay.")
        for person in (cy, bob):
            person.dmp("sync")
        assert bob.bodies() == ["Over the relay."]
        assert bob.json("problems")["problems"] == []
        listed = bob.json("transport", "list")
        main = listed["transports"][0]
        assert (main["use"], main["reachable"]) == ("main", True)

        assert ada.json("team", "transport", "git")["here"] == str(orchard.repository)
        told = cy.json("sync")
        assert told["problems"] == 1
        assert cy.json("problems")["problems"][0]["subject"] == "move"
        cy.dmp("transport", "add", str(orchard.repository), "--main")
        bob.dmp("sync")
    bob.dmp("send", "human:cy", "Back on the branch.")
    for person in (ada, bob, cy, ada, bob, cy):
        person.dmp("sync")
    assert "Back on the branch." in cy.bodies()
    assert cy.json("problems")["problems"] == []


def test_who_is_on_a_relay_that_is_gone_goes_back_by_hand(
    orchard: Town, ada: Typist, bob: Typist, tmp_path: Path
) -> None:
    with served(tmp_path / "relay", difficulty=8) as relay:
        told = ada.try_("team", "transport", "relay", relay.url, "--yes", "--verbose")
        assert "doing the work that the relay asks for: 0% of what it takes on average" in told.err
        for person in (bob, ada):
            person.dmp("sync")
    bob.dmp("send", "human:ada", "Hello?")
    assert bob.try_("sync").code == 1
    ada.dmp("transport", "add", str(orchard.repository), "--main")
    ada.dmp("team", "transport", "git")
    bob.dmp("sync")
    ada.dmp("sync")
    assert ada.bodies() == ["Hello?"]


def test_a_relay_that_does_not_take_the_team_moves_nobody(ada: Typist, bob: Typist, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("letmein-letmein-letmein\n")
    with served(tmp_path / "relay", "--token-required", "--token-file", str(tokens)) as relay:
        assert "token" in ada.refused("team", "transport", "relay", relay.url, "--yes")
        assert ada.json("team", "transport")["kind"] == "git"
        ada.dmp("team", "transport", "relay", relay.url, "--yes", "--token", "letmein-letmein-letmein")
        bob.dmp("sync")
        assert bob.json("team", "transport")["here"] == relay.url


def test_a_move_to_an_address_that_is_not_the_relay_s_own_moves_nobody_and_is_made_good_with_the_right_one(
    ada: Typist, tmp_path: Path
) -> None:
    (tokens := tmp_path / "tokens").write_text("letmein-letmein-letmein\n")
    with served(tmp_path / "relay", "--token-file", str(tokens)) as relay:
        other = relay.url.replace("127.0.0.1", "localhost")
        told = ada.refused(
            "team", "transport", "relay", other, "--yes", "--token", tokens.read_text().strip()
        )
        assert "the address that the relay itself is configured with" in told
        assert ada.json("team", "transport")["kind"] == "git"
        assert ada.json("team", "transport", "relay", relay.url, "--yes")["here"] == relay.url


def test_a_team_whose_admins_are_lost_is_recovered_where_it_was_before_the_relay_and_goes_back_there(
    orchard: Town, people: Typists, ada: Typist, bob: Typist, tmp_path: Path
) -> None:
    code = ada.json("team", "recovery-key")["recoveryCode"]
    with served(tmp_path / "relay") as relay:
        ada.dmp("team", "transport", "relay", relay.url, "--yes")
        bob.dmp("sync")
        bob.dmp("send", "human:bob", "Said on the relay.")
        bob.dmp("sync")
        dee = people.of("dee")
        told = dee.refused("team", "recover", "--git", relay.url, "--code", code)
        assert "git remote or folder where the team was before" in told
        dee.dmp("team", "recover", "--git", str(orchard.repository), "--code", code)
        dee.dmp("team", "transport", "git")
        bob.dmp("transport", "add", str(orchard.repository), "--main")
    for person in (bob, dee, bob):
        person.dmp("sync")
    bob.dmp("send", "human:dee", "Glad you are back.")
    for person in (bob, dee):
        person.dmp("sync")
    assert dee.bodies() == ["Glad you are back."]
    assert bob.json("team", "transport")["kind"] == "git"


def test_a_relay_besides_the_branch_brings_what_the_branch_cannot(
    orchard: Town, ada: Typist, bob: Typist, tmp_path: Path
) -> None:
    with served(tmp_path / "relay") as relay:
        ada.dmp("team", "transport", "relay", relay.url, "--yes")
        bob.dmp("sync")
        ada.dmp("team", "transport", "git")
        for person in (bob, ada):
            person.dmp("sync")
            told = person.try_("transport", "add", relay.url)
            assert "can read everything that is not sealed" in told.err
        ada.dmp("send", "human:bob", "By both ways.")
        ada.dmp("sync")
        assert [each["waiting"] for each in ada.json("transport", "list")["transports"]] == [0, 0]
        orchard.repository.rename(orchard.folder / "away.git")
        assert bob.json("sync", code=1)["applied"] > 0
        assert bob.bodies() == ["By both ways."]
        (orchard.folder / "away.git").rename(orchard.repository)
        bob.dmp("sync")
        assert bob.bodies() == ["By both ways."]
        assert bob.json("problems")["problems"] == []
    assert bob.json("sync", code=1)["faults"][0]["address"] == relay.url
