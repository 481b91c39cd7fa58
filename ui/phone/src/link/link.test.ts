// The rules of sections 6 and 7 of the specification, row by row, over the rules of the door.

import { describe, expect, it } from "vitest";
import { blank, Door, ok, refused } from "../../tests/door";
import { LINK_ID, LINK_KEY, settle, Side, seeded } from "../../tests/side";
import type { Answer, LinkRequest } from "./answer";
import { utf8 } from "./bytes";
import { seal } from "./envelope";
import { deriveKeys } from "./key";
import { ATTEMPTS_PAUSE_MS, BLOCKED_MS, DAY_MS, RECLAIM_MS, SILENCE_MS } from "./limit";
import { encodePayload, newPayloadId } from "./payload";

const keys = deriveKeys(LINK_KEY, LINK_ID);

function pair(): { door: Door; a: Side; b: Side } {
  const door = new Door();
  const a = new Side("a", door);
  a.run();
  const b = new Side("b", door);
  b.run();
  return { door, a, b };
}

/** An envelope of the other side, by its sequence and text. */
function envelope(sequence: number, text: string, direction: "a2b" | "b2a" = "a2b", id = newPayloadId(seeded(sequence + 77))): Uint8Array {
  const payload = encodePayload({ kind: "msg", id, ack: null, tsMs: 0, collapse: null, body: utf8(text) });
  return seal(keys, direction, sequence, payload ?? new Uint8Array(), seeded(sequence)) ?? new Uint8Array();
}

describe("claiming (6.2)", () => {
  it("comes before everything else, once, and again after a day and after 404", () => {
    const { door, b } = pair();
    expect(door.requests[0]).toBe("claim");
    b.send("x");
    b.later(RECLAIM_MS - 1);
    const claims = (): number => door.requests.filter((request) => request === "claim").length;
    expect(claims()).toBe(2);
    b.later(1);
    expect(claims()).toBe(3);
    door.mailboxes.clear();
    b.send("y");
    expect(claims()).toBe(4);
    expect(b.slots().length).toBe(2);
  });

  it("of a link that was there, answered 201, leaves it unconfirmed until the other side speaks", () => {
    const { door, a, b } = pair();
    a.send("one");
    settle(a, b);
    door.mailboxes.clear();
    b.fetch();
    expect(b.durable.row.unconfirmedSinceMs).toBe(b.nowMs);
    settle(a, b);
    a.send("two");
    settle(a, b);
    expect([b.durable.row.unconfirmedSinceMs, b.delivered]).toEqual([null, ["one", "two"]]);
  });

  it("that the relay refuses leaves the link lost, with its key, until it is there again", () => {
    const { door, a, b } = pair();
    door.mailboxes.clear();
    door.claims = "local";
    b.fetch();
    expect([b.durable.row.lost, b.isGone, b.link.status().lost]).toEqual([true, false, true]);
    const asked = door.requests.length;
    b.later(60_000);
    expect(door.requests.length).toBe(asked);
    door.claims = "open";
    b.restart();
    expect(b.durable.row.lost).toBe(false);
    b.send("here again");
    settle(a, b);
    expect(a.delivered).toEqual(["here again"]);
  });

  it("with another token is a pairing error, and nothing more is asked", () => {
    const { door, b } = pair();
    door.mailboxes.clear();
    door.make({ mailbox: keys.mailbox, token: "other" }, 0);
    b.restart();
    const asked = door.requests.length;
    b.later(DAY_MS);
    b.fetch();
    expect([b.link.status().trouble, door.requests.length - asked]).toEqual(["wrongToken", 0]);
  });
});

