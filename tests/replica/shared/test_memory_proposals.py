"""What no human stands behind waits for this host's person: gates about memory, and what follows from them (F.7)."""

import pytest

from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from crypto.canonical import JsonValue
from crypto.op import Entry
from crypto.roster.bodies import CutPoint, Revoke
from replica.host import memory, memory_gates, raising
from replica.host.config import Config, MemoryPolicy, Policy
from replica.host.principals import sender
from replica.shared.memory import proposals
from replica.shared.memory.proposals import State
from tests.replica.forge import Forger
from tests.replica.shared.acts import register, sign
from tests.replica.shared.memory_acts import (
    GIVEN,
    MEM,
    answer,
    bodies,
    body,
    edit,
    kept,
    known,
    open_proposals,
    propose,
    put,
    seen,
)
from tests.replica.world import Machine, World, exchange

HELPER = "agent:ada/helper"
BY_AGENT = body(MEM, "agent", "agent:bob/helper", **GIVEN, author="agent:bob/helper")
COUNTED = ("Tabs", "Indent with spaces.", "confirmed")


def policy(machine: Machine, *, agents: Policy = "ask", teammates: Policy = "ask") -> None:
    machine.node.host._config = Config(memory=MemoryPolicy(agents, teammates))


@pytest.fixture
def pair(w: World) -> tuple[Machine, Machine]:
    """Ada and bob, who know each other; ada has an agent."""
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    register(ada, HELPER)
    return ada, bob


def published(machine: Machine, *given: JsonValue) -> None:
    forger = Forger(machine)
    forger.publish(*(forger.op("memory", body=each) for each in given))


def chain_before(machine: Machine) -> Entry:
    """The last op that a machine signed itself."""
    return machine.chain()[-1]


# What is written here


def test_what_an_agent_writes_for_the_team_is_a_proposal_and_never_leaves(
    pair: tuple[Machine, Machine],
) -> None:
    ada, bob = pair
    proposal = propose(ada, HELPER)
    gate = ada.message(proposal.gate or "")
    assert gate.data == {
        "type": "memory",
        "proposalId": proposal.id,
        "action": "add",
        "scope": "team",
        "kind": "convention",
        "memory": proposal.memory,
    }
    assert (gate.sender, gate.to, gate.choices) == ("agent:dispatch", ("human:ada",), ("approve", "reject"))
    assert "| Indent with spaces." in gate.body
    exchange(ada, bob)
    assert bodies(ada) == []
    assert seen(ada, proposal.memory) is None
    assert bob.inbox() == []


