// A clock that is set while a link lives, back or forward.

import { describe, expect, it } from "vitest";
import { envelope, keys, pair, settle } from "../../tests/side";
import { DAY_MS, RECLAIM_MS, SILENCE_MS } from "./limit";

describe("a clock that is set", () => {
  const YEAR_MS = 366 * DAY_MS;

  it("back leaves nothing waiting for the time that it showed", () => {
    const { a, b } = pair();
    for (const side of [a, b]) side.nowMs += YEAR_MS;
    b.network = () => ({ is: "noAnswer" });
    b.send("kept");
    for (let time = 0; time < 12; time += 1) b.later((b.link.status().retryAtMs ?? 0) - b.nowMs);
    b.network = (_, perform) => perform();
    for (const side of [a, b]) side.nowMs -= YEAR_MS;
    b.later(1_000);
    expect([b.slots().length, b.durable.outbox[0]?.queuedMs]).toEqual([1, b.nowMs]);
    expect(b.watching.has("a2b")).toBe(true);
    b.later(SILENCE_MS);
    expect(b.watching.has("a2b")).toBe(false);
    b.later(RECLAIM_MS);
    settle(a, b);
    expect(a.delivered).toEqual(["kept"]);
  });

  it("back doesn't keep a full direction waiting, nor a resync", () => {
    const { b, door } = pair();
    b.nowMs += YEAR_MS;
    for (let sent = 0; sent < 65; sent += 1) b.send(`m${sent}`);
    expect(b.link.status().blockedSinceMs).toBe(b.nowMs);
    b.durable.row = { ...b.durable.row, resyncAtMs: b.nowMs };
    b.nowMs -= YEAR_MS;
    b.later(1);
    expect(b.link.status().blockedSinceMs).toBe(b.nowMs);
    door.slots(keys.mailbox, "b2a").clear();
    b.durable.outbox = [];
    b.restart();
    // Authentic and long had: the other side is asked for all that it still has.
    const stored = door.slots(keys.mailbox, "a2b");
    stored.set(1, envelope(1, "late"));
    const mailbox = door.mailboxes.get(keys.mailbox);
    if (mailbox) mailbox.directions.a2b.last = 9;
    b.durable.row = { ...b.durable.row, lastReceived: 5, receivedIn: 0 };
    b.restart();
    expect(b.slots().length).toBe(1);
  });

  it("forward lets nothing expire that was written under the slow one", () => {
    const { a, b } = pair();
    b.network = () => ({ is: "noAnswer" });
    b.send("written last year");
    b.nowMs += YEAR_MS;
    b.link.adopt([{ id: "p6enp6enp6enp6enp6enpw", order: 9, kind: "state", collapse: null, body: new Uint8Array(), queuedMs: b.nowMs, seq: null, createdMs: null }], b.nowMs - YEAR_MS);
    b.link.handleClockStep(YEAR_MS, b.nowMs);
    b.run();
    expect(b.durable.outbox.map(({ queuedMs }) => queuedMs)).toEqual([b.nowMs, b.nowMs]);
    b.later(29 * DAY_MS);
    expect(b.failed).toEqual([]);
    b.network = (_, perform) => perform();
    b.fetch();
    a.nowMs = b.nowMs;
    settle(a, b);
    expect(a.delivered).toEqual(["written last year", ""]);
  });
});
