-- Links of a profile, version 1. One database per profile.
--
-- Times are Unix milliseconds. Keys, ids and hashes are the bytes themselves. A column is
-- never given another meaning; a later version adds a script that leads to it.

CREATE TABLE store_version (
    one     INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    version INTEGER NOT NULL
) STRICT;

-- A link, or what is left of one that ended by itself.
CREATE TABLE link (
    position   INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    -- What it is called on this device.
    name       TEXT    NOT NULL UNIQUE,
    -- 1 showed the code, 2 scanned it.
    role       INTEGER NOT NULL CHECK (role IN (1, 2)),
    -- The web door of its relay; none: the relay in this program.
    relay      TEXT,
    peer_name  TEXT    NOT NULL,
    platform   TEXT    NOT NULL,
    made_at_ms INTEGER NOT NULL,
    -- Gone once the link is over.
    key        BLOB    CHECK (length(key) = 32),
    id         BLOB    CHECK (length(id) = 16),
    -- What the machine keeps.
    last_received        INTEGER,
    received_in          INTEGER,
    floor                INTEGER NOT NULL DEFAULT 0,
    is_established       INTEGER NOT NULL DEFAULT 0 CHECK (is_established IN (0, 1)),
    unconfirmed_since_ms INTEGER,
    lost_since_ms        INTEGER,
    last_contact_ms      INTEGER,
    CHECK ((key IS NULL) = (id IS NULL))
) STRICT;

-- What the other device hasn't acknowledged.
CREATE TABLE outbox (
    link        INTEGER NOT NULL REFERENCES link (position) ON DELETE CASCADE,
    id          BLOB    NOT NULL CHECK (length(id) = 16),
    -- The machine's order.
    position    INTEGER NOT NULL,
    -- The collapse key of a state; none: a message.
    collapse    TEXT,
    body        BLOB    NOT NULL,
    queued_ms   INTEGER NOT NULL,
    -- Where the relay has it.
    sequence    INTEGER,
    created_ms  INTEGER,
    PRIMARY KEY (link, id),
    CHECK ((sequence IS NULL) = (created_ms IS NULL))
) STRICT, WITHOUT ROWID;

-- What will never arrive there, until the person has seen it.
CREATE TABLE failed (
    link      INTEGER NOT NULL REFERENCES link (position) ON DELETE CASCADE,
    id        BLOB    NOT NULL CHECK (length(id) = 16),
    collapse  TEXT,
    body      BLOB    NOT NULL,
    queued_ms INTEGER NOT NULL,
    reason    TEXT    NOT NULL,
    PRIMARY KEY (link, id)
) STRICT, WITHOUT ROWID;

-- The newest accepted ids, in the order in which they were accepted.
CREATE TABLE accepted (
    position INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    link     INTEGER NOT NULL REFERENCES link (position) ON DELETE CASCADE,
    id       BLOB    NOT NULL CHECK (length(id) = 16),
    UNIQUE (link, id)
) STRICT;

-- What arrived and wasn't handled.
CREATE TABLE arrived (
    position   INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    link       INTEGER NOT NULL REFERENCES link (position) ON DELETE CASCADE,
    id         BLOB    NOT NULL CHECK (length(id) = 16),
    collapse   TEXT,
    body       BLOB    NOT NULL,
    ts_ms      INTEGER NOT NULL,
    arrived_ms INTEGER NOT NULL,
    UNIQUE (link, id)
) STRICT;

-- Mailboxes that are to be erased. They outlive their links.
CREATE TABLE erase (
    position       INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    mailbox        BLOB    NOT NULL UNIQUE CHECK (length(mailbox) = 16),
    token          BLOB    NOT NULL CHECK (length(token) = 32),
    relay          TEXT,
    queued_ms      INTEGER NOT NULL,
    -- A sealed farewell that goes first.
    bye_direction  TEXT,
    bye_sequence   INTEGER,
    bye_envelope   BLOB,
    CHECK ((bye_direction IS NULL) = (bye_envelope IS NULL)),
    CHECK ((bye_direction IS NULL) = (bye_sequence IS NULL))
) STRICT;
