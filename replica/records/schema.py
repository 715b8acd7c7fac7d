"""The tables a replica adds to the host core's, in one database file.

A text column that ends in `_json` holds JSON this replica wrote itself. The line of an op is its
canonical form, and is never queried: that would be a second reader of one JSON text.
"""

from core.store import schema as core

_FIRST = """
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Every op this replica has verified, its own included; `settled` 0 marks one still to be applied. A roster
-- op may be here ahead of its chain's cursor: it counts from the moment it is verified.
CREATE TABLE ops (
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    prev    TEXT NOT NULL,
    type    TEXT NOT NULL,
    line    BLOB NOT NULL,
    settled INTEGER NOT NULL,
    PRIMARY KEY (replica, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX ops_of_type ON ops (type, replica, seq);
CREATE INDEX ops_by_prev ON ops (replica, prev);

-- Ops that are verified and kept, but cannot be judged yet.
CREATE TABLE parked (
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    reason  TEXT NOT NULL,
    tried   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (replica, seq)
) STRICT, WITHOUT ROWID;

-- Stubs met in place of content that was addressed to this replica and never read here.
CREATE TABLE missing (
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    PRIMARY KEY (replica, seq)
) STRICT, WITHOUT ROWID;

-- How far each chain is verified and applied. The own chain has a row too: its head is what is signed next.
CREATE TABLE cursors (
    replica     TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    hash        TEXT NOT NULL,
    hlc         TEXT NOT NULL,
    halted_seq    INTEGER,
    halted_reason TEXT,
    halted_text   TEXT
) STRICT, WITHOUT ROWID;

-- Self-signed key ops, at most four for an id.
CREATE TABLE claims (
    replica     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    line        BLOB NOT NULL,
    PRIMARY KEY (replica, fingerprint)
) STRICT, WITHOUT ROWID;

-- Own ops the transport has not taken yet, with the outbox rows a sealed one was made from: its publisher
-- cannot open it, and may have to say the same to fewer readers.
CREATE TABLE unpublished (
    seq       INTEGER PRIMARY KEY,
    rows_json TEXT
) STRICT;

-- Own ops published again because a recipient never got their content, and how often.
CREATE TABLE again (
    seq   INTEGER PRIMARY KEY,
    times INTEGER NOT NULL
) STRICT;

-- What is to be said and is not signed yet.
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,
    kind         TEXT NOT NULL,
    content_json TEXT NOT NULL,
    readers_json TEXT NOT NULL
) STRICT;

-- A recipient whose home is another replica.
CREATE TABLE remote_rows (
    message      TEXT NOT NULL REFERENCES messages (id),
    recipient    TEXT NOT NULL,
    via          TEXT NOT NULL,
    homes_json   TEXT NOT NULL,
    state        TEXT NOT NULL,
    refused_json TEXT NOT NULL DEFAULT '{}',
    changed_at   TEXT NOT NULL,
    PRIMARY KEY (message, recipient)
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_rows_of_recipient ON remote_rows (recipient, message);

-- The replicas a message went to, its origin left out.
CREATE TABLE readers (
    message       TEXT PRIMARY KEY REFERENCES messages (id),
    replicas_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Settlements that arrived before their question, one for a publisher.
CREATE TABLE early_settles (
    question  TEXT NOT NULL,
    publisher TEXT NOT NULL,
    answer    TEXT NOT NULL,
    closed    TEXT,
    PRIMARY KEY (question, publisher)
) STRICT, WITHOUT ROWID;
CREATE INDEX early_settles_of_publisher ON early_settles (publisher);

-- Settlements this replica believes whose answer may still be on its way.
CREATE TABLE settlements (
    question TEXT PRIMARY KEY REFERENCES messages (id),
    answer   TEXT NOT NULL,
    closed   TEXT
) STRICT, WITHOUT ROWID;

-- Invites issued here: the seed proves them, so it never leaves.
CREATE TABLE invites (
    id      TEXT PRIMARY KEY,
    seed    TEXT NOT NULL,
    handle  TEXT NOT NULL,
    expires TEXT NOT NULL,
    spent   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What each teammate has acknowledged, from its signed acks, and how much of it is this replica's own.
CREATE TABLE acks (
    replica      TEXT PRIMARY KEY,
    through_json TEXT NOT NULL,
    own_through  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Ops applied per publisher, kind and hour: the quotas.
CREATE TABLE quotas (
    publisher TEXT NOT NULL,
    kind      TEXT NOT NULL,
    hour      INTEGER NOT NULL,
    used      INTEGER NOT NULL,
    PRIMARY KEY (publisher, kind)
) STRICT, WITHOUT ROWID;

-- What a person should know, one row for a subject.
CREATE TABLE problems (
    subject TEXT PRIMARY KEY,
    text    TEXT NOT NULL,
    replica TEXT,
    seq     INTEGER,
    at      TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_SHARED = """
