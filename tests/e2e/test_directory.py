"""A team whose machines meet in a directory and nowhere else."""

from pathlib import Path

from tests.e2e.people import Town


def test_a_team_is_founded_joined_and_writes_to_one_another_over_a_stick(town: Town, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    ada, bob = town.person("ada"), town.person("bob")
    ada.dmp("team", "found", "Orchard", "--git", f"dir:{stick}")
    bob.dmp("join", "-", "--git", f"dir:{stick}", stdin=ada.dmp("team", "invite", "bob").strip())
    ada.dmp("sync")
    ada.dmp("send", "human:bob", "By hand.")
    ada.dmp("sync")
    bob.dmp("sync")
    assert bob.bodies() == ["By hand."]
    away = stick.rename(tmp_path / "in a pocket")
    bob.dmp("send", "human:ada", "It waits.")
    told = bob.refused("sync")
    assert f"dir:{stick} cannot be used" in told
    assert "1 message waits here" in told
    assert not stick.exists()
    away.rename(stick)
    bob.dmp("sync")
    ada.dmp("sync")
    assert ada.bodies() == ["It waits."]
