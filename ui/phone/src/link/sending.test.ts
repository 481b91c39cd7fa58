// The sending half of a link, row by row of 6.3.

import { describe, expect, it } from "vitest";
import { blank, ok, refused } from "../../tests/door";
import { keys, pair, seeded, settle, Side } from "../../tests/side";
import type { Answer, LinkRequest } from "./answer";
import { ATTEMPTS_PAUSE_MS, BLOCKED_MS, DAY_MS } from "./limit";

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
    b.link.handleWatch({ is: "frame", direction: "b2a", type: "pruned", count: null, createdMs: null }, b.nowMs);
    b.run();
    expect([b.link.status().blockedSinceMs, b.slots().length, [...b.watching]]).toEqual([null, 2, ["a2b"]]);
    settle(a, b);
    expect(a.delivered).toEqual(Array.from({ length: 66 }, (_, index) => `m${index}`));
  });

  it("is unblocked where there is room already when the watch opens", () => {
    const { b, door } = pair();
    for (let sent = 0; sent < 65; sent += 1) b.send(`m${sent}`);
    door.slots(keys.mailbox, "b2a").clear();
    for (const [count, stored] of [[64, 0], [0, 1]] as const) {
      b.link.handleWatch({ is: "frame", direction: "b2a", type: "state", count, createdMs: null }, b.nowMs);
      b.run();
      expect(b.slots().length).toBe(stored);
    }
  });

  it("doesn't believe twice in room that there isn't", () => {
    const { b } = pair();
    let puts = 0;
    b.network = (request, perform) => {
      if (request.is !== "put") return perform();
      puts += 1;
      return refused(507, "direction_full");
    };
    b.send("x");
    for (let time = 0; time < 9; time += 1) {
      b.link.handleWatch({ is: "frame", direction: "b2a", type: "state", count: 0, createdMs: null }, b.nowMs);
      b.run();
    }
    expect(puts).toBe(2);
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