describe("sending (6.3)", () => {
  it("continues after what the relay has, after a restart too", () => {
    const { b } = pair();
    b.send("1");
    b.send("2");
    b.restart();
    b.send("3");
    expect(b.slots()).toEqual([1, 2, 3]);
  });

  it("writes the floor before the envelope leaves", () => {
    const { b } = pair();
    b.network = (request, perform) => {
      if (request.is === "put") expect(b.durable.row.floor).toBe(request.sequence);
      return perform();
    };
    b.send("x");
    expect(b.slots().length).toBe(1);
  });

  it("never writes below the floor in a mailbox that lost its counters", () => {
    const { door, a, b } = pair();
    for (let sent = 0; sent < 5; sent += 1) b.send(`m${sent}`);
    settle(a, b);
    door.mailboxes.clear();
    b.send("after");
    expect(b.slots().every((slot) => slot > 5)).toBe(true);
    settle(a, b);
    expect(a.delivered).toEqual(["m0", "m1", "m2", "m3", "m4", "after"]);
  });

  it("repeats the same bytes under the same number when an answer was lost: one delivery", () => {
    const { a, b } = pair();
    let lost = 1;
    const puts: LinkRequest[] = [];
    b.network = (request, perform) => {
      const answer = perform();
      if (request.is !== "put") return answer;
      puts.push(request);
      lost -= 1;
      return lost >= 0 ? { is: "noAnswer" } : answer;
    };
    b.send("once");
    expect(b.link.status().trouble).toBe("unreachable");
    b.later(2_000);
    expect(puts[1]).toEqual(puts[0]);
    settle(a, b);
    expect([a.delivered, b.slots()]).toEqual([["once"], []]);
  });

  it("of two writers of one side continues after 409, and both arrive", () => {
    const { a, b, door } = pair();
    const other = new Side("b", door, 1_000, seeded(9));
    b.send("first");
    other.send("second");
    b.send("third");
    other.send("fourth");
    settle(a);
    expect(a.delivered).toEqual(["first", "second", "third", "fourth"]);
  });

  it("pauses after five 409 in a row, and keeps the row", () => {
    const { b } = pair();
    let taken = 0;
    b.network = (request, perform) => {
      if (request.is !== "put") return perform();
      taken += 1;
      return taken <= 5 ? refused(409, "sequence_taken", { ...blank(), last: 40 + taken }) : perform();
    };
    b.send("patient");
    expect([taken, b.durable.outbox.length, b.slots()]).toEqual([5, 1, []]);
    b.later(ATTEMPTS_PAUSE_MS - 1);
    expect(taken).toBe(5);
    b.later(1);
    expect([taken, b.slots().length]).toEqual([6, 1]);
  });

  it("stops at 507 without a loop, and goes on when the other side has collected", () => {
    const { a, b } = pair();
    for (let sent = 0; sent < 66; sent += 1) b.send(`m${sent}`);
    expect([b.slots().length, b.link.status().blockedSinceMs]).toEqual([64, b.nowMs]);
    let puts = 0;
    b.network = (request, perform) => {
      if (request.is === "put") puts += 1;
      return perform();
    };
    // The watch on the own direction says when there is room: no timer is needed.
    expect([...b.watching].sort()).toEqual(["a2b", "b2a"]);
    b.later(60_000);
    expect(puts).toBe(0);
    a.fetch();
    b.link.handleWatch({ is: "frame", direction: "b2a", type: "pruned", createdMs: null }, b.nowMs);
    b.run();
    expect([b.link.status().blockedSinceMs, b.slots().length, [...b.watching]]).toEqual([null, 2, ["a2b"]]);
    settle(a, b);
    expect(a.delivered).toEqual(Array.from({ length: 66 }, (_, index) => `m${index}`));
  });

  it("is unblocked by a word of the other side, by a start, and by a quarter of an hour", () => {
    for (const way of ["word", "start", "time"] as const) {
      const { a, b, door } = pair();
      for (let sent = 0; sent < 65; sent += 1) b.send(`m${sent}`);
      door.slots(keys.mailbox, "b2a").clear();
      expect(b.link.status().blockedSinceMs).not.toBeNull();
      if (way === "word") {
        a.send("hello");
        b.fetch();
      } else if (way === "start") b.restart();
      else b.later(BLOCKED_MS);
      expect([way, b.slots().length]).toEqual([way, 1]);
    }
  });

  it("fails what is too large or not understood for good, and goes on with the next", () => {
    const { b } = pair();
    const answers: Answer[] = [refused(413, "envelope_too_large"), refused(400, "bad_envelope"), refused(405, "method_not_allowed")];
    b.network = (request, perform) => (request.is === "put" ? (answers.shift() ?? perform()) : perform());
    for (const text of ["1", "2", "3", "4"]) b.send(text);
    expect([b.failed, b.slots().length]).toEqual([["tooLarge", "malformed", "malformed"], 1]);
    b.send("x".repeat(70_000));
    expect(b.failed.at(-1)).toBe("tooLarge");
  });

  it("looks once after a jump, and then reports", () => {
    const { b } = pair();
    b.send("0");
    b.network = (request, perform) => (request.is === "put" ? refused(400, "sequence_jump") : perform());
    b.send("1");
    expect(b.failed).toEqual(["malformed"]);
  });

  it("fails what stayed for 30 days as expired", () => {
    const { b } = pair();
    b.network = () => ({ is: "noAnswer" });
    b.send("late");
    b.later(30 * DAY_MS - 1);
    expect(b.failed).toEqual([]);
    b.later(1);
    expect(b.failed).toEqual(["expired"]);
  });

  it("replaces a state that still waits, and nothing else", () => {
    const { a, b } = pair();
    b.network = () => ({ is: "noAnswer" });
    b.send("read 1", "read");
    b.send("text");
    b.send("other", "other");
    b.send("read 2", "read");
    b.network = (_, perform) => perform();
    settle(b, a);
    expect(a.delivered).toEqual(["text", "other", "read 2"]);
  });

  it("never believes a number above 2^52", () => {
    const { b } = pair();
    b.network = (request, perform) => (request.is === "head" ? ok(200, { ...blank(), last: 2 ** 52 + 2, createdMs: 1 }) : perform());
    b.send("x");
    expect([b.link.status().trouble, b.durable.row.floor, b.slots()]).toEqual(["misbehaves", 0, []]);
    b.network = (request, perform) => (request.is === "put" ? refused(409, "sequence_taken", { ...blank(), last: 2 ** 53 - 1 }) : perform());
    b.restart();
    expect([b.link.status().trouble, b.durable.row.floor < 10]).toEqual(["misbehaves", true]);
  });
});

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
      expect(b.link.nextTimer(b.nowMs)).toBeGreaterThan(b.nowMs);
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
      b.link.handleWatch({ is: "frame", direction: "a2b", type, createdMs: null }, b.nowMs);
      b.run();
      return door.requests.length - before;
    };
    expect([frame("beat"), frame("later")]).toEqual([0, 0]);
    a.send("x");
    expect([frame("stored") > 0, b.delivered]).toEqual([true, ["x"]]);
  });
});

