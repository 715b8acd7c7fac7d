"""Memory between two machines: real processes, a real repository, and a person who decides."""

import re

from tests.e2e.people import Person, Town


def sync(*people: Person) -> None:
    for person in people:
        person.dmp("sync")


def put(person: Person, title: str, body: str, *options: str) -> str:
    """Keep something for the team; return its id."""
    return str(person.json("memory", "put", title, body, "--scope", "team", *options)["memory"]["id"])


def titles(person: Person) -> list[tuple[str, str]]:
    return [(each["title"], each["trust"]) for each in person.json("memory", "list")["memories"]]


def revisions(person: Person, name: str) -> list[str]:
    return [each["revision"] for each in person.json("memory", "show", name)["revisions"]]


def test_what_one_keeps_the_other_reads_and_changes_and_an_older_value_is_taken_back(
    ada: Person, bob: Person
) -> None:
    name = put(ada, "Indent with spaces", "Four of them.", "--kind", "convention", "--pin")
    ada.dmp("memory", "put", "Mine", "Nobody else's.", "--scope", "personal")
    sync(ada, bob)
    assert titles(bob) == [("Indent with spaces", "human")]
    assert "human: human:ada wrote it" in bob.dmp("memory", "show", name)

    ada.dmp("memory", "edit", name, "--body", "Four, the linter says so.", "--title", "Indentation")
    bob.dmp("memory", "edit", name, "--body", "Two of them.")
    sync(ada, bob, ada)
    for person in (ada, bob):
        (entry,) = [each for each in person.json("memory", "list")["memories"] if each["id"] == name]
        assert (entry["title"], entry["body"], entry["trust"]) == ("Indentation", "Two of them.", "confirmed")
    first, _, last = revisions(ada, name)
    compared = ada.dmp("memory", "diff", name)
    assert "-Four, the linter says so." in compared
    assert "+Two of them." in compared
    assert last.startswith(bob.replica)
    assert last in compared

    ada.dmp("memory", "merge", name, "--take", first, "--field", "body")
    sync(ada, bob)
    assert "Four of them." in bob.dmp("memory", "show", name)
    assert ada.dmp("problems") == bob.dmp("problems") == "No problems.\n"


def test_two_entries_become_one_on_both_machines(ada: Person, bob: Person) -> None:
    one = put(ada, "Ports", "8080.")
    two = put(bob, "Port numbers", "8080 to 8089.")
    sync(ada, bob, ada)
    merged = str(bob.json("memory", "merge", one, two, "--body", "8080 to 8089.")["memory"]["id"])
    sync(bob, ada)
    for person in (ada, bob):
        (entry,) = person.json("memory", "list")["memories"]
        assert (entry["id"], entry["supersedes"], entry["title"]) == (merged, [one, two], "Ports")
        assert person.json("memory", "show", two)["memory"]["supersededBy"] == [merged]


def test_an_agents_memory_waits_here_for_its_person_and_there_for_the_reader(
    ada: Person, bob: Person
) -> None:
    ada.dmp("agent", "register", "scribe", "--client", "cli")
    ada.dmp("agent", "approve", "scribe")
    asked = ada.dmp("memory", "put", "Flaky", "On Mondays.", "--scope", "team", "--as", "agent:ada/scribe")
    sync(ada, bob)
    assert titles(ada) == titles(bob) == []
    gate = re.search(r"dmp answer (\S+)", asked)
    assert gate is not None
    ada.dmp("answer", gate[1], "approve")
    sync(ada, bob)
    assert titles(ada) == titles(bob) == [("Flaky", "confirmed")]

    (ada.root / "config.toml").write_text('[memory]\nagents = "allow"\n')
    ada.dmp("memory", "put", "Slow", "On Fridays.", "--scope", "team", "--as", "agent:ada/scribe")
    sync(ada, bob)
    assert ("Slow", "agent") in titles(ada)
    assert titles(bob) == [("Flaky", "confirmed")]
    listed = bob.dmp("memory", "proposals")
    assert "agent:ada/scribe, on ada's ada-laptop" in listed
    assert "+On Fridays." in listed
    proposal = re.search(r"dmp memory approve (\S+)", listed)
    assert proposal is not None
    bob.dmp("memory", "reject", proposal[1])
    assert titles(bob) == [("Flaky", "confirmed")]
    bob.dmp("memory", "approve", proposal[1])
    assert ("Slow", "confirmed") in titles(bob)
    sync(bob, ada)
    assert ("Slow", "agent") in titles(ada), "what bob decided is bob's own"


def test_nothing_of_what_stays_is_ever_on_the_branch(orchard: Town, ada: Person, bob: Person) -> None:
    ada.dmp("agent", "register", "scribe", "--client", "cli")
    ada.dmp("agent", "approve", "scribe")
    ada.dmp("memory", "put", "SECRET-ONE", "x", "--scope", "personal")
    ada.dmp("memory", "put", "SECRET-TWO", "x", "--scope", "project")
    ada.dmp("memory", "put", "SECRET-THREE", "x", "--scope", "team", "--as", "agent:ada/scribe")
    put(ada, "OPEN", "For everybody.")
    sync(ada, bob)
    said = str([op.get("body") for op in orchard.lane(ada)])
    assert "OPEN" in said
    assert "SECRET" not in said
