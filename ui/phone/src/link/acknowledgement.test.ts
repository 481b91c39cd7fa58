// What is acknowledged, sent again and survived (6.6, 7.2).

import { describe, expect, it } from "vitest";
import { envelope, keys, pair, settle, Side } from "../../tests/side";
import { SILENCE_MS } from "./limit";

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

  it("counts although it came before the answer to what it acknowledges", () => {
    const { a, b } = pair();
    b.network = (request, perform) => {
      const answer = perform();
      return request.is === "put" ? { is: "noAnswer" } : answer;
    };
    b.send("x");
    a.fetch();
    a.later(5_000);
    b.network = (_, perform) => perform();
    b.fetch();
    expect([a.delivered, b.durable.outbox]).toEqual([["x"], []]);
  });

  it("above all that was ever tried takes nothing out: this phone was set back to an older copy", () => {
    const { a, b, door } = pair();
    for (let sent = 0; sent < 10; sent += 1) b.send(`m${sent}`);
    settle(a, b);
    const [copy, yesterday] = [structuredClone(b.durable), door.copy()];
    for (let sent = 10; sent < 20; sent += 1) b.send(`m${sent}`);
    settle(a, b);
    // Both the phone and its relay are from yesterday now, in the same incarnation.
    b.durable = copy;
    door.mailboxes = yesterday;
    b.link = b.load();
    b.run();
    b.send("new");
    b.network = () => ({ is: "noAnswer" });
    a.link.handleWatch({ is: "closed", direction: "b2a", code: 1001, reason: "going away" }, a.nowMs);
    a.send("word");
    b.network = (_, perform) => perform();
    b.fetch();
    expect(b.events).not.toContainEqual({ is: "received", id: b.durable.outbox.at(-1)?.id ?? "gone" });
    settle(a, b);
    settle(a, b);
    expect([a.delivered.filter((text) => text === "new"), b.durable.outbox]).toEqual([["new"], []]);
  });

  it("of its own that the relay lost is owed again", () => {
    const { a, b, door } = pair();
    a.send("x");
    b.fetch();
    const yesterday = door.copy();
    b.later(5_000);
    door.mailboxes = yesterday;
    b.link.handleWatch({ is: "closed", direction: "a2b", code: 1001, reason: "going away" }, b.nowMs);
    b.run();
    b.later(5_000);
    const asked = door.requests.length;
    b.later(SILENCE_MS);
    expect(door.requests.slice(asked)).not.toContain("head");
    a.fetch();
    expect(a.durable.outbox).toEqual([]);
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
        b.link.handleWatch({ is: "frame", direction: "a2b", type: "stored", count: null, createdMs: null }, b.nowMs);
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
