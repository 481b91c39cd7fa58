-- Session State, Store Version 3: from version 2.

-- The group's name is ordered by a version, 0 being left from an earlier group. Whoever gave
-- it tells it to newcomers.
ALTER TABLE device ADD COLUMN label_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN label_is_mine INTEGER NOT NULL DEFAULT 0
    CHECK (label_is_mine IN (0, 1));

-- The membership history stays when the group ends, and this device has other keys then.
ALTER TABLE membership_note ADD COLUMN is_me INTEGER NOT NULL DEFAULT 0
    CHECK (is_me IN (0, 1));
ALTER TABLE membership_note ADD COLUMN by_me INTEGER NOT NULL DEFAULT 0
    CHECK (by_me IN (0, 1));
