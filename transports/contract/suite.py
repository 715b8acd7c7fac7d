"""The tests of every transport."""

import pytest

from crypto.op import read_entry
from transports.base import Behind, Line, Transport, TransportError, Unreachable
from transports.contract.author import Author
from transports.contract.far import FarSide
from transports.contract.passes import as_signed, lane, linked, news, once
from transports.contract.speaking import Speaking

LINE_ENDS = "a\rb\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029c"
"""Everything that some reader or other takes for the end of a line."""


class TransportContract(Speaking):
    """What a reader of `transports.base` may rely on, whatever is behind it."""

    # Publishing

    def test_what_nobody_published_is_not_there(self, near: Transport, ada: Author, bob: Author) -> None:
        self.expect(lambda: news(near, ada, bob), {})
        self.expect(lambda: lane(near, ada), [])

    def test_what_one_replica_publishes_another_reads_as_it_was_signed(
        self, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, lines := ada.speech(3))
        self.expect(lambda: news(other, ada), {ada.replica: lines})
        self.expect(lambda: lane(other, ada), lines)

    def test_p1_a_line_ends_at_a_line_feed_and_at_nothing_else(
        self, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, lines := ada.speech(2, LINE_ENDS))
        self.expect(lambda: news(other, ada), {ada.replica: lines})

    def test_t2_what_was_published_is_there_when_publish_returns(
        self, far: FarSide, near: Transport, other: Transport, ada: Author
    ) -> None:
        lines: list[bytes] = []
        for count in (1, 3, 1):
            self.publish(near, ada, new := ada.speech(count))
            lines += new
            self.expect(lambda: news(other, ada), {ada.replica: lines})
            self.expect(lambda: news(near, ada), {ada.replica: lines})
        near.close()
        again = far.open(ada, "second")
        self.expect(lambda: news(again, ada), {ada.replica: lines})
        again.close()

    def test_publishing_nothing_changes_nothing(self, near: Transport, ada: Author) -> None:
        self.publish(near, ada, [])
        self.publish(near, ada, lines := ada.speech(1))
        self.publish(near, ada, [])
        self.expect(lambda: news(near, ada), {ada.replica: lines})

    def test_publishing_again_what_is_there_adds_no_other_op(
        self, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, lines := ada.speech(3))
        self.publish(near, ada, lines[1:])
        self.expect(lambda: news(other, ada), {ada.replica: lines})
        self.publish(near, ada, more := ada.speech(1))
        self.expect(lambda: news(other, ada), {ada.replica: lines + more})

    def test_r4_a_publish_on_an_old_view_of_its_own_lane_is_refused_whole(
        self, far: FarSide, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, before := ada.speech(1))
        twin, elsewhere = ada.twin(), far.open(ada, "twin")
        self.persist(elsewhere.refresh)
        self.publish(near, ada, mine := ada.speech(2))
        with pytest.raises(TransportError) as refused:
            elsewhere.publish(twin.replica, twin.speech(2, "of a twin"))
        elsewhere.close()
        assert isinstance(refused.value, Behind) or self.tries > 1
        self.expect(lambda: news(other, ada), {ada.replica: before + mine})

    def test_every_replica_gets_through_by_refreshing_and_trying_again(
        self, far: FarSide, ada: Author, bob: Author, cal: Author
    ) -> None:
        sides = {author.replica: (author, far.open(author, "first")) for author in (ada, bob, cal)}
        wanted: dict[str, list[bytes]] = {replica: [] for replica in sides}
        for _ in range(3):
            for _, side in sides.values():
                self.persist(side.refresh)
            for author, side in sides.values():
                wanted[author.replica] += (new := author.speech(1))
                try:
                    side.publish(author.replica, new)
                except TransportError:
                    self.publish(side, author, new)
        for _, side in sides.values():
            self.expect(lambda now=side: news(now, ada, bob, cal), wanted)  # type: ignore[misc]
            side.close()

    # Reading

    def test_pull_begins_at_the_seq_it_is_given(
        self, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(near, ada, lines := ada.speech(5))
        self.publish(other, bob, others := bob.speech(2))
        third, ends = ada.first + 2, {ada.replica: ada.seq + 1, bob.replica: bob.seq + 1}
        shown = {ada.replica: lines[2:], bob.replica: others}
        self.expect(lambda: news(near, bob, since={ada.replica: third}), shown)
        self.expect(lambda: news(near, since=ends), {})
        self.expect(lambda: lane(near, ada, ada.seq), lines[4:])

    def test_lines_of_a_lane_come_in_the_order_in_which_they_were_published(
        self, near: Transport, other: Transport, ada: Author
    ) -> None:
        lines: list[bytes] = []
        for count in (2, 7, 1, 4):
            self.publish(near, ada, new := ada.speech(count))
            lines += new

        def pulled() -> list[bytes]:
            other.refresh()
            pull = other.pull({ada.replica: ada.first}, budget=None)
            return once(as_signed(line.raw) for line in pull if line.replica == ada.replica)

        def read_alone() -> list[bytes]:
            other.refresh()
            return once(as_signed(line.raw) for line in other.lane(ada.replica, ada.first))

        self.expect(pulled, lines)
        self.expect(read_alone, lines)

    def test_k3_what_was_shown_once_is_shown_again(
        self, far: FarSide, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        lines: list[bytes] = []
        for _ in range(4):
            self.publish(near, ada, new := ada.speech(1))
            lines += new
            for _ in range(3):
                self.expect(lambda: news(other, ada), {ada.replica: lines})
        other.close()
        again = far.open(bob, "first")
        for _ in range(3):
            self.expect(lambda: news(again, ada), {ada.replica: lines})
        again.close()

    def test_t1_nothing_is_missed_that_was_published_while_a_reader_was_away(
        self, far: FarSide, near: Transport, ada: Author, bob: Author
    ) -> None:
        reader = far.open(bob, "first")
        self.publish(near, ada, before := ada.speech(2))
        self.expect(lambda: news(reader, ada), {ada.replica: before})
        reader.close()
        self.publish(near, ada, meanwhile := ada.speech(2))
        reader = far.open(bob, "first")
        since = {ada.replica: ada.first + 1}
        self.expect(lambda: news(reader, since=since), {ada.replica: [before[1], *meanwhile]})
        self.publish(near, ada, after := ada.speech(1))
        self.expect(lambda: news(reader, ada), {ada.replica: before + meanwhile + after})
        reader.close()

    def test_t1_nothing_is_missed_that_was_published_around_a_cut(
        self, far: FarSide, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, before := ada.speech(2))
        self.expect(lambda: news(other, ada), {ada.replica: before})
        far.cut()
        far.mend()
        self.publish(near, ada, after := ada.speech(2))
        since = {ada.replica: ada.first + 1}
        self.expect(lambda: news(other, since=since), {ada.replica: [before[1], *after]})

    def test_k2_an_op_is_read_whole_by_those_it_is_for(
        self, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        lines = [ada.says(), ada.seals("for bob", bob), ada.says(), ada.seals("for both", ada, bob)]
        self.publish(near, ada, lines)
        for _ in range(2):
            self.expect(lambda: news(other, ada), {ada.replica: lines})

    def test_k2_whoever_an_op_is_not_for_reads_it_or_its_stub(
        self, far: FarSide, near: Transport, ada: Author, bob: Author, cal: Author
    ) -> None:
        self.publish(near, ada, lines := [ada.says(), ada.seals("for bob", bob)])
        third = far.open(cal, "first")
        hashes = [read_entry(raw).hash for raw in lines]
        self.expect(
            lambda: [read_entry(raw).hash for raw in news(third, ada).get(ada.replica, []) if raw], hashes
        )
        third.close()

    def test_t1_nothing_is_acknowledged_but_by_the_word_of_a_replica(
        self, far: FarSide, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(near, ada, lines := [ada.says(), ada.seals("for bob", bob)])
        self.expect(lambda: news(other, ada), {ada.replica: lines})
        self.persist(near.refresh)
        assert list(near.acks([bob.replica])) == []
        other.close()
        again = far.open(bob, "second")  # the first one died before it had kept what it was handed
        self.expect(lambda: news(again, ada), {ada.replica: lines})
        again.close()

    def test_acknowledgements_that_are_shown_are_the_last_ones_given(
        self, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(other, bob, bob.speech(2))
        first, last = (ada.acknowledges({bob.replica: seq}) for seq in (bob.first, bob.seq))
        self.publish(near, ada, [], first)
        self.publish(near, ada, ada.speech(1), last)

        def shown() -> list[Line]:
            other.refresh()
            return list(dict.fromkeys(other.acks([ada.replica])))

        self.expect(lambda: shown() or [Line(ada.replica, last)], [Line(ada.replica, last)])
        self.expect(lambda: list(other.acks([bob.replica])), [])

    def test_a_far_side_that_changed_has_another_tip(
        self, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, ada.speech(1))
        tip = self.persist(other.refresh)
        self.expect(lambda: len(news(other, ada)), 1)
        self.publish(near, ada, ada.speech(1))
        assert self.persist(other.refresh) != tip

    def test_watch_tells_that_somebody_published(
        self, near: Transport, other: Transport, bob: Author
    ) -> None:
        self.persist(near.refresh)
        self.publish(other, bob, lines := bob.speech(1))
        assert near.watch(30)
        self.expect(lambda: news(near, bob), {bob.replica: lines})

    # Budgets

    def test_pulls_within_a_budget_come_to_the_end(
        self, far: FarSide, near: Transport, ada: Author, bob: Author, cal: Author
    ) -> None:
        wanted: dict[str, list[bytes]] = {}
        for author in (ada, bob, cal):
            wanted[author.replica] = author.speech(30, "x" * 500)
            side = far.open(author, "writer")
            self.publish(side, author, wanted[author.replica])
            side.close()
        since = {author.replica: author.first for author in (ada, bob, cal)}
        found: dict[str, set[bytes]] = {replica: set() for replica in since}
        for _ in range(100 + self.tries):
            self.persist(near.refresh)
            for line in near.pull(since, budget=8_000):
                if line.replica in since:
                    found[line.replica].add(as_signed(line.raw))
            since = {lane: linked(head, wanted[lane], found[lane]) for lane, head in since.items()}
            if all(set(wanted[replica]) <= found[replica] for replica in since):
                return
        pytest.fail(f"a hundred pulls do not come to the end of 90 lines, but to {since}")

    def test_a_lane_that_nobody_takes_from_keeps_no_other_waiting_for_ever(
        self, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(near, ada, ada.speech(30, "x" * 500))
        self.publish(other, bob, lines := bob.speech(2))
        for _ in range(20 + self.tries):
            self.persist(near.refresh)
            pull = near.pull({ada.replica: ada.first, bob.replica: bob.first}, budget=4_000)
            if set(lines) <= {as_signed(line.raw) for line in pull}:
                return
        pytest.fail("of twenty pulls none comes to the other lane")

    # A far side that goes and comes back

    def test_a_far_side_that_is_away_says_so_and_loses_nothing(
        self, far: FarSide, near: Transport, other: Transport, ada: Author
    ) -> None:
        self.publish(near, ada, before := ada.speech(2))
        self.expect(lambda: news(other, ada), {ada.replica: before})
        far.cut()
        after = ada.speech(1)
        for error in (self.fails(other.refresh), self.fails(lambda: near.publish(ada.replica, after))):
            assert error.message
            assert isinstance(error, Unreachable) or self.tries > 1
        far.mend()
        self.publish(near, ada, after)
        self.expect(lambda: news(other, ada), {ada.replica: before + after})

    def test_t2_what_a_restored_far_side_lost_can_be_published_again(
        self, far: FarSide, near: Transport, other: Transport, ada: Author, bob: Author
    ) -> None:
        self.publish(near, ada, before := ada.speech(2))
        restore = far.backup()
        self.publish(near, ada, lost := ada.speech(2))
        self.publish(other, bob, others := bob.speech(1))
        self.expect(lambda: news(other, ada), {ada.replica: before + lost})
        restore()
        self.expect(lambda: news(near, ada, bob), {ada.replica: before})
        self.publish(near, ada, lost)
        self.publish(other, bob, others)
        self.expect(lambda: news(other, ada, bob), {ada.replica: before + lost, bob.replica: others})
        self.publish(near, ada, after := ada.speech(1))
        self.expect(lambda: news(other, ada), {ada.replica: before + lost + after})
