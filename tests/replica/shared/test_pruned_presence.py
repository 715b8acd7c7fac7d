"""Where an op of shared state first comes as a stub, what it said counts once its content comes."""

from crypto.op import Op, read_entry, to_line
from tests.replica.shared.acts import add_task, homes_at, run_session
from tests.replica.world import World, exchange


def test_k2_a_session_told_of_in_a_pruned_op_counts_once_its_content_comes(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    task = add_task(ada, assignee="human:ada")
    exchange(ada, bob)
    run_session(bob, task)
    bob.sync()
    lane = bob.lane()
    told = read_entry(lane[-1])
    assert isinstance(told, Op)
    assert told.type == "presence"
    w.remote.roll_back(1)
    w.remote.put(bob.me, to_line(told.stub()))
    ada.sync()
    assert homes_at(ada, task) == (ada.me,)
    w.remote.put(bob.me, to_line(told))
    ada.sync()
    assert homes_at(ada, task) == (bob.me,)
    ada.sync()
    assert ada.count("missing") == 0