-- What each replica said of a session: `first_hlc` is its first claim, and the rest what it said last.
CREATE TABLE run_claims (
    run        TEXT NOT NULL,
    replica    TEXT NOT NULL,
    first_hlc  TEXT NOT NULL,
    hlc        TEXT NOT NULL,
    task       TEXT,
    run_kind   TEXT NOT NULL,
    live       INTEGER NOT NULL,
    waiting_on TEXT,
    member     INTEGER NOT NULL,  -- whether the replica is in the team still
    PRIMARY KEY (run, replica)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_claims_of_task ON run_claims (task);

-- What each replica last said of itself.
CREATE TABLE devices (
    replica   TEXT PRIMARY KEY,
    hlc       TEXT NOT NULL,
    build     TEXT NOT NULL,
    device    TEXT NOT NULL,
    wall      REAL NOT NULL,
    caps_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- When a work item was made, as the earliest op that says so says: another making of one id is another work item.
CREATE TABLE task_origins (
    task   TEXT PRIMARY KEY,
    origin TEXT NOT NULL,
    hlc    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The place in the team that each publisher had when its ops were folded: where it has another, all is folded anew.
CREATE TABLE folded (
    replica TEXT PRIMARY KEY,
    place   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Ops of these types were kept unread until now, and mail that waits for them: the next pass reads all again.
DELETE FROM meta WHERE name = 'tip';
"""

_HANDED_ON = """
-- The replica that may wake a work item, where the message's origin named one.
ALTER TABLE remote_rows ADD COLUMN wake_at TEXT;

-- The op that brought a message here, to hand it on from.
CREATE TABLE carriers (
    message TEXT PRIMARY KEY REFERENCES messages (id),
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

_TAKEN_BACK = """
-- Mail and states for this replica that came after their publisher's cut: read if the cut turns out void.
CREATE TABLE beyond_cut (
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (replica, seq)
) STRICT, WITHOUT ROWID;

-- Replicas that signed two histories, and the lowest seq where these part: what they say from there on is void.
CREATE TABLE forks (
    replica TEXT PRIMARY KEY,
    seq     INTEGER NOT NULL,
    reason  TEXT NOT NULL,
    read    TEXT NOT NULL DEFAULT ''  -- a hash of what was last read of it, and along which end
) STRICT, WITHOUT ROWID;

-- The ops of a fork's seq that are not in `ops`: they prove it, and of the roster's the smallest hash counts.
CREATE TABLE rivals (
    replica TEXT NOT NULL,
    hash    TEXT NOT NULL,
    type    TEXT NOT NULL,
    line    BLOB NOT NULL,
    PRIMARY KEY (replica, hash)
) STRICT, WITHOUT ROWID;
"""

_SEEN = """
-- The text of a problem that a person said they have seen: it is shown again when the text is another.
ALTER TABLE problems ADD COLUMN seen TEXT;
"""

_MEMORY = """
-- What each op wrote to an entry of the team's memory, to be merged in the order of their clocks.
CREATE TABLE memory_writes (
    memory      TEXT NOT NULL,
    ms          INTEGER NOT NULL,
    counter     INTEGER NOT NULL,
    replica     TEXT NOT NULL,
    seq         INTEGER NOT NULL,
    claim       TEXT NOT NULL,  -- the trust its publisher asserts
    author      TEXT,           -- who wrote it, where that is told
    fields_json TEXT NOT NULL,
    PRIMARY KEY (memory, ms, counter, replica)
) STRICT, WITHOUT ROWID;

-- Entries that were written to since it was last looked whether a write waits for a decision.
CREATE TABLE memory_unjudged (
    memory TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What was written to memory here: of the team's until it is published, else for good.
CREATE TABLE memory_changes (
    position    INTEGER PRIMARY KEY,
    memory      TEXT NOT NULL,
    scope       TEXT NOT NULL,
    author      TEXT NOT NULL,
    at          TEXT NOT NULL,
    fields_json TEXT NOT NULL
) STRICT;
CREATE INDEX memory_changes_of_entry ON memory_changes (memory, position);
CREATE INDEX memory_changes_of_team ON memory_changes (memory) WHERE scope = 'team';

-- Changes of memory that wait for this host's person, or did: those of this host, and teammates' ops that no human
-- stands behind.
CREATE TABLE memory_proposals (
    id           TEXT PRIMARY KEY,
    memory       TEXT NOT NULL,
    action       TEXT NOT NULL,
    scope        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    author       TEXT,
    made_at      TEXT NOT NULL,
    state        TEXT NOT NULL,
    gate         TEXT,          -- NULL until it is raised
    changes_json TEXT,          -- of a proposal of this host
    replica      TEXT,          -- of a teammate's op
    seq          INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_proposals_of_entry ON memory_proposals (memory);
CREATE INDEX memory_proposals_by_state ON memory_proposals (state, replica);
CREATE UNIQUE INDEX memory_proposals_of_op ON memory_proposals (replica, seq) WHERE replica IS NOT NULL;

-- What a program's idempotency key stands for: an entry, or a proposal.
CREATE TABLE memory_keys (
    author TEXT NOT NULL,
    key    TEXT NOT NULL,
    made   TEXT NOT NULL,
    PRIMARY KEY (author, key)
) STRICT, WITHOUT ROWID;

-- Ops of the type were kept unread until now: the next pass reads all again.
DELETE FROM meta WHERE name = 'tip';
"""

_DOCS = """
-- Revisions of documents that folded ops carry, without their bodies, which stay in the ops.
CREATE TABLE doc_revisions (
    replica      TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    hlc          TEXT NOT NULL,
    doc          TEXT NOT NULL,
    by_          TEXT NOT NULL,
    rev          TEXT NOT NULL,
    parents_json TEXT NOT NULL,
    title        TEXT NOT NULL,
    size         INTEGER NOT NULL,
    hash         TEXT NOT NULL,
    author       TEXT NOT NULL,
    approved_by  TEXT,  -- the person who stands behind it, where its publisher speaks for them
    cause        TEXT NOT NULL,
    summary      TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    task         TEXT,
    PRIMARY KEY (replica, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX doc_revisions_of ON doc_revisions (doc);

-- What folded ops say of documents beside their revisions; NULL for what they do not say.
CREATE TABLE doc_notes (
    replica      TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    hlc          TEXT NOT NULL,
    doc          TEXT NOT NULL,
    by_          TEXT NOT NULL,
    removes      INTEGER NOT NULL,
    slug         TEXT,
    status       TEXT,
    links_json   TEXT,
    aliases_json TEXT NOT NULL,
    review       TEXT,  -- a revision that a person has approved of
    PRIMARY KEY (replica, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX doc_notes_of ON doc_notes (doc);

-- What was said of documents here and is not published yet, as the bodies of the ops to come.
CREATE TABLE doc_unpublished (
    id        INTEGER PRIMARY KEY,
    session   TEXT,  -- the session that wrote it, which others must hear of first
    body_json TEXT NOT NULL
) STRICT;

-- Revisions that an agent or a session of this machine proposes, until its person decides.
CREATE TABLE doc_proposals (
    rev       TEXT PRIMARY KEY,
    body_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The revision that each file was written from, or became.
CREATE TABLE doc_files (
    path BLOB PRIMARY KEY,
    doc  TEXT NOT NULL,
    rev  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_OBSERVING = """
-- Whether whoever uses the invite is let in to read along only.
ALTER TABLE invites ADD COLUMN observer INTEGER NOT NULL DEFAULT 0;
"""

_SETTLED_BY = """
-- The op that said so, to tell a settler that says two things of one question.
ALTER TABLE settlements ADD COLUMN op TEXT;
ALTER TABLE early_settles ADD COLUMN op TEXT;
"""

_ROSTER_NEWS = """
-- What was added to the roster, in order: the opHash of an op, or the fingerprint of a key that claims an id. `changed`
-- tells that something was taken away, or that another founding is followed. Who holds a fold of what came before takes
-- in what comes after.
CREATE TABLE roster_news (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    kind    TEXT NOT NULL,
    what    TEXT NOT NULL,
    replica TEXT,
    seq     INTEGER
) STRICT;
CREATE TRIGGER roster_op_added AFTER INSERT ON ops WHEN NEW.type = 'roster' BEGIN
    INSERT INTO roster_news (kind, what, replica, seq) VALUES ('op', NEW.hash, NEW.replica, NEW.seq);
END;
CREATE TRIGGER roster_op_gone AFTER DELETE ON ops WHEN OLD.type = 'roster' BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', OLD.hash, OLD.replica);
END;
CREATE TRIGGER claim_added AFTER INSERT ON claims BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('claim', NEW.fingerprint, NEW.replica);
END;
CREATE TRIGGER claim_gone AFTER DELETE ON claims BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', OLD.fingerprint, OLD.replica);
END;
CREATE TRIGGER fork_added AFTER INSERT ON forks BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', NEW.seq, NEW.replica);
END;
CREATE TRIGGER fork_gone AFTER DELETE ON forks BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', OLD.seq, OLD.replica);
END;
CREATE TRIGGER rival_added AFTER INSERT ON rivals BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', NEW.hash, NEW.replica);
END;
CREATE TRIGGER rival_gone AFTER DELETE ON rivals BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', OLD.hash, OLD.replica);
END;
CREATE TRIGGER founding_set AFTER INSERT ON meta WHEN NEW.name IN ('founding', 'firm') BEGIN
    INSERT INTO roster_news (kind, what) VALUES ('changed', NEW.name);
END;
CREATE TRIGGER founding_moved AFTER UPDATE ON meta WHEN NEW.name IN ('founding', 'firm') BEGIN
    INSERT INTO roster_news (kind, what) VALUES ('changed', NEW.name);
END;
CREATE TRIGGER founding_gone AFTER DELETE ON meta WHEN OLD.name IN ('founding', 'firm') BEGIN
    INSERT INTO roster_news (kind, what) VALUES ('changed', OLD.name);
END;
"""

_FORK_ENDS = """
-- The end of the history that was read, where a revocation names one that is known here.
ALTER TABLE forks ADD COLUMN end_seq INTEGER;
ALTER TABLE forks ADD COLUMN end_hash TEXT;
"""

_OPS_IN_ROWS = """
-- Lines are long. In a table whose key is its tree each took a page of its own beside it, written with every op.
CREATE TABLE ops_in_rows (
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    prev    TEXT NOT NULL,
    type    TEXT NOT NULL,
    line    BLOB NOT NULL,
    settled INTEGER NOT NULL,
    PRIMARY KEY (replica, seq)
) STRICT;
INSERT INTO ops_in_rows (replica, seq, hash, prev, type, line, settled)
    SELECT replica, seq, hash, prev, type, line, settled FROM ops ORDER BY replica, seq;
DROP TABLE ops;  -- and its indexes and triggers with it
ALTER TABLE ops_in_rows RENAME TO ops;
CREATE INDEX ops_of_type ON ops (type, replica, seq);
-- Hashes come in no order, so an index of them is best small: an op is found by the beginning of its `prev`.
CREATE INDEX ops_by_prev ON ops (replica, substr(prev, 1, 16));
CREATE TRIGGER roster_op_added AFTER INSERT ON ops WHEN NEW.type = 'roster' BEGIN
    INSERT INTO roster_news (kind, what, replica, seq) VALUES ('op', NEW.hash, NEW.replica, NEW.seq);
END;
CREATE TRIGGER roster_op_gone AFTER DELETE ON ops WHEN OLD.type = 'roster' BEGIN
    INSERT INTO roster_news (kind, what, replica) VALUES ('changed', OLD.hash, OLD.replica);
END;
"""

_TRANSPORTS = """
-- Where this replica meets its team: the main transport, further ones, and former main ones, which are only read.
-- `tip` is what the last pass that left nothing waiting there saw, `acks` the acknowledgements last published there,
-- and `read_back` the own op up to which all are known to be there. Of the main one `tip` and `acks` are in `meta`.
CREATE TABLE transports (
    address     TEXT NOT NULL,
    branch      TEXT NOT NULL,
    source      TEXT NOT NULL,
    role        TEXT NOT NULL,
    tip         TEXT,
    acks        TEXT,
    read_all_at INTEGER,
    read_back   INTEGER NOT NULL DEFAULT 0,
    seen_at     TEXT,
    failed_at   TEXT,
    error       TEXT,
    PRIMARY KEY (address, branch)
) STRICT;
CREATE UNIQUE INDEX one_main_transport ON transports (role) WHERE role = 'main';
INSERT INTO transports (address, branch, source, role)
    SELECT remote.value, branch.value, 'typed', 'main' FROM meta AS remote, meta AS branch
    WHERE remote.name = 'remote' AND branch.name = 'branch';
DELETE FROM meta WHERE name IN ('remote', 'branch');
-- The last op of each lane that was seen on a transport besides the main one: what comes after it there is read again
-- even where it is known already, since it may say something else.
CREATE TABLE seen_lanes (
    address TEXT NOT NULL,
    branch  TEXT NOT NULL,
    replica TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    PRIMARY KEY (address, branch, replica),
    FOREIGN KEY (address, branch) REFERENCES transports (address, branch) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
"""

_LIGHTER_MAIL = """
-- The op that brought a message here, to hand it on from, is kept with those it went to: one row to write, not two.
ALTER TABLE readers ADD COLUMN carrier TEXT;
ALTER TABLE readers ADD COLUMN carrier_seq INTEGER;
INSERT OR IGNORE INTO readers (message, replicas_json) SELECT message, '[]' FROM carriers;
UPDATE readers SET carrier = carriers.replica, carrier_seq = carriers.seq FROM carriers
    WHERE carriers.message = readers.message;
DROP TABLE carriers;
-- Ops are asked for by type where all replicas fold them; there are many more others.
DROP INDEX ops_of_type;
CREATE INDEX ops_in_the_clear ON ops (type, replica, seq) WHERE type NOT IN ('mail', 'state');
"""

_HOST_API = """
-- Who may use the host API. Of a token its SHA-256 is kept, so that a copy of this file lets nobody in.
CREATE TABLE tokens (
    id         TEXT PRIMARY KEY,  -- what a person calls it by
    hash       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    address    TEXT,              -- whose it is; NULL for nobody's
    tier       TEXT,              -- what it may do, where that is not for the kind to say
    label      TEXT NOT NULL,
    made_at    TEXT NOT NULL,
    expires_at TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_by_address ON tokens (address);
-- What changed of messages and deliveries that were there before, for whoever shows them. The newest alone are kept.
CREATE TABLE changed (
    position INTEGER PRIMARY KEY,
    message  TEXT NOT NULL,
    delivery TEXT                 -- NULL where the message itself did
) STRICT;
CREATE TRIGGER delivery_moved AFTER UPDATE OF state ON deliveries
    WHEN NEW.state <> 'sending' AND NEW.state <> OLD.state BEGIN
    INSERT INTO changed (message, delivery) VALUES (NEW.message, NEW.id);
    DELETE FROM changed WHERE position <= last_insert_rowid() - 10000;
END;
CREATE TRIGGER message_became AFTER UPDATE OF kind ON messages WHEN NEW.kind <> OLD.kind BEGIN
    INSERT INTO changed (message) VALUES (NEW.id);
    DELETE FROM changed WHERE position <= last_insert_rowid() - 10000;
END;
-- What sessions sent, for the threads of a work item.
CREATE INDEX messages_of_sessions ON messages (sender) WHERE sender >= 'run:' AND sender < 'run;';
"""

_FORK_PROOFS = """
-- What proves that a key signed two histories: one proof for a key, kept whatever becomes of its log here.
CREATE TABLE fork_proofs (
    replica     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    proof       BLOB NOT NULL,
    at          TEXT NOT NULL,
    PRIMARY KEY (replica, fingerprint)
) STRICT;
"""

_TRAIL = """
-- Problems as they came, changed and went, the newest of them: the table itself forgets what is over. What goes says no
-- time, so it gets that of the last pass.
CREATE TABLE trail (
    id      INTEGER PRIMARY KEY,
    at      TEXT NOT NULL,
    subject TEXT NOT NULL,
    text    TEXT NOT NULL,
    replica TEXT,
    seq     INTEGER,
    over    INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO trail (at, subject, text, replica, seq) SELECT at, subject, text, replica, seq FROM problems ORDER BY at;
CREATE TRIGGER problem_noted AFTER INSERT ON problems BEGIN
    INSERT INTO trail (at, subject, text, replica, seq) VALUES (NEW.at, NEW.subject, NEW.text, NEW.replica, NEW.seq);
END;
CREATE TRIGGER problem_changed AFTER UPDATE OF text ON problems WHEN NEW.text IS NOT OLD.text BEGIN
    INSERT INTO trail (at, subject, text, replica, seq) VALUES (NEW.at, NEW.subject, NEW.text, NEW.replica, NEW.seq);
END;
CREATE TRIGGER problem_gone AFTER DELETE ON problems BEGIN
    INSERT INTO trail (at, subject, text, replica, seq, over) VALUES (
        max(OLD.at, coalesce((SELECT value FROM meta WHERE name = 'synced-at'), '')),
        OLD.subject, OLD.text, OLD.replica, OLD.seq, 1
    );
END;
CREATE TRIGGER trail_grew AFTER INSERT ON trail WHEN NEW.id > 10000 BEGIN
    DELETE FROM trail WHERE id <= NEW.id - 10000;
END;
"""

_A2A_PEERS = """
-- Of the binding bindings/a2a: the agents that this host sends to (section 8.9). What a card says of itself is theirs.
CREATE TABLE a2a_peers (
    alias          TEXT PRIMARY KEY,
    card_url       TEXT NOT NULL,
    interface_json TEXT NOT NULL,     -- what is called, and how a credential is shown there
    about_json     TEXT NOT NULL,     -- name, description, skills and extensions, as the card has them
    options_json   TEXT NOT NULL,     -- what its owner set for extensions
    state          TEXT NOT NULL,
    why            TEXT NOT NULL DEFAULT '',
    added_at       TEXT NOT NULL,
    refresh_at     INTEGER NOT NULL   -- milliseconds since 1970: when its card is fetched next
) STRICT, WITHOUT ROWID;
-- A delivery to a peer from its first try on. `over` tells what became of it; NULL while it is to be tried again.
CREATE TABLE a2a_sends (
    delivery TEXT PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
    alias    TEXT NOT NULL,
    tries    INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    next_at  INTEGER NOT NULL,
    over     TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX a2a_sends_over ON a2a_sends (alias, next_at) WHERE over IS NOT NULL;
-- A task at a peer, opened by a message sent to it.
CREATE TABLE a2a_peer_tasks (
    alias      TEXT NOT NULL,
    task       TEXT NOT NULL,
    context    TEXT NOT NULL,
    message    TEXT NOT NULL REFERENCES messages (id),
    direct     INTEGER NOT NULL,
    begun_at   INTEGER NOT NULL,
    next_at    INTEGER NOT NULL,
    failures   INTEGER NOT NULL DEFAULT 0,
    noticed_at INTEGER NOT NULL DEFAULT 0,  -- when its last word on its work was recorded
    is_open    INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (alias, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX a2a_peer_tasks_open ON a2a_peer_tasks (next_at) WHERE is_open = 1;
CREATE INDEX a2a_peer_tasks_of_message ON a2a_peer_tasks (message);
-- Which task of a peer a recorded message tells of, so that a reply to it goes there.
CREATE TABLE a2a_peer_words (
    message TEXT PRIMARY KEY REFERENCES messages (id),
    alias   TEXT NOT NULL,
    task    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_A2A_TASKS = """
-- Of the binding bindings/a2a: what the tasks of its clients are beside the messages that open them (8.6, 8.7).
-- A handoff by its client and the id the client gave it, from before its message is stored.
CREATE TABLE a2a_handoffs (
    client    TEXT NOT NULL,
    key       TEXT NOT NULL,  -- the message's idempotency key
    work_item TEXT NOT NULL,  -- the address of its draft
    request   TEXT NOT NULL,  -- canonical JSON, as it was asked for
    at        TEXT NOT NULL,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX a2a_handoffs_by_work_item ON a2a_handoffs (work_item);
-- Tasks that ended without an answer: the client canceled it, or the owner declined to answer.
CREATE TABLE a2a_ended (
    task TEXT PRIMARY KEY REFERENCES messages (id),
    how  TEXT NOT NULL CHECK (how IN ('canceled', 'declined')),
    note TEXT NOT NULL DEFAULT '',
    at   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- What work on a handoff came to, by its kind in work/v1.
CREATE TABLE a2a_results (
    work_item TEXT NOT NULL,
    kind      TEXT NOT NULL,
    value     TEXT NOT NULL,  -- canonical JSON
    at        TEXT NOT NULL,
    PRIMARY KEY (work_item, kind)
) STRICT, WITHOUT ROWID;
"""

_INSTANCE_ROUTING = """
-- Of the binding bindings/instance_routing: agents of this host that A2A clients address by ids of their own. One that
-- is hidden keeps its id.
CREATE TABLE instances (
    id      TEXT PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    name    TEXT NOT NULL,
    wakes   TEXT,              -- the work item that a wake is for; NULL for one that clients may not wake
    exposed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- What a client sent to an instance, from before its message is stored: the contents that its id stands for.
CREATE TABLE instance_requests (
    client   TEXT NOT NULL,
    key      TEXT NOT NULL,    -- the message's idempotency key, a hash of the id that the client gave it
    digest   TEXT NOT NULL,
    id       TEXT NOT NULL,    -- as the client gave it
    instance TEXT NOT NULL,
    subject  TEXT NOT NULL,
    wake     TEXT NOT NULL CHECK (wake IN ('none', 'due', 'asked', 'woken', 'denied', 'failed')),
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX instance_requests_due ON instance_requests (client) WHERE wake = 'due';
"""

_A2A_SKIPPED = """
-- Of the binding bindings/a2a: inactive peers that a channel's message skipped, until the owner is told (section 8.9).
CREATE TABLE a2a_skipped (
    alias TEXT PRIMARY KEY,
    at    INTEGER NOT NULL  -- milliseconds since 1970
) STRICT, WITHOUT ROWID;
CREATE INDEX a2a_peer_words_of_task ON a2a_peer_words (alias, task);
"""

_MACHINE_ENVELOPES = """
-- Of the binding bindings/machine_envelope: envelopes that were spent, by their id and by their issuer's nonce. A row
-- goes some time after the envelope expired, and never before.
CREATE TABLE machine_envelopes (
    id     TEXT PRIMARY KEY,
    issuer TEXT NOT NULL,
    nonce  TEXT NOT NULL,
    until  INTEGER NOT NULL,  -- milliseconds since 1970
    UNIQUE (issuer, nonce)
) STRICT, WITHOUT ROWID;
CREATE INDEX machine_envelopes_until ON machine_envelopes (until);
"""

_A2A_CLIENTS = """
-- Of the binding bindings/a2a: A2A clients, each an agent in the register of those as well (sections 8.1, 8.4).
CREATE TABLE a2a_clients (
    address    TEXT PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,  -- of its bearer token
    recipients TEXT NOT NULL,         -- whom it may address, a JSON list
    made_at    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_A2A_OBSERVED = """
-- Of the binding bindings/a2a: how a handoff stood when its client last looked, and since when. A work item's status
-- and a gate's end have no time of their own, and a client asks for the tasks that changed since one.
CREATE TABLE a2a_observed (
    task TEXT PRIMARY KEY REFERENCES messages (id),
    how  TEXT NOT NULL,
    at   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (
    core.MAILBOXES,
    _FIRST,
    core.HOST,
    _SHARED,
    _HANDED_ON,
    _TAKEN_BACK,
    _SEEN,
    _MEMORY,
    _DOCS,
    _OBSERVING,
    _SETTLED_BY,
    _ROSTER_NEWS,
    _FORK_ENDS,
    _OPS_IN_ROWS,
    _TRANSPORTS,
    core.FEWER_INDEXES,
    _LIGHTER_MAIL,
    _HOST_API,
    _FORK_PROOFS,
    _TRAIL,
    _A2A_PEERS,
    _A2A_TASKS,
    _INSTANCE_ROUTING,
    _A2A_SKIPPED,
    _MACHINE_ENVELOPES,
    _A2A_CLIENTS,
    _A2A_OBSERVED,
)
