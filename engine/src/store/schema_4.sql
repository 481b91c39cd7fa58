-- Session State, Store Version 4: from version 3.

-- A message whose `send` was answered and whose rows aren't written yet: what they follow from.
-- Empty but for a moment; what is found here at the start is written then.
CREATE TABLE sent (
    sequence   INTEGER PRIMARY KEY NOT NULL,
    id         BLOB    NOT NULL CHECK (length(id) = 32),
    author     BLOB    NOT NULL CHECK (length(author) = 32),
    name       TEXT    NOT NULL,
    app_id     BLOB    CHECK (app_id IS NULL OR length(app_id) = 16),
    at_ms      INTEGER NOT NULL,
    -- For each recipient its two keys, the length of its name in one byte, and the name.
    recipients BLOB    NOT NULL,
    body       BLOB    NOT NULL
) STRICT;

-- The Message IDs under which a message of the history was sent once more.
CREATE TABLE resend (
    id       BLOB    PRIMARY KEY NOT NULL CHECK (length(id) = 32),
    position INTEGER NOT NULL REFERENCES message (position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX resend_of ON resend (position);

-- What the person has deleted of others' messages: who wrote it, and the id inside its body.
-- Without it a message that is sent once more would be shown again. It goes with the group.
CREATE TABLE deleted (
    author TEXT NOT NULL,
    app_id BLOB NOT NULL CHECK (length(app_id) = 16),
    PRIMARY KEY (author, app_id)
) STRICT, WITHOUT ROWID;

-- What the person has written and not sent.
CREATE TABLE draft (
    one  INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
    text TEXT    NOT NULL
) STRICT;

-- The three-letter pieces of every text, folded (search.rs); the row id is the position of the
-- message. Says which messages to look at, no more; rows are added behind the history.
CREATE VIRTUAL TABLE search USING fts5 (
    text,
    tokenize = 'trigram case_sensitive 1',
    content = '',
    contentless_delete = 1,
    detail = none
);

-- The body stands last: the start reads all the other columns and none of it. The rows of the
-- old tables are moved in steps afterwards (schema.rs): at once, the log would grow with them.
ALTER TABLE outbox_entry RENAME TO outbox_entry_3;
ALTER TABLE outbox_message RENAME TO outbox_message_3;

CREATE TABLE outbox_message (
    sequence   INTEGER PRIMARY KEY NOT NULL,
    kind       INTEGER NOT NULL,
    sent_at_ms INTEGER NOT NULL,
    -- The recipient whose copy goes before all others.
    first      BLOB    CHECK (first IS NULL OR length(first) = 32),
    -- The failures reported already, as codes with a blank between them.
    reported   TEXT    NOT NULL DEFAULT '',
    body       BLOB    NOT NULL
) STRICT;

CREATE TABLE outbox_entry (
    sequence          INTEGER NOT NULL REFERENCES outbox_message (sequence) ON DELETE CASCADE,
    recipient_noise   BLOB    NOT NULL CHECK (length(recipient_noise) = 32),
    recipient_signing BLOB    NOT NULL CHECK (length(recipient_signing) = 32),
    PRIMARY KEY (sequence, recipient_noise)
) STRICT, WITHOUT ROWID;

-- What waited up to this position waits no more: its group has ended (wipe.rs). 0 for none.
ALTER TABLE device ADD COLUMN withdrawn_to INTEGER NOT NULL DEFAULT 0;
