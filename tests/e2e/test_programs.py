"""Sessions and agents on one machine write to people and work items on another, and hear from them."""

from tests.e2e.people import Person


def sync(*people: Person) -> None:
    for person in people:
        person.dmp("sync")


def senders(person: Person) -> list[tuple[str, str]]:
    """Who wrote to a person, and what."""
    found = person.json("inbox")["deliveries"]
    return [(each["message"]["from"], each["message"]["body"]) for each in found]


def test_a_session_asks_a_teammate_and_is_pushed_the_answer(ada: Person, bob: Person) -> None:
    made = f"task:{ada.json('task', 'add', 'Fix the login')['task']['id']}"
    sync(ada, bob)
    with ada.running("session", "attach", "--task", made) as session:
        run = session.noted("This is run:").split("This is ")[1].split()[0].rstrip(".,:;")
        asked = ada.json("send", "human:bob", "Which database?", "--kind", "question", "--as", run)
        id_ = asked["message"]["id"]
        sync(ada, bob)
        assert senders(bob) == [(run, "Which database?")]
        bob.dmp("reply", id_, "SQLite.\nSure.")
        sync(bob, ada)
        header = session.told("message from")
        assert "message from human:bob (remote: bob)" in header
        assert [session.told("│"), session.told("│")] == ["│ SQLite.\n", "│ Sure.\n"]
        assert session.told("│").startswith("│ (in reply to ")
    assert ada.dmp("problems") == bob.dmp("problems") == "No problems.\n"


def test_an_agent_writes_to_a_teammate_once_it_is_approved(ada: Person, bob: Person) -> None:
    ada.dmp("agent", "register", "helper", "--client", "cli")
    ada.dmp("agent", "approve", "helper")
    ada.dmp("send", "human:bob", "The build is red.", "--as", "agent:ada/helper")
    sync(ada, bob)
    assert senders(bob) == [("agent:ada/helper", "The build is red.")]
    bob.dmp("send", "agent:ada/helper", "Thanks.")
    sync(bob, ada)
    (delivery,) = ada.json("inbox", "--as", "agent:ada/helper")["deliveries"]
    assert (delivery["message"]["body"], delivery["message"]["from"]) == ("Thanks.", "human:bob")