describe("acknowledgement and resync (7.2)", () => {
  it("takes a row out when the other side has it", () => {
    const { a, b } = pair();
    b.send("x");
    expect(b.durable.outbox.length).toBe(1);
    a.fetch();
    expect(a.slots()).toEqual([]);
    a.later(5_000);
    expect(a.slots().length).toBe(1);
    b.fetch();
    expect(b.durable.outbox).toEqual([]);
    expect(b.events).toContainEqual({ is: "received", id: expect.any(String) });
  });

  it("is never acknowledged itself", () => {
    const { a, b, door } = pair();
    b.send("x");
    settle(a, b);
    const before = door.requests.filter((request) => request === "put").length;
    settle(a, b);
    expect(door.requests.filter((request) => request === "put").length).toBe(before);
  });

  it("is owed again for what came after an acknowledgement was sealed, and after a crash", () => {
    const { a, b } = pair();
    a.send("1");
    b.fetch();
    b.network = (request, perform) => (request.is === "put" ? { is: "noAnswer" } : perform());
    b.later(5_000);
    a.send("2");
    b.fetch();
    b.network = (_, perform) => perform();
    b.later(2_000);
    b.restart();
    settle(a, b);
    expect([a.durable.outbox, b.durable.row.owesAck]).toEqual([[], false]);
  });

  it("waits while the own direction is well filled", () => {
    const { a, b } = pair();
    for (let sent = 0; sent < 20; sent += 1) a.send(`m${sent}`);
    b.send("x");
    a.fetch();
    const before = a.slots().length;
    a.later(5_000);
    expect(a.slots().length).toBe(before);
  });

  it("sends again what a relay restored from yesterday has forgotten: nothing lost, nothing twice", () => {
    const { door, a, b } = pair();
    a.send("0");
    settle(a, b);
    const yesterday = door.copy();
    for (const text of ["1", "2"]) a.send(text);
    for (const text of ["p", "q"]) b.send(text);
    b.fetch();
    door.mailboxes = yesterday;
    // A relay that is restored was stopped.
    for (const side of [a, b]) side.link.handleWatch({ is: "closed", direction: side === a ? "b2a" : "a2b", code: 1001, reason: "going away" }, side.nowMs);
    settle(a, b);
    a.send("3");
    b.send("r");
    settle(a, b);
    expect([a.delivered, b.delivered]).toEqual([["p", "q", "r"], ["0", "1", "2", "3"]]);
    expect([a.durable.outbox, b.durable.outbox, a.slots(), b.slots()]).toEqual([[], [], [], []]);
  });

  it("looks at the relay again after every sign that it may have been set back", () => {
    for (const sign of ["closed", "opened", "answer", "look", "time"] as const) {
      const { door, a, b } = pair();
      a.send("0");
      settle(a, b);
      const yesterday = door.copy();
      b.send("p");
      door.mailboxes = yesterday;
      if (sign === "closed") b.link.handleWatch({ is: "closed", direction: "a2b", code: 1001, reason: "going away" }, b.nowMs);
      if (sign === "opened") b.link.handleWatch({ is: "opened", direction: "a2b" }, b.nowMs);
      if (sign === "time") b.nowMs += SILENCE_MS;
      if (sign === "look") b.link.handleVisible(true, b.nowMs);
      if (sign === "answer") {
        b.network = () => ({ is: "noAnswer" });
        b.link.handleWatch({ is: "frame", direction: "a2b", type: "stored", createdMs: null }, b.nowMs);
        b.run();
        b.network = (_, perform) => perform();
        b.later(2_000);
      }
      b.send("q");
      settle(a, b);
      expect([sign, a.delivered]).toEqual([sign, ["p", "q"]]);
    }
  });

  it("survives the relay losing everything while messages are on their way", () => {
    const { door, a, b } = pair();
    for (const text of ["1", "2", "3"]) {
      a.send(text);
      b.send(text);
      door.mailboxes.clear();
    }
    settle(a, b);
    expect([a.delivered, b.delivered]).toEqual([["1", "2", "3"], ["1", "2", "3"]]);
  });

  it("asks for a resync at most once in ten minutes", () => {
    const { door, a, b } = pair();
    a.send("x");
    settle(a, b);
    const replay = (sequence: number): void => {
      door.slots(keys.mailbox, "a2b").set(sequence, envelope(sequence, `old ${sequence}`));
      const mailbox = door.mailboxes.get(keys.mailbox);
      if (mailbox) mailbox.createdMs += 1;
      b.fetch();
    };
    const before = b.slots().length;
    replay(1);
    expect(b.slots().length).toBe(before + 1);
    replay(1);
    expect(b.slots().length).toBe(before + 1);
  });

  it("knows the newest 4,096 ids again", () => {
    const { b } = pair();
    expect(b.durable.accepted.length).toBe(0);
    const { a } = { a: new Side("a", b.door) };
    for (let sent = 0; sent < 70; sent += 1) {
      a.send(`m${sent}`);
      b.fetch();
    }
    expect(b.durable.accepted.length).toBe(70);
  });
});

