-- Session State, Store Version 5: from version 4.

-- Whether the relay refused the request of the join for good. Its issue says so, too, until the
-- person dismisses that.
ALTER TABLE pending_join ADD COLUMN refused INTEGER NOT NULL DEFAULT 0 CHECK (refused IN (0, 1));

-- Of a store that was written before: no request waits, and one failed that is no message.
UPDATE pending_join SET refused = 1
WHERE NOT EXISTS (SELECT 1 FROM outbox_message WHERE kind = 1)
  AND EXISTS (
    SELECT 1 FROM delivery_issue
    WHERE code LIKE 'sendFailed.%'
      AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = delivery_issue.message)
      AND NOT EXISTS (SELECT 1 FROM resend WHERE resend.id = delivery_issue.message));

-- Whether the person wants to leave, which no manifest known here could carry yet.
ALTER TABLE device ADD COLUMN wants_leave INTEGER NOT NULL DEFAULT 0
    CHECK (wants_leave IN (0, 1));

-- The last time at which there was a session with the relay, in Unix ms.
ALTER TABLE device ADD COLUMN seen_ms INTEGER CHECK (seen_ms >= 0);
