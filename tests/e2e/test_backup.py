"""`dmp backup` and `dmp restore`, as real processes: whatever is restored when, no chain is ever forked."""

import shutil
import signal
import stat
from pathlib import Path

from tests.e2e.people import Person, Town
from tests.e2e.test_service import SERVE, started, wait_for


def audit(orchard: Town, person: Person) -> None:
    """Check that every chain on the branch verifies, and none has two histories."""
    found = person.json("audit", "--from", f"git:{orchard.repository}")
    assert found["replicas"]
    assert "'fork'" not in str(found)


def signed(person: Person) -> int:
    """The last op that somebody's directory has of its own."""
    file = person.home / "head"
    head = int(person.json("backup", str(file))["seq"])
    file.unlink()
    return head


def lost(person: Person) -> None:
    """Lose somebody's directory."""
    shutil.rmtree(person.root)


def test_a_backup_made_while_the_service_runs_goes_on_where_nothing_came_after_it(
    orchard: Town, ada: Person, bob: Person
) -> None:
    file = orchard.folder / "saved"
    with ada.running(*SERVE) as running:
        started(running)
        assert "and its private keys: keep it to yourself" in ada.dmp("backup", str(file))
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert running.end(signal.SIGTERM).code == 0
    assert "is there already" in ada.refused("backup", str(file))
    ada.dmp("backup", str(file), "--force")
    assert "move that directory away" in ada.refused("restore", str(file))
    beside = ada.try_("restore", str(file), "--dir", str(orchard.folder / "beside"))
    assert (beside.code, f"{ada.root} holds this replica too" in beside.err) == (0, True)
    lost(ada)
    assert f"Restored {ada.json('restore', str(file))['replica']}" in f"Restored {ada.replica}"
    head = signed(ada)
    ada.dmp("send", "human:bob", "from the backup")
    assert "restored from a backup" in ada.refused("team", "role", bob.replica, "admin")
    assert "own:restored" in ada.dmp("problems")
    assert signed(ada) == head
    ada.dmp("sync")
    assert ada.dmp("problems") == "No problems.\n"
    bob.dmp("sync")
    assert bob.bodies() == ["from the backup"]
    audit(orchard, bob)


def test_an_older_backup_signs_nothing_and_forks_nothing(orchard: Town, ada: Person, bob: Person) -> None:
    file = orchard.folder / "saved"
    ada.dmp("backup", str(file))
    ada.dmp("send", "human:bob", "after the backup")
    ada.dmp("sync")
    lost(ada)
    shutil.rmtree(Path(ada.environment["XDG_STATE_HOME"]))  # as on another machine
    assert ada.try_("restore", str(file)).err == ""
    head = signed(ada)
    ada.dmp("send", "human:bob", "instead of it")
    assert signed(ada) == head
    for command in (("sync",), ("team", "invite", "cy"), ("resume",), ("sync",)):
        ada.refused(*command)
    with ada.running(*SERVE) as running:
        started(running)
        wait_for(lambda: b"is signed with this replica" in (ada.root / "state.db").read_bytes())
        running.end(signal.SIGTERM)
    assert signed(ada) == head
    bob.dmp("sync")
    assert bob.bodies() == ["after the backup"]
    assert bob.dmp("problems") == "No problems.\n"
    audit(orchard, bob)
