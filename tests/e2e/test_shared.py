"""What one machine makes is seen on the other, and mail to a work item goes where it lives."""

from tests.e2e.people import Person


def sync(*people: Person) -> None:
    for person in people:
        person.dmp("sync")


def add_task(person: Person, *options: str) -> str:
    """Make a work item; return its address."""
    return f"task:{person.json('task', 'add', 'Fix the login', *options)['task']['id']}"


def held(person: Person, address: str) -> list[str]:
    """The bodies in a work item's mailbox."""
    return [each["message"]["body"] for each in person.json("inbox", "--as", address)["deliveries"]]


def test_work_items_channels_agents_and_sessions_are_seen_on_the_other_machine(
    ada: Person, bob: Person
) -> None:
    made = add_task(ada, "--priority", "high", "--label", "web")
    ada.dmp("channel", "join", "eng", made)
    ada.dmp("agent", "register", "helper", "--client", "cli")
    ada.dmp("agent", "approve", "helper")
    ada.dmp("session", "start", "--task", made, "--id", "r-0000aa")
    sync(ada, bob)
    assert bob.json("task", "list") == ada.json("task", "list")
    assert bob.json("channel", "list") == ada.json("channel", "list")
    (agent,) = bob.json("agent", "list")["agents"]
    assert (agent["address"], agent["status"], agent["replica"]) == (
        "agent:ada/helper",
        "approved",
        ada.replica,
    )
    (session,) = bob.json("session", "list")["sessions"]
    assert (session["address"], session["task"], session["live"]) == ("run:r-0000aa", made, False)
    assert session["replica"] == ada.replica
    for listed in ("agent", "session"):
        assert "ada's ada-laptop" in bob.dmp(listed, "list")

    bob.dmp("task", "edit", made, "--status", "working")
    bob.dmp("channel", "leave", "eng", made)
    sync(bob, ada)
    (task,) = ada.json("task", "list")["tasks"]
    assert (task["status"], task["priority"], task["labels"]) == ("working", "high", ["web"])
    assert ada.json("channel", "members", "eng")["members"] == []
    assert ada.dmp("problems") == bob.dmp("problems") == "No problems.\n"


def test_mail_to_a_work_item_goes_to_its_assignee_and_to_its_live_session_before(
    ada: Person, bob: Person
) -> None:
    made = add_task(ada)
    sync(ada, bob)
    told = ada.dmp("send", made, "For nobody yet.")
    assert "neither a live session nor an assignee" in told
    assert held(ada, made) == ["For nobody yet."]

    mine = add_task(ada, "--assignee", "human:bob")
    sync(ada, bob)
    told = ada.dmp("send", mine, "For the assignee.")
    assert "bob's bob-laptop" in told
    sync(ada, bob)
    assert held(bob, mine) == ["For the assignee."]

    with bob.running("session", "attach", "--task", made) as session:
        session.noted("This is run:")
        sync(bob, ada)
        assert ada.json("task", "show", made)["task"]["id"] in made
        ada.dmp("send", made, "For whoever works on it.")
        sync(ada, bob)
        session.told("message from")
        assert session.told("For whoever") == "│ For whoever works on it.\n"


def test_a_machine_that_keeps_syncing_says_that_it_is_there_and_publishes_what_is_made_meanwhile(
    ada: Person, bob: Person
) -> None:
    with ada.running("sync", "--watch") as watch:
        watch.told("Published 1 op")  # its presence: nothing else has changed
        made = add_task(ada)
        watch.told("Published 1 op")
    sync(bob)
    assert [f"task:{each['id']}" for each in bob.json("task", "list")["tasks"]] == [made]