describe("a crash at every line (6.6)", () => {
  it("of either side loses nothing and delivers nothing twice", () => {
    const play = (crashOf: "a" | "b" | null, at: number): { lines: number; got: string[][] } => {
      const { a, b } = pair();
      const victim = crashOf === "a" ? a : b;
      if (crashOf !== null) victim.crashIn = at;
      // What a crash cuts off before its row was stored was never promised: said again.
      const say = (side: Side, text: string): void => {
        side.send(text);
        if (!side.durable.outbox.some((row) => Buffer.from(row.body).toString() === text) && ![...a.delivered, ...b.delivered].includes(`${text}`)) side.send(text);
      };
      say(a, "a1");
      say(b, "b1");
      b.fetch();
      say(b, "b2");
      a.fetch();
      say(a, "a2");
      settle(a, b);
      expect([a.durable.outbox, b.durable.outbox, a.slots(), b.slots()]).toEqual([[], [], [], []]);
      return { lines: victim.lines, got: [a.delivered, b.delivered] };
    };
    for (const side of ["a", "b"] as const) {
      const { lines } = play(side, Number.POSITIVE_INFINITY);
      expect(lines).toBeGreaterThan(30);
      for (let at = 0; at < lines; at += 1) expect([side, at, play(side, at).got]).toEqual([side, at, [["b1", "b2"], ["a1", "a2"]]]);
    }
  });

  it("with answers lost at every line too", () => {
    for (const side of ["a", "b"] as const) {
      for (let lostAt = 0; lostAt < 40; lostAt += 1) {
        const { a, b } = pair();
        const victim = side === "a" ? a : b;
        let request = 0;
        victim.network = (_, perform) => {
          const answer = perform();
          request += 1;
          return request === lostAt ? { is: "noAnswer" } : answer;
        };
        a.send("a1");
        b.send("b1");
        settle(a, b);
        expect([side, lostAt, a.delivered, b.delivered]).toEqual([side, lostAt, ["b1"], ["a1"]]);
      }
    }
  });
});

