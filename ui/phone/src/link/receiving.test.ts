// The receiving half of a link, row by row of 6.4.

import { describe, expect, it } from "vitest";
import { blank, ok } from "../../tests/door";
import { envelope, keys, pair, settle } from "../../tests/side";
import { CONFIGURATION_MS } from "./limit";

describe("receiving (6.4)", () => {
  it("takes page after page, each once and in order, and prunes", () => {
    const { a, b } = pair();
    const texts = Array.from({ length: 40 }, (_, index) => `m${index}`);
    for (const text of texts) a.send(text);
    b.fetch();
    expect([b.delivered, a.slots()]).toEqual([texts, []]);
  });

  it("ends after a page of sixteen envelopes that fail, and prunes them", () => {
    const { a, b, door } = pair();
    const slots = door.slots(keys.mailbox, "a2b");
    for (let slot = 1; slot <= 16; slot += 1) slots.set(slot, new Uint8Array(306).fill(slot));
    const mailbox = door.mailboxes.get(keys.mailbox);
    if (mailbox) mailbox.directions.a2b.last = 16;
    b.fetch();
    expect([a.slots(), b.link.status().skipped, b.durable.row.lastReceived]).toEqual([[], 16, null]);
    a.restart();
    a.send("after");
    b.fetch();
    expect(b.delivered).toEqual(["after"]);
  });

  it("passes a foreign, a moved and an unreadable envelope, and keeps no number of them", () => {
    const { a, b, door } = pair();
    const slots = door.slots(keys.mailbox, "a2b");
    slots.set(1, envelope(1, "good"));
    slots.set(2, envelope(9, "moved"));
    slots.set(3, envelope(3, "reflected", "b2a"));
    slots.set(4, new Uint8Array(306));
    slots.set(5_000, Uint8Array.from(envelope(5_000, "newer"), (byte, index) => (index === 0 ? 2 : byte)));
    const mailbox = door.mailboxes.get(keys.mailbox);
    if (mailbox) mailbox.directions.a2b.last = 5_000;
    b.fetch();
    expect([b.delivered, a.slots(), b.durable.row.lastReceived, b.link.status().newerPeer]).toEqual([["good"], [], 1, true]);
    expect(b.events.flatMap((event) => (event.is === "skipped" ? [event.why] : []))).toEqual(["slotMismatch", "forged", "version", "version"]);
  });

  it("stops where a page goes back, repeats itself or goes beyond what the relay counts", () => {
    for (const slots of [[2, 1], [1, 1], [1, 99]]) {
      const { b } = pair();
      b.network = (request, perform) =>
        request.is === "page" ? { is: "ok", status: 200, state: { ...blank(), last: 5, createdMs: 1_000, more: 1 }, envelopes: slots.map((slot) => ({ slot, bytes: envelope(slot, `m${slot}`) })) } : perform();
      b.fetch();
      expect(b.link.status().trouble).toBe("misbehaves");
      expect(b.link.status().retryAtMs).toBe(b.nowMs + CONFIGURATION_MS);
    }
  });

  it("ends on a page that says there is more and moves nothing", () => {
    const { b, door } = pair();
    b.network = (request, perform) => (request.is === "page" ? ok(200, { ...blank(), last: 5, createdMs: 1_000, more: 3 }) : perform());
    const before = door.requests.length;
    b.fetch();
    expect(door.requests.length - before).toBeLessThan(3);
  });

  it("knows a mailbox that restarted, though its numbers are low", () => {
    const { door, a, b } = pair();
    for (let sent = 0; sent < 9; sent += 1) a.send(`m${sent}`);
    settle(a, b);
    door.mailboxes.clear();
    // A writer without a floor, as another program may be.
    door.make({ mailbox: keys.mailbox, token: keys.token }, 77);
    door.handle({ mailbox: keys.mailbox, token: keys.token }, { is: "put", direction: "a2b", sequence: 1, bytes: envelope(1, "low") }, 77);
    b.fetch();
    expect(door.slots(keys.mailbox, "a2b").size).toBe(0);
    // Authentic and not known: the other side is asked for all that was not acknowledged.
    expect(b.slots().length).toBe(1);
  });

  it("prunes what a crash left after its transaction", () => {
    const { a, b } = pair();
    a.send("x");
    let isCut = true;
    b.network = (request, perform) => (request.is === "prune" && isCut ? { is: "noAnswer" } : perform());
    b.fetch();
    expect([b.delivered, a.slots()]).toEqual([["x"], [1]]);
    isCut = false;
    b.restart();
    expect([b.delivered, a.slots()]).toEqual([["x"], []]);
  });

  it("fetches on every frame that says so, and nothing on a beat", () => {
    const { a, b, door } = pair();
    const frame = (type: string): number => {
      const before = door.requests.length;
      b.link.handleWatch({ is: "frame", direction: "a2b", type, count: null, createdMs: null }, b.nowMs);
      b.run();
      return door.requests.length - before;
    };
    expect([frame("beat"), frame("later")]).toEqual([0, 0]);
    a.send("x");
    expect([frame("stored") > 0, b.delivered]).toEqual([true, ["x"]]);
  });
});
