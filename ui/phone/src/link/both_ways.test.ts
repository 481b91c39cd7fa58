// What goes both ways at once: a link that lay idle until its mailbox was gone, and two sides
// that filled their directions without reading.

import { describe, expect, it } from "vitest";
import { keys, pair, settle, type Side } from "../../tests/side";
import { DAY_MS, SLOTS_MAX } from "./limit";

const texts = (from: string, count: number, first = 0): string[] => Array.from({ length: count }, (_, index) => `${from}${first + index}`);

describe("traffic both ways", () => {
  it.each([1, 7, 70])("goes on after an idle expiry that both notice at their next start: %i messages", (count) => {
    const { a, b, door } = pair();
    for (let sent = 0; sent < 40; sent += 1) {
      a.send(`a${sent}`);
      b.send(`b${sent}`);
    }
    settle(a, b);
    const before = door.mailboxes.get(keys.mailbox)?.createdMs;
    for (const side of [a, b]) {
      side.nowMs += 31 * DAY_MS;
      side.restart();
    }
    expect(door.mailboxes.get(keys.mailbox)?.createdMs).not.toBe(before);
    expect(a.durable.row.unconfirmedSinceMs).toBe(a.nowMs);
    for (let sent = 0; sent < count; sent += 1) {
      a.send(`a${40 + sent}`);
      b.send(`b${40 + sent}`);
      for (const side of [a, b]) side.fetch();
    }
    settle(a, b);
    expect([a.delivered, b.delivered]).toEqual([texts("b", 40 + count), texts("a", 40 + count)]);
    expect([a.durable.outbox, b.durable.outbox, a.slots(), b.slots()]).toEqual([[], [], [], []]);
    expect([a.durable.row.unconfirmedSinceMs, b.durable.row.unconfirmedSinceMs]).toEqual([null, null]);
  });

  it("goes on when both directions were full, without a loop before and without a timer then", () => {
    const { a, b } = pair();
    const puts = { a: 0, b: 0 };
    for (const side of [a, b]) {
      side.network = (request, perform) => {
        if (request.is === "put") puts[side.role] += 1;
        return perform();
      };
      for (let sent = 0; sent < SLOTS_MAX + 3; sent += 1) side.send(`${side.role}${sent}`);
    }
    for (const side of [a, b]) expect([side.slots().length, side.link.status().blockedSinceMs]).toEqual([SLOTS_MAX, side.nowMs]);
    expect(puts).toEqual({ a: SLOTS_MAX + 1, b: SLOTS_MAX + 1 });
    for (const side of [a, b]) side.later(60_000);
    expect(puts).toEqual({ a: SLOTS_MAX + 1, b: SLOTS_MAX + 1 });
    const frame = (side: Side, direction: "a2b" | "b2a", type: string): void => {
      side.link.handleWatch({ is: "frame", direction, type, count: null, createdMs: null }, side.nowMs);
      side.run();
    };
    // Nothing but the frames that the relay sends when somebody has collected.
    a.fetch();
    frame(b, "b2a", "pruned");
    frame(b, "a2b", "stored");
    frame(a, "a2b", "pruned");
    frame(a, "b2a", "stored");
    frame(b, "a2b", "stored");
    expect([a.delivered, b.delivered]).toEqual([texts("b", SLOTS_MAX + 3), texts("a", SLOTS_MAX + 3)]);
    for (const side of [a, b]) expect(side.link.status().blockedSinceMs).toBeNull();
  });
});