describe("a client that was set back", () => {
  it("to an older copy of itself gets what was not acknowledged, and its new messages arrive", () => {
    const { a, b } = pair();
    a.send("1");
    settle(a, b);
    const older = structuredClone(b.durable);
    b.send("from b");
    a.send("2");
    settle(a, b);
    b.durable = older;
    b.restart();
    b.send("after the restore");
    settle(a, b);
    expect([a.delivered, b.delivered]).toEqual([["from b", "after the restore"], ["1", "2"]]);
  });
});

describe("unpairing (6.7)", () => {
  it("leaves an erase with a last word, and nothing of the link", () => {
    const { b } = pair();
    b.send("x");
    b.link.unpair(b.nowMs);
    const { changes, effects } = b.link.drain();
    const forgotten = changes.find((change) => change.is === "forgotten");
    expect(forgotten).toMatchObject({ by: "here", erasure: { mailbox: keys.mailbox, token: keys.token, bye: { direction: "b2a", sequence: 2 } } });
    expect(effects).toContainEqual({ is: "tell", event: { is: "unpaired", by: "here" } });
    expect(b.link.row.linkKey.every((byte) => byte === 0)).toBe(true);
    b.link.handleOnline(b.nowMs);
    expect(b.link.drain()).toEqual({ changes: [], effects: [] });
  });

  it("is learnt from the close of the watch, with its code and its reason, and from nothing like it", () => {
    const { b } = pair();
    for (const [code, reason] of [[1000, ""], [1000, "going away"], [1001, "erased"], [1006, ""], [1011, ""], [1013, ""], [4409, "replaced"], [4410, "expired"]] as const) {
      b.link.handleWatch({ is: "closed", direction: "a2b", code, reason }, b.nowMs);
      b.run();
      expect(b.isGone).toBe(false);
    }
    b.link.handleWatch({ is: "closed", direction: "a2b", code: 1000, reason: "erased" }, b.nowMs);
    b.run();
    expect([b.isGone, b.events.at(-1)]).toEqual([true, { is: "unpaired", by: "there" }]);
  });

  it("is learnt from a last word", () => {
    const { door, a, b } = pair();
    a.link.unpair(a.nowMs);
    const forgotten = a.link.drain().changes.find((change) => change.is === "forgotten");
    const bye = forgotten?.is === "forgotten" ? forgotten.erasure?.bye : null;
    if (!bye) throw new Error("no last word");
    door.handle(b.link.address, { is: "put", ...bye }, a.nowMs);
    b.fetch();
    expect([b.isGone, b.events.at(-1)]).toEqual([true, { is: "unpaired", by: "there" }]);
  });
});

