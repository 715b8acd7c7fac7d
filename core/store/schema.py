"""The core's tables, as migrations in the order they were released; a released one never changes.

An application that keeps tables of its own in the same file passes `Store.open` one tuple with its
migrations and these in the order they came to be, and only ever appends to it.
"""

from typing import Final

MAILBOXES: Final = """
CREATE TABLE messages (
    position INTEGER PRIMARY KEY,  -- the order of arrival here
    id TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL,
    reply_to TEXT,                 -- may name a message that has not arrived
    sender TEXT NOT NULL,
    session TEXT,
    recipients TEXT NOT NULL,      -- the addresses of `to`, a space between them
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    refs TEXT,                     -- canonical JSON, as data and choices are; NULL when absent or empty
    data TEXT,
    urgent INTEGER NOT NULL,
    blocking INTEGER NOT NULL,
    choices TEXT,
    choice TEXT,
    wake TEXT NOT NULL,
    created_at TEXT NOT NULL,
    origin TEXT,                   -- the replica that created it; NULL for this host
    hlc TEXT,
    received_at TEXT,
    standing TEXT,                 -- what became of an answer (section F.6); NULL on anything else
    idempotency_key TEXT
);
CREATE INDEX messages_by_thread ON messages (thread);
CREATE INDEX messages_made_here ON messages (id) WHERE origin IS NULL;
CREATE UNIQUE INDEX one_answer ON messages (reply_to) WHERE kind = 'answer';
CREATE INDEX answers_and_candidates ON messages (reply_to) WHERE standing IS NOT NULL;
CREATE INDEX blocking_questions ON messages (position) WHERE blocking = 1;
CREATE UNIQUE INDEX one_message_per_key ON messages (sender, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE deliveries (
    position INTEGER PRIMARY KEY,  -- the order of a mailbox
    id TEXT NOT NULL UNIQUE,
    message TEXT NOT NULL REFERENCES messages (id),
    recipient TEXT NOT NULL,
    via TEXT NOT NULL CHECK (via IN ('direct', 'channel')),
    state TEXT NOT NULL CHECK (state IN ('held', 'sending', 'pushed', 'notified', 'read', 'answered')),
    session TEXT,
    changed_at TEXT NOT NULL,
    UNIQUE (message, recipient)
);
CREATE INDEX mailboxes ON deliveries (recipient);
CREATE INDEX mailboxes_by_state ON deliveries (recipient, state);
CREATE INDEX deliveries_sending ON deliveries (position) WHERE state = 'sending';
"""

HOST: Final = """
ALTER TABLE deliveries ADD COLUMN owner TEXT;  -- who dispatches it while it is `sending`; NULL for nobody yet

-- Of a question or handoff with gate data: 'waiting' for its answer or for its answer's effect, then 'settled'.
ALTER TABLE messages ADD COLUMN gate TEXT;
CREATE INDEX gates ON messages (gate, position) WHERE gate IS NOT NULL;

-- A teammate's urgent message over the quota: it stays as it was signed, and is dispatched without urgency.
ALTER TABLE messages ADD COLUMN demoted INTEGER NOT NULL DEFAULT 0;

-- What the guardrails count: a sender's urgent messages, and the turns of agents in a thread (section 6.6).
CREATE INDEX urgent_by_sender ON messages (sender, origin, coalesce(received_at, created_at)) WHERE urgent = 1;
CREATE INDEX turns_by_thread ON messages (thread, coalesce(received_at, created_at))
    WHERE sender NOT BETWEEN 'human:' AND 'human;';

-- Gates whose effect was applied, or is to be: without a row, nobody has begun (section 5.5).
CREATE TABLE effects (
    gate       TEXT PRIMARY KEY REFERENCES messages (id),
    applied_at TEXT,  -- NULL until it is
    owner      TEXT   -- who applies it; NULL for nobody at the moment
) STRICT, WITHOUT ROWID;

-- Shared state, field by field, each with the reading of the clock it was written at. A channel's members are
-- kept so, and whatever else of the application is.
CREATE TABLE registers (
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    field   TEXT NOT NULL,
    value   TEXT NOT NULL,  -- canonical JSON
    hlc     TEXT NOT NULL,
    PRIMARY KEY (kind, subject, field)
) STRICT, WITHOUT ROWID;

-- What was written here and has no reading yet: it lies over the registers until it is published.
CREATE TABLE register_edits (
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    field   TEXT NOT NULL,
    value   TEXT NOT NULL,
    PRIMARY KEY (kind, subject, field)
) STRICT, WITHOUT ROWID;

-- A register is found by the beginning of its value: values are ids, and texts of any length.
CREATE INDEX registers_by_value ON registers (kind, field, substr(value, 1, 64));
CREATE INDEX register_edits_by_value ON register_edits (kind, field, substr(value, 1, 64));
"""

FEWER_INDEXES: Final = """
-- Each delivery is written to every index of its table, and one by recipient and state finds a mailbox too.
DROP INDEX mailboxes;
"""

MIGRATIONS: Final = (MAILBOXES, HOST, FEWER_INDEXES)
