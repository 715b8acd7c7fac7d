"""A crash before or after any commit of one person's host: mail, gates and sessions are taken up where they stood.

The same story is told again and again; in each telling the process dies at one commit, the replica is opened
again, and its person repeats the step that was cut short.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from core.commits import CommitPoint as CorePoint
from core.engine import Recovered
from core.errors import Code, DmpError
from core.gate_types import GATE_TYPES
from core.inputs import ReplyInput, Sender, SendInput
from core.message import Message, Standing, State
from core.store.messages import answer_to, insert_message
from crypto.canonical import JsonValue
from replica.api import credentials, tokens
from replica.home.locks import Held
from replica.host import agents, doc_proposals, documents, items, memory, memory_gates, raising
from replica.host.attach import Attached
from replica.node import Node, create, opened
from replica.records.commits import CommitPoint
from replica.shared.docs.reading import read
from replica.shared.memory import proposals
from tests.replica.killer import OF_A_HOST, KilledError, Killer, When
from tests.replica.world import Clock

POINTS = sorted(OF_A_HOST | {CorePoint.SEND, CorePoint.MARK_READ, CorePoint.MEMBERSHIP})
RUN, AGENT = "run:r-0000aa", "agent:ada/helper"
CALL: dict[str, JsonValue] = {
    "requestId": "q",
    "runId": "r-0000aa",
    "tool": "Bash",
    "input": {},
    "floor": False,
}


class Story:
    """Ada's machine, whose process can die. `given` is the mail her session was given, as often as it was."""

    def __init__(self, root: Path, killer: Killer) -> None:
        self.root, self.killer, self.clock = root, killer, Clock()
        self.given: list[str] = []
        self.lock: Held | None = None
        self.attached = False
        self.lives = 0
        self.secret = ""
        create(root, "ada", "laptop", wall=self.clock, random=Random(0).randbytes)
        (root / "config.toml").write_text("[limits]\nagent_turns_per_thread_per_hour = 1\n")
        self.process = ExitStack()
        self.start()

    def start(self) -> None:
        self.lives += 1
        random = Random(self.lives).randbytes
        self.node = self.process.enter_context(
            opened(self.root, wall=self.clock, random=random, observer=self.killer)
        )

    def die(self) -> None:
        """Let go of what the system takes from a process that is gone."""
        if self.lock is not None:
            self.lock.release()
            self.lock = None
        self.process.close()

    def do(self, act: Callable[[Node], object]) -> None:
        """Do something; if the process dies of it, start another, take up what was left, and repeat."""
        try:
            act(self.node)
        except KilledError:
            self.die()
            self.start()
            self.node.take_up()
            self.live(self.node)
            act(self.node)

    def live(self, node: Node) -> None:
        """Be the session again, where this process was it."""
        here = node.host.sessions_here
        found = here.find(RUN)
        if not self.attached or found is None or self.lock is not None:
            return
        self.lock = here.hold(RUN)
        with node.store.transaction(CommitPoint.SESSION):
            here.begin(found)
        node.host.attached = Attached(RUN, lambda given: self.given.append(given.message.id))
        assert found.task is not None
        node.engine.session_started(RUN, found.task)
        node.engine.dispatch_waiting()

    # The steps, each of which may be repeated

    def makes_a_work_item(self, node: Node) -> None:
        with node.store.transaction(CommitPoint.WORK_ITEM) as db:
            if not items.every(db):
                items.add(db, node.random, {"title": "the cart"}, now=node.now())

    def approves_an_agent(self, node: Node) -> None:
        with node.store.transaction(CommitPoint.AGENT) as db:
            found = agents.find(db, AGENT) or agents.register(db, node.random, AGENT, "a program", node.me)
        gate = raising.registration_gate(node, GATE_TYPES["agent-registration"], found)
        given = ReplyInput("", choice="approve", idempotency_key="approve")
        node.engine.reply(ada(node), gate.id, given)

    def lets_its_agent_in(self, node: Node) -> None:
        """A token that nobody was shown is good for nobody, so another one is made."""
        self.secret = tokens.make(node, AGENT).secret

    def joins(self, node: Node) -> None:
        node.engine.join("eng", self.task)

    def starts_a_session(self, node: Node) -> None:
        with node.store.transaction(CommitPoint.SESSION):
            if node.host.sessions_here.find(RUN) is None:
                node.host.sessions_here.make(node.random, self.task, RUN, now=node.now())
        self.attached = True
        self.live(node)

    def sends(self, node: Node) -> None:
        node.engine.send(ada(node), draft("channel:eng", self.task, key="first"))

    def is_told_that_agents_pause(self, node: Node) -> None:
        session = Sender(RUN)
        turn = node.engine.send(session, draft("human:ada", key="a turn")).message
        with pytest.raises(DmpError) as refusal:
            node.engine.send(session, draft("human:ada", key="too much", reply_to=turn.id))
        assert refusal.value.code is Code.LIMITED

    def closes_a_question(self, node: Node) -> None:
        question = node.engine.send(ada(node), draft("human:bob", key="a question", kind="question")).message
        node.engine.mark_read(node.engine.deliveries(question.id)[0].id)
        if node.engine.answer_of(question.id) is None:
            node.engine.close(question.id, "never mind")

    def decides_what_an_agent_answered(self, node: Node) -> None:
        tool = GATE_TYPES["tool-approval"]
        gate = raising.raise_gate(node, tool, CALL, key="a gate").message
        with node.store.transaction("an older build") as db:
            if answer_to(db, gate.id) is None and not node.engine.voided():
                insert_message(db, agents_answer(gate))
        node.take_up()
        given = ReplyInput("", choice="deny", idempotency_key="deny")
        node.engine.reply(ada(node), gate.id, given)

    def keeps_what_an_agent_proposed(self, node: Node) -> None:
        fields: dict[str, JsonValue] = {"title": "Tabs", "body": "Four spaces.", "kind": "fact"}
        made = memory.put(node, Sender(AGENT), "project", fields, key="kept")
        assert isinstance(made, proposals.Proposal)
        memory_gates.judge(node)
        known = proposals.find(node.store.db, made.id)
        if known is not None and known.state is proposals.State.OPEN:
            memory_gates.decide(node, known, approve=True)

    def takes_a_change_of_a_document(self, node: Node) -> None:
        """An agent proposes a change of an accepted document, and its person approves of it."""
        if read(node.store, node.me).find("guide") is None:
            documents.create(node, node.address, documents.Text("Rest.\n"), "guide")
        if (guide := read(node.store, node.me).need("guide")).status != "accepted":
            documents.describe(node, "guide", status="accepted")
        if doc_proposals.every(node.store.db) == [] and len(guide.revisions) == 1:
            documents.put(node, AGENT, "guide", documents.Text("Go on.\n"), None)
        for proposal in documents.proposals(node):
            documents.approve(node, "guide", proposal.revision.id)

    def leaves_mail_behind(self, node: Node) -> None:
        """Another process of hers sends; before the session takes the mail up, it ends."""
        node.host.attached = None
        self.attached = False
        node.engine.send(ada(node), draft(self.task, key="last"))
        if self.lock is not None:
            self.lock.release()
            self.lock = None
        node.take_up()

    @property
    def task(self) -> str:
        (item,) = items.every(self.node.store.db)
        return item.address