describe("a watch (5)", () => {
  it("is dropped after 75 s of silence and opened again", () => {
    const { b } = pair();
    expect(b.watching.has("a2b")).toBe(true);
    b.later(SILENCE_MS - 1);
    expect(b.watching.has("a2b")).toBe(true);
    b.link.handleWatch({ is: "frame", direction: "a2b", type: "beat", createdMs: null }, b.nowMs);
    b.later(SILENCE_MS - 1);
    expect(b.watching.has("a2b")).toBe(true);
    b.later(1);
    expect(b.watching.has("a2b")).toBe(false);
    b.later(30_000);
    expect(b.watching.has("a2b")).toBe(true);
  });

  it("is closed out of sight, and stays closed after it was pushed out, until somebody looks", () => {
    const { b } = pair();
    b.link.handleVisible(false, b.nowMs);
    b.run();
    expect(b.watching.size).toBe(0);
    b.link.handleVisible(true, b.nowMs);
    b.run();
    expect(b.watching.size).toBe(1);
    b.watching.clear();
    b.link.handleWatch({ is: "closed", direction: "a2b", code: 4409, reason: "replaced" }, b.nowMs);
    b.later(3_600_000);
    expect(b.watching.size).toBe(0);
    b.fetch();
    expect(b.watching.size).toBe(1);
  });

  it("pauses for half a minute at a limit, and claims again after an expiry", () => {
    const { b, door } = pair();
    b.watching.clear();
    b.link.handleWatch({ is: "closed", direction: "a2b", code: 1013, reason: "" }, b.nowMs);
    b.later(29_000);
    expect(b.watching.size).toBe(0);
    b.later(2_000);
    expect(b.watching.size).toBe(1);
    const claims = door.requests.filter((request) => request === "claim").length;
    b.link.handleWatch({ is: "closed", direction: "a2b", code: 4410, reason: "expired" }, b.nowMs);
    b.run();
    expect(door.requests.filter((request) => request === "claim").length).toBe(claims + 1);
  });
});

describe("answers (6.8)", () => {
  const cases: [string, Answer, string | null][] = [
    ["no answer", { is: "noAnswer" }, "unreachable"],
    ["500", refused(500, "internal"), "unreachable"],
    ["502", refused(502, ""), "unreachable"],
    ["503", { ...refused(503, "unavailable"), retryAfterMs: 60_000 } as Answer, "busy"],
    ["429", refused(429, "rate_limited"), "busy"],
    ["401", refused(401, "unauthorized"), "notUnderstood"],
    ["403 of the origin", refused(403, "origin_denied"), "refusedAddress"],
    ["421", refused(421, "bad_host"), "refusedAddress"],
    ["no sense", { is: "unreadable" }, "unreachable"],
  ];

  it.each(cases)("%s: nothing is hammered, nothing is lost", (_, answer, trouble) => {
    for (const which of ["claim", "page", "head", "put"] as const) {
      const { a, b } = pair();
      b.link = b.load();
      let asked = 0;
      b.network = (request, perform) => {
        if (request.is !== which) return perform();
        asked += 1;
        return answer;
      };
      b.send("kept");
      expect([which, asked, b.link.status().trouble, b.durable.outbox.length]).toEqual([which, 1, trouble, 1]);
      b.network = (_request, perform) => perform();
      if (trouble === "notUnderstood") b.restart();
      b.later(3_600_000);
      settle(a, b);
      expect(a.delivered).toEqual(["kept"]);
    }
  });

  it("that make no sense five times in a row mean that the relay misbehaves", () => {
    const { b } = pair();
    b.network = () => ({ is: "unreadable" });
    b.fetch();
    for (let time = 0; time < 4; time += 1) b.later(400_000);
    expect(b.link.status().trouble).toBe("misbehaves");
  });

  it("are waited for longer and longer, at most five minutes", () => {
    const { b } = pair();
    b.network = () => ({ is: "noAnswer" });
    b.fetch();
    const delays: number[] = [];
    for (let time = 0; time < 14; time += 1) {
      const next = b.link.status().retryAtMs ?? 0;
      delays.push(next - b.nowMs);
      b.later(next - b.nowMs);
    }
    expect(delays[0]).toBeLessThanOrEqual(1_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(300_000);
    expect(delays.at(-1)).toBeGreaterThanOrEqual(150_000);
  });
});
