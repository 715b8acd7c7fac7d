"""The documents as this replica has them now, what was written here and is not published yet included."""

from core.store import Store
from replica.shared.docs import rows
from replica.shared.docs.library import Library, library


def read(store: Store, me: str) -> Library:
    """Read all documents, inside the open transaction if there is one; `me` is this replica."""
    with store.reading() as db:
        said = [*rows.published(db), *rows.unpublished(db, me)]
        claims = {(run, replica) for run, replica in db.execute("SELECT run, replica FROM run_claims")}
    return library(said, claims)
