"""What was written here before a pass: one op for each author, the latest author's last, and nothing is lost (8.15)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from core.store import Store
from core.store.database import IN_MEMORY
from crypto.canonical import JsonValue, canonical
from replica.records.schema import MIGRATIONS
from replica.shared.memory import changes
from replica.shared.memory.bodies import Trust
from replica.shared.memory.changes import Publication
from replica.shared.memory.entries import Entry, entry_of
from replica.shared.memory.writes import writes_of
from tests.replica.shared.memory_acts import MEM

ME = "ada-0000000a"
AUTHORS = ("human:ada", "agent:ada/one", "agent:ada/two")
OF_WHOM = ("author", "decidedBy", "decidedByPolicy")

written = st.lists(
    st.tuples(
        st.sampled_from(AUTHORS),
        st.dictionaries(
            st.sampled_from(["title", "body", "pinned", "epic", "decidedBy"]),
            st.sampled_from([None, "human:ada", "x"]),
        ).filter(lambda fields: fields.keys() - set(OF_WHOM)),
    ),
    min_size=1,
    max_size=7,
)


def speaks(replica: str, handle: str, _seq: int | None) -> bool:
    return (replica, handle) == (ME, "ada")


def here(store: Store) -> Entry:
    """The entry as it is on this host."""
    unpublished = [each.as_write(ME) for each in changes.changes_of(store.db, MEM)]
    return entry_of(MEM, [*writes_of(store.db, MEM), *unpublished], ME, speaks, {})


def publish(store: Store) -> list[Publication]:
    """Publish all of it, an op after another."""
    found: list[Publication] = []
    while (said := changes.next_publication(store.db, MEM, ME, speaks)) is not None:
        with store.transaction("test") as db:
            db.execute(
                "INSERT INTO memory_writes VALUES (?, ?, 0, ?, ?, ?, ?, ?)",
                (MEM, 100 + len(found), ME, 10 + len(found), said.trust, said.by, text(said.fields)),
            )
            changes.drop_published(db, said)
        found.append(said)
    return found


def text(fields: object) -> str:
    return canonical(dict(fields)).decode()  # type: ignore[call-overload]


def recorded(drawn: list[tuple[str, dict[str, JsonValue]]]) -> Store:
    store = Store.open(IN_MEMORY, MIGRATIONS)
    with store.transaction("test") as db:
        for by, fields in drawn:
            changes.record(db, "team", {MEM: fields}, by=by, now="now")
    return store


@settings(max_examples=150, deadline=None)
@given(written)
def test_what_is_published_is_what_was_written(drawn: list[tuple[str, dict[str, JsonValue]]]) -> None:
    store = recorded(drawn)
    before = here(store)
    said = publish(store)
    after = here(store)
    for name in before.values.keys() | after.values.keys() - set(OF_WHOM):
        if name not in OF_WHOM:
            assert after.values[name] == before.values[name]
    assert len({each.by for each in said}) == len(said), "each author has one op"
    order = [by for by, _ in reversed(drawn)]
    latest = list(reversed(list(dict.fromkeys(order))))
    assert [each.by for each in said] == [by for by in latest if by in {each.by for each in said}]
    assert all(each.fields.keys() - set(OF_WHOM) for each in said), "none is of names alone"
    for name in {name for each in said for name in each.fields} - set(OF_WHOM):
        assert sum(name in each.fields for each in said) == 1, "each field is published once"
    assert changes.waiting(store.db) == []
    store.close()


@settings(max_examples=150, deadline=None)
@given(written)
def test_a_replica_claims_the_trust_that_it_holds(drawn: list[tuple[str, dict[str, JsonValue]]]) -> None:
    store = recorded(
        [("human:ada", {"title": "t", "body": "b", "kind": "fact", "author": "human:ada"}), *drawn]
    )
    said = publish(store)
    assert here(store).trust == said[-1].trust
    elsewhere = entry_of(MEM, writes_of(store.db, MEM), "bob-0000000b", speaks, {})
    assert elsewhere.trust is Trust(said[-1].trust) or elsewhere.held
    store.close()


def test_an_entry_of_the_project_waits_for_nothing() -> None:
    store = Store.open(IN_MEMORY, MIGRATIONS)
    with store.transaction("test") as db:
        changes.record(db, "project", {MEM: {"title": "t"}}, by="human:ada", now="now")
    assert changes.waiting(store.db) == []
    store.close()
