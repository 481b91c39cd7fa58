-- Session State, Store Version 2: from version 1.

-- The runs of this device on this store, newest last. A run that the key store or the inbox
-- names and that is not here was made on a copy.
CREATE TABLE run (
    place  INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    marker BLOB    NOT NULL UNIQUE CHECK (length(marker) = 16)
) STRICT;
