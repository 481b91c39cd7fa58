-- Session State, Store Version 5: from version 4.

-- Whether the relay refused the request of the join for good. Its issue says so, too, until the
-- person dismisses that. In a store that was written before, nothing else tells such an issue
-- from those of other messages, so a request that was refused then counts as one on the relay:
-- it can be cancelled as ever.
ALTER TABLE pending_join ADD COLUMN refused INTEGER NOT NULL DEFAULT 0 CHECK (refused IN (0, 1));

-- Whether the person wants to leave, which no manifest known here could carry yet.
ALTER TABLE device ADD COLUMN wants_leave INTEGER NOT NULL DEFAULT 0
    CHECK (wants_leave IN (0, 1));

-- The last time at which there was a session with the relay, in Unix ms.
ALTER TABLE device ADD COLUMN seen_ms INTEGER CHECK (seen_ms >= 0);
