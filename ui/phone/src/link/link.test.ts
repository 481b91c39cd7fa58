// Claiming, the watch, what answers mean, and the end of a link (5, 6.2, 6.7, 6.8).

import { describe, expect, it } from "vitest";
import { blank, ok, refused } from "../../tests/door";
import { keys, pair, settle } from "../../tests/side";
import type { Answer } from "./answer";
import { DAY_MS, RECLAIM_MS, SILENCE_MS } from "./limit";

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
    b.link.handleWatch({ is: "frame", direction: "a2b", type: "beat", count: null, createdMs: null }, b.nowMs);
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
    ["408", refused(408, ""), "unreachable"],
    // What no relay answered costs no message and no link.
    ...[400, 401, 403, 404, 405, 418].map((status): [string, Answer, string] => [`${status} without a code`, refused(status, ""), "refusedAddress"]),
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

  it("that can't be are asked for every five minutes", () => {
    const { b, door } = pair();
    b.network = (request, perform) => (request.is === "page" ? ok(200, { ...blank(), last: 5 }) : perform());
    b.fetch();
    const before = door.requests.length;
    let pages = 0;
    b.network = (request, perform) => {
      if (request.is === "page") pages += 1;
      return request.is === "page" ? ok(200, { ...blank(), last: 5 }) : perform();
    };
    for (let minute = 0; minute < 60; minute += 1) b.later(60_000);
    expect([pages, door.requests.length - before, b.link.status().trouble]).toEqual([12, 0, "misbehaves"]);
  });

  it("of a relay that claims and then knows nothing are waited for longer and longer", () => {
    const { b } = pair();
    let claims = 0;
    b.network = (request, perform) => {
      if (request.is === "claim") claims += 1;
      return request.is === "page" ? refused(404, "no_mailbox") : perform();
    };
    b.fetch();
    for (let second = 0; second < 3_600; second += 1) b.later(1_000);
    expect(claims).toBeLessThan(30);
    b.network = (_, perform) => perform();
    b.later(300_000);
    expect([b.link.status().trouble, b.link.status().isConnected]).toEqual([null, true]);
  });

  it.each([["429", refused(429, "rate_limited")], ["421", refused(421, "bad_host")]] as const)("of %s and then none are asked for at once when somebody wants it", (_, first) => {
    for (const answers of [[first], [first, { is: "noAnswer" }, { is: "noAnswer" }, { is: "noAnswer" }]] as Answer[][]) {
      const { b } = pair();
      b.network = () => answers.shift() ?? { is: "noAnswer" };
      b.fetch();
      while (answers.length > 0) b.later((b.link.status().retryAtMs ?? 0) - b.nowMs);
      b.network = (_request, perform) => perform();
      b.send("kept");
      expect(b.slots()).toEqual([]);
      b.fetch();
      expect(b.slots()).toEqual([1]);
    }
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