def ada(node: Node) -> Sender:
    return Sender(node.host.person, can_decide=True)


def draft(*to: str, key: str, kind: str = "message", reply_to: str | None = None) -> SendInput:
    return SendInput(to, kind, key, reply_to=reply_to, idempotency_key=key)


def agents_answer(gate: Message) -> Message:
    return Message(
        "m-bad",
        gate.thread,
        gate.id,
        AGENT,
        (gate.sender,),
        "answer",
        "",
        gate.created_at,
        choice="approve",
        standing=Standing.ACCEPTED,
    )


def tell(root: Path, killer: Killer) -> None:
    story = Story(root, killer)
    try:
        story.do(story.makes_a_work_item)
        story.do(story.approves_an_agent)
        story.do(story.lets_its_agent_in)
        story.do(story.joins)
        story.do(story.starts_a_session)
        story.do(story.sends)
        story.do(story.is_told_that_agents_pause)
        story.do(story.closes_a_question)
        story.do(story.decides_what_an_agent_answered)
        story.do(story.keeps_what_an_agent_proposed)
        story.do(story.takes_a_change_of_a_document)
        story.do(story.leaves_mail_behind)
        check(story, killer)
    finally:
        story.die()


def check(story: Story, killer: Killer) -> None:
    """Everything happened, and nothing twice but a push that a crash kept from being recorded."""
    node, db = story.node, story.node.store.db
    mail = node.engine.inbox(story.task)
    assert {(message.body, delivery.state) for delivery, message in mail} == {
        ("first", State.PUSHED),
        ("last", State.HELD),
    }
    unrecorded = killer.at is not None and killer.at[:2] == (CorePoint.DISPATCHED, "before")
    assert len(story.given) == (2 if unrecorded else 1)
    assert len(set(story.given)) == 1
    assert agents.need(db, AGENT).status == "approved"
    assert credentials.resolve(node, story.secret).address == AGENT
    assert node.engine.members("eng") == (story.task,)
    assert node.engine.voided() == ["m-bad"]
    assert node.engine.open_gates() == []
    assert len(node.engine.effects_applied()) == 4
    (kept,) = memory.every(node)
    assert (kept.entry.title, kept.entry.trust) == ("Tabs", "confirmed")
    assert len(kept.entry.revisions) == 1
    (guide,) = read(node.store, node.me).there()
    assert (len(guide.revisions), guide.heads[0].author, doc_proposals.every(db)) == (2, AGENT, [])
    bodies = Counter(message.body.split()[0] for _, message in node.engine.inbox("human:ada"))
    assert bodies == {
        "May": 2,
        AGENT: 1,
        "Change": 1,
        "a": 1,
        "Agents": 1,
        "An": 1,
    }  # gates, the turn, and the two notices
    assert node.engine.recover() == Recovered(0, 0, 0, 0)
    for table in ("deliveries", "effects"):
        assert db.execute(f"SELECT count(*) FROM {table} WHERE owner IS NOT NULL").fetchone() == (0,)


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Counter[tuple[str, When]]:
    """How often a story without a death reaches each commit."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        killer = Killer()
        tell(folder / "ada", killer)
    return killer.seen


def test_the_story_visits_every_commit_of_a_host(reached: Counter[tuple[str, When]]) -> None:
    assert {str(point) for point, _ in reached} >= {str(point) for point in POINTS}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", POINTS)
def test_a_crash_around_any_commit_loses_and_doubles_nothing(
    tmp_path: Path, reached: Counter[tuple[str, When]], point: str, when: When
) -> None:
    for occurrence in range(1, reached[str(point), when] + 1):
        killer = Killer((str(point), when, occurrence))
        tell(tmp_path / str(occurrence), killer)
        assert killer.done