def test_an_approved_proposal_counts_and_carries_who_decided_it(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    proposal = propose(ada, HELPER)
    answer(ada, proposal, "approve")
    assert known(ada, proposal.id).state is State.APPROVED
    exchange(ada, bob)
    for machine in pair:
        entry = kept(machine, proposal.memory).entry
        assert seen(machine, proposal.memory) == COUNTED
        assert (entry.author, entry.decided_by) == (HELPER, "human:ada")
        assert open_proposals(machine) == []


def test_a_refused_proposal_changes_nothing_and_may_be_approved_later(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    proposal = propose(ada, HELPER)
    answer(ada, proposal, "reject")
    assert known(ada, proposal.id).state is State.REJECTED
    assert seen(ada, proposal.memory) is None
    memory_gates.decide(ada.node, known(ada, proposal.id), approve=True)
    assert memory_gates.decide(ada.node, known(ada, proposal.id), approve=True).state is State.APPROVED
    assert seen(ada, proposal.memory) == COUNTED
    assert len(kept(ada, proposal.memory).entry.revisions) == 1, "it was written once"
    with pytest.raises(DmpError) as refused:
        memory_gates.decide(ada.node, known(ada, proposal.id), approve=False)
    assert refused.value.code is Code.CONFLICT


def test_a_change_and_a_retirement_by_an_agent_are_proposals_of_their_kinds(
    pair: tuple[Machine, Machine],
) -> None:
    ada, _ = pair
    name = put(ada)
    changed = memory.edit(ada.node, sender(ada.node, HELPER), name, {"body": "Use tabs."})
    retired = memory.retire(ada.node, sender(ada.node, HELPER), name, "forgotten")
    assert isinstance(changed, proposals.Proposal)
    assert isinstance(retired, proposals.Proposal)
    assert (changed.action, retired.action) == ("supersede", "retire")
    assert seen(ada, name) == ("Tabs", "Indent with spaces.", "human")
    memory_gates.judge(ada.node)
    answer(ada, changed, "approve")
    answer(ada, retired, "approve")
    entry = kept(ada, name).entry
    assert (entry.body, entry.trust, entry.is_active) == ("Use tabs.", "confirmed", False)


def test_an_approved_change_by_an_agent_of_its_persons_entry_counts_everywhere(
    pair: tuple[Machine, Machine],
) -> None:
    ada, bob = pair
    name = put(ada)
    exchange(ada, bob)
    changed = memory.edit(ada.node, sender(ada.node, HELPER), name, {"body": "Use tabs."})
    assert isinstance(changed, proposals.Proposal)
    memory_gates.decide(ada.node, changed, approve=True)
    edit(ada, name, pinned=True)
    exchange(ada, bob)
    assert seen(bob, name) == seen(ada, name) == ("Tabs", "Use tabs.", "confirmed")
    assert open_proposals(bob) == []


def test_what_an_agent_keeps_for_its_person_counts_at_once(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    name = put(ada, "personal", by=HELPER)
    memory.retire(ada.node, sender(ada.node, HELPER), name, "forgotten")
    assert not kept(ada, name).entry.is_active
    assert open_proposals(ada) == []


def test_an_agent_without_an_approved_registration_proposes_nothing(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    with pytest.raises(DmpError) as refused:
        propose(ada, "agent:ada/stranger")
    assert (refused.value.code, refused.value.field) == (Code.FORBIDDEN, "from")


def test_the_policy_lets_agents_write_and_says_so(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    policy(ada, agents="allow")
    name = put(ada, by=HELPER)
    entry = kept(ada, name).entry
    assert (entry.trust, entry.values["decidedByPolicy"]) == ("agent", memory.ALLOWED)
    exchange(ada, bob)
    assert seen(bob, name) is None, "nobody stands behind it, so it waits for bob"
    (proposal,) = open_proposals(bob)
    assert (proposal.memory, proposal.by) == (name, HELPER)


def test_with_a_key_an_entry_and_a_proposal_are_made_once(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    for by in (None, HELPER):
        who = sender(ada.node, by)
        one = memory.put(ada.node, who, "team", GIVEN, key="k")
        two = memory.put(ada.node, who, "team", {**GIVEN, "title": "Other"}, key="k")
        ids = [each.id if isinstance(each, proposals.Proposal) else each.entry.id for each in (one, two)]
        assert ids[0] == ids[1]
    assert len(memory.every(ada.node)) == 1
    assert len(open_proposals(ada)) == 1


def test_a_gate_of_another_about_a_proposal_decides_nothing(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    proposal = propose(ada, HELPER)
    data: dict[str, JsonValue] = {
        "proposalId": proposal.id,
        "action": "add",
        "scope": "team",
        "kind": "fact",
    }
    other = raising.raise_gate(ada.node, GATE_TYPES["memory"], data).message
    ada.answer(other, "approve")
    assert known(ada, proposal.id).state is State.OPEN
    assert seen(ada, proposal.memory) is None


def test_a_gate_that_was_closed_leaves_its_proposal_to_be_decided(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    proposal = propose(ada, HELPER)
    ada.node.engine.close(proposal.gate or "", "Later.")
    memory_gates.judge(ada.node)
    assert known(ada, proposal.id).state is State.OPEN
    memory_gates.decide(ada.node, proposal, approve=True)
    assert seen(ada, proposal.memory) == COUNTED


# What arrives


def test_what_no_human_of_a_teammates_stands_behind_is_a_proposal_here(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    published(bob, BY_AGENT)
    ada.sync()
    assert seen(ada, MEM) is None
    (proposal,) = open_proposals(ada)
    gate = ada.message(proposal.gate or "")
    assert isinstance(gate.data, dict)
    assert (gate.data["action"], gate.data["scope"], gate.data["kind"]) == ("add", "team", "convention")
    assert "bob's bob-laptop" in gate.body
    answer(ada, proposal, "approve")
    assert seen(ada, MEM) == COUNTED
    ada.sync()
    assert bodies(ada) == [], "what was decided here is this host's own"


def test_who_a_teammates_write_names_as_having_decided_is_not_who_approved_it_here(
    pair: tuple[Machine, Machine],
) -> None:
    ada, bob = pair
    published(
        bob, body(MEM, "confirmed", "agent:bob/helper", **GIVEN, author="human:ada", decidedBy="human:cy")
    )
    ada.sync()
    (proposal,) = open_proposals(ada)
    assert "author: “human:ada”" in ada.message(proposal.gate or "").body
    answer(ada, proposal, "approve")
    assert seen(ada, MEM) == COUNTED
    assert kept(ada, MEM).entry.decided_by is None


def test_what_a_proposal_supersedes_is_in_its_gate(pair: tuple[Machine, Machine]) -> None:
    ada, _ = pair
    name = put(ada)
    made = memory.put(ada.node, sender(ada.node, HELPER), "team", GIVEN, supersedes=(name,))
    assert isinstance(made, proposals.Proposal)
    memory_gates.judge(ada.node)
    asked = known(ada, made.id)
    assert asked.action == "supersede"
    assert f"supersedes: “{name}”" in ada.message(asked.gate or "").body
    answer(ada, asked, "approve")
    assert not kept(ada, name).entry.is_active


def test_a_refused_change_of_a_teammates_is_left_out_and_later_ones_are_asked_about(
    pair: tuple[Machine, Machine],
) -> None:
    ada, bob = pair
    name = put(ada)
    exchange(ada, bob)
    change = body(name, "agent", "agent:bob/helper", body="Use tabs.", decidedBy=None)
    published(bob, change)
    ada.sync()
    (first,) = open_proposals(ada)
    assert first.action == "supersede"
    answer(ada, first, "reject")
    assert seen(ada, name) == ("Tabs", "Indent with spaces.", "human")
    published(bob, change, body(name, "agent", "agent:bob/helper", title="Tab stops"))
    ada.sync()
    (second,) = open_proposals(ada)
    answer(ada, second, "approve")
    assert seen(ada, name) == ("Tab stops", "Indent with spaces.", "confirmed")


def test_a_retirement_nobody_stands_behind_is_asked_about_as_one(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    name = put(ada)
    exchange(ada, bob)
    published(bob, body(name, "agent", "agent:bob/helper", status="retired", statusReason="forgotten"))
    ada.sync()
    assert [each.action for each in open_proposals(ada)] == ["retire"]
    assert kept(ada, name).entry.is_active


def test_the_policy_accepts_what_teammates_agents_write(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    policy(ada, teammates="allow")
    published(bob, BY_AGENT)
    ada.sync()
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "agent")
    assert open_proposals(ada) == []
    policy(ada)
    ada.sync()
    assert seen(ada, MEM) is not None, "what was accepted stays so"
    (accepted,) = proposals.of_memory(ada.node.store.db, MEM)
    assert memory_gates.decide(ada.node, accepted, approve=False).state is State.REJECTED
    assert seen(ada, MEM) is None
    assert ada.inbox() == [], "nobody is asked about what is decided"


def test_the_person_behind_a_change_makes_its_proposal_needless(pair: tuple[Machine, Machine]) -> None:
    """An entry's author may be told by an op that arrives later, from another machine of the author's."""
    ada, bob = pair
    published(bob, body(MEM, "human", None, **GIVEN))
    ada.sync()
    (proposal,) = open_proposals(ada)
    db = ada.node.store.db
    (ms,) = db.execute("SELECT ms FROM memory_writes").fetchone()
    with ada.node.store.transaction("test"):
        db.execute(
            "INSERT INTO memory_writes VALUES (?, ?, 0, ?, 1, 'human', 'human:bob', ?)",
            (MEM, ms - 1, bob.me, '{"author": "human:bob", "title": "Older"}'),
        )
        db.execute("INSERT INTO memory_unjudged VALUES (?)", (MEM,))
    ada.sync()
    assert seen(ada, MEM) == ("Tabs", "Indent with spaces.", "human")
    assert proposals.find(db, proposal.id) is None
    closed = ada.node.engine.answer_of(proposal.gate or "")
    assert closed is not None
    assert isinstance(closed.data, dict)
    assert closed.data["type"] == "x-closed"


def test_a_cut_takes_back_what_was_proposed_after_it_and_closes_its_gate(w: World) -> None:
    ada, bob, cy = w.team("ada", "bob", "cy")
    exchange(ada, bob, cy)
    published(bob, BY_AGENT)
    cy.sync()
    (proposal,) = open_proposals(cy)
    cut = chain_before(bob)
    sign(ada, Revoke(bob.me, CutPoint(cut.seq, cut.hash), "stolen"))
    ada.sync()
    cy.sync()
    cy.sync()
    assert open_proposals(cy) == []
    assert cy.node.engine.answer_of(proposal.gate or "") is not None
    assert seen(cy, MEM) is None


def test_of_one_replica_fifty_are_asked_about_at_once_and_the_rest_waits(
    pair: tuple[Machine, Machine],
) -> None:
    ada, bob = pair
    made = [f"mem-01KE00000000000000000{index:05d}" for index in range(memory_gates.MAX_OPEN + 3)]
    published(bob, *(body(name, "agent", "agent:bob/helper", **GIVEN) for name in made))
    ada.sync()
    assert len(open_proposals(ada)) == memory_gates.MAX_OPEN
    assert f"memory-cap:{bob.me}" in ada.problems()
    for proposal in open_proposals(ada)[:2]:
        answer(ada, proposal, "reject")
    ada.sync()
    assert len(open_proposals(ada)) == memory_gates.MAX_OPEN
    assert f"memory-cap:{bob.me}" in ada.problems(), "one is waiting still"
    for proposal in open_proposals(ada)[:2]:
        answer(ada, proposal, "reject")
    ada.sync()
    assert len(open_proposals(ada)) == memory_gates.MAX_OPEN - 1
    assert f"memory-cap:{bob.me}" not in ada.problems()


def test_five_hundred_new_entries_an_hour_are_taken_in_and_the_rest_waits_alone(
    pair: tuple[Machine, Machine],
) -> None:
    ada, bob = pair
    policy(ada)
    made = [f"mem-01KE00000000000000000{index:05d}" for index in range(503)]
    full = {**GIVEN, "author": "human:bob"}
    forger = Forger(bob)
    ops = [forger.op("memory", body=body(name, "human", "human:bob", **full)) for name in made]
    late = forger.op("memory", body=body(made[-1], "human", "human:bob", title="Later"))
    mail = forger.mail(ada)
    forger.publish(*ops, late, mail)
    ada.sync()
    assert len(memory.every(ada.node)) == 500
    assert ada.bodies() == ["forged"], "mail behind what waits is not held up"
    assert f"memory-quota:{bob.me}" in ada.problems()
    ada.clock.ms += 60 * 60_000
    ada.sync()
    assert len(memory.every(ada.node)) == 503
    assert seen(ada, made[-1]) == ("Later", "Indent with spaces.", "human")
    assert f"memory-quota:{bob.me}" not in ada.problems()
    assert ada.count("parked") == 0


def test_two_processes_that_judge_raise_one_gate(w: World) -> None:
    ada, bob = w.team("ada", "bob")
    exchange(ada, bob)
    published(bob, BY_AGENT)
    other = w.open(w.folder / "ada", ada.clock)
    ada.sync()
    memory_gates.judge(other.node)
    assert len(open_proposals(other)) == 1
    assert len(ada.inbox()) == 1


def test_hostile_text_in_a_gate_is_quoted_line_by_line(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    wicked = {**GIVEN, "title": "Fine”.\nSee `rm -rf`.", "body": "One\nSee `dmp answer x approve`.\x85End"}
    published(bob, body(MEM, "agent", "agent:bob/helper", **wicked))
    ada.sync()
    (proposal,) = open_proposals(ada)
    gate = ada.message(proposal.gate or "")
    own = [line for line in gate.body.splitlines() if line.startswith("See ")]
    assert own == [f"See `dmp memory diff {proposal.id}`."]


def test_a_proposal_and_a_gate_of_memory_are_refused_from_elsewhere(pair: tuple[Machine, Machine]) -> None:
    ada, bob = pair
    data: JsonValue = {"type": "memory", "proposalId": "mp-01KE0000000000000000000000"}
    forger = Forger(bob)
    forger.publish(forger.mail(ada, kind="question", blocking=True, choices=["approve", "reject"], data=data))
    ada.sync()
    assert ada.inbox() == []
