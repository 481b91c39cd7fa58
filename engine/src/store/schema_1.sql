-- Session State, Store Version 1. One database per group.
--
-- Times are Unix milliseconds. Keys, ids and hashes are the bytes themselves. A column is
-- never given another meaning; a later version adds a script that leads to it.

CREATE TABLE store_version (
    one     INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    version INTEGER NOT NULL
) STRICT;

-- The group on this device, in one row.
CREATE TABLE device (
    one           INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    -- Which identity of the key item is in use.
    identity      BLOB    NOT NULL CHECK (length(identity) = 16),
    phase         TEXT    NOT NULL,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    label         TEXT,
    relay         TEXT,
    read_position INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE pending_join (
    one              INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    admitter_noise   BLOB    NOT NULL CHECK (length(admitter_noise) = 32),
    admitter_signing BLOB    NOT NULL CHECK (length(admitter_signing) = 32),
    secret           BLOB    NOT NULL CHECK (length(secret) = 32),
    confirmed        INTEGER NOT NULL CHECK (confirmed IN (0, 1))
) STRICT;

-- Manifests that wait for the admission, in the order of arrival.
CREATE TABLE buffered_manifest (
    place   INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    author  BLOB    NOT NULL CHECK (length(author) = 32),
    encoded BLOB    NOT NULL
) STRICT;

-- A message with at least one undelivered copy. The body stands here once.
CREATE TABLE outbox_message (
    sequence   INTEGER PRIMARY KEY NOT NULL,
    kind       INTEGER NOT NULL,
    sent_at_ms INTEGER NOT NULL,
    body       BLOB    NOT NULL,
    -- The recipient whose copy goes before all others.
    first      BLOB    CHECK (first IS NULL OR length(first) = 32),
    -- The failures reported already, as codes with a blank between them.
    reported   TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE outbox_entry (
    sequence          INTEGER NOT NULL REFERENCES outbox_message (sequence) ON DELETE CASCADE,
    recipient_noise   BLOB    NOT NULL CHECK (length(recipient_noise) = 32),
    recipient_signing BLOB    NOT NULL CHECK (length(recipient_signing) = 32),
    PRIMARY KEY (sequence, recipient_noise)
) STRICT, WITHOUT ROWID;

-- The dedup table.
CREATE TABLE handled (
    id            BLOB    PRIMARY KEY NOT NULL CHECK (length(id) = 32),
    keep_until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX handled_by_age ON handled (keep_until_ms);

CREATE TABLE message (
    position     INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    id           BLOB    NOT NULL UNIQUE CHECK (length(id) = 32),
    own          INTEGER NOT NULL CHECK (own IN (0, 1)),
    author       TEXT    NOT NULL,
    author_name  TEXT    NOT NULL,
    app_id       BLOB    CHECK (app_id IS NULL OR length(app_id) = 16),
    body         BLOB    NOT NULL,
    sent_at_ms   INTEGER NOT NULL,
    stored_at_ms INTEGER NOT NULL,
    UNIQUE (author, app_id)
) STRICT;

CREATE INDEX message_of_others ON message (position) WHERE own = 0;

CREATE TABLE delivery (
    position INTEGER NOT NULL REFERENCES message (position) ON DELETE CASCADE,
    member   TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    place    INTEGER NOT NULL,
    state    TEXT    NOT NULL,
    failure  TEXT,
    at_ms    INTEGER,
    PRIMARY KEY (position, member)
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_waiting ON delivery (position) WHERE state = 'waiting';

CREATE TABLE delivery_issue (
    id      INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    at_ms   INTEGER NOT NULL,
    code    TEXT    NOT NULL,
    message BLOB    CHECK (message IS NULL OR length(message) = 32),
    version INTEGER,
    detail  TEXT,
    told    INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1))
) STRICT;

CREATE TABLE held_blob (
    digest        BLOB    PRIMARY KEY NOT NULL CHECK (length(digest) = 32),
    version       INTEGER NOT NULL,
    place         INTEGER NOT NULL,
    first_seen_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The membership rule.

CREATE TABLE membership_root (
    one  INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    hash BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TABLE manifest (
    hash    BLOB    PRIMARY KEY NOT NULL CHECK (length(hash) = 32),
    encoded BLOB    NOT NULL,
    trusted INTEGER NOT NULL CHECK (trusted IN (0, 1))
) STRICT;

CREATE TABLE membership_removal (
    member   BLOB    NOT NULL CHECK (length(member) = 32),
    manifest BLOB    NOT NULL CHECK (length(manifest) = 32),
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (member, manifest)
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_hello (
    member   BLOB PRIMARY KEY NOT NULL CHECK (length(member) = 32),
    manifest BLOB NOT NULL CHECK (length(manifest) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_seen (
    member   BLOB PRIMARY KEY NOT NULL CHECK (length(member) = 32),
    manifest BLOB NOT NULL CHECK (length(manifest) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_limbo (
    member   BLOB    PRIMARY KEY NOT NULL CHECK (length(member) = 32),
    since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_base (
    member BLOB PRIMARY KEY NOT NULL CHECK (length(member) = 32),
    noise  BLOB NOT NULL CHECK (length(noise) = 32),
    name   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_hello_sent (
    member BLOB PRIMARY KEY NOT NULL CHECK (length(member) = 32)
) STRICT, WITHOUT ROWID;

CREATE TABLE membership_held (
    member BLOB PRIMARY KEY NOT NULL CHECK (length(member) = 32)
) STRICT, WITHOUT ROWID;

-- Who came and went, as this device saw it. Nothing rests on it. It goes with the group.
CREATE TABLE membership_note (
    id          INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    seen_ms     INTEGER NOT NULL,
    is_added    INTEGER NOT NULL CHECK (is_added IN (0, 1)),
    member      BLOB    NOT NULL CHECK (length(member) = 32),
    noise       BLOB    NOT NULL CHECK (length(noise) = 32),
    name        TEXT    NOT NULL,
    issuer      BLOB    CHECK (issuer IS NULL OR length(issuer) = 32),
    issuer_name TEXT,
    version     INTEGER
) STRICT;
