import { describe, expect, it } from "vitest";
import type { MessageView } from "../bindings/MessageView";
import { indexAt, offsetsOf, spanBetween } from "./offsets";
import { startOfDay } from "../text";
import { buildRows, firstNewAfter } from "./rows";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function message(position: number, storedAtMs: number, authorId = "anna"): MessageView {
  return { position, id: `m${position}`, own: authorId === "me", authorId, authorName: authorId, via: null, text: "x", sentAtMs: storedAtMs, storedAtMs, delivery: null };
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

describe("rows", () => {
  it("open each day once, in the order of arrival, even if the clock went back", () => {
    const rows = buildRows([message(1, DAY_MS), message(2, 2 * DAY_MS), message(3, DAY_MS + 1), message(4, 2 * DAY_MS + 5)], null, dayOf);
    expect(rows.map((row) => row.message.position)).toEqual([1, 2, 3, 4]);
    expect(rows.map((row) => row.dayMs !== null)).toEqual([true, true, false, false]);
  });

  it("name the author again after another one, after a while, and where something new begins", () => {
    const rows = buildRows([message(1, 0), message(2, 1), message(3, 2, "me"), message(4, 3), message(5, HOUR_MS), message(6, HOUR_MS + 1)], 6, dayOf);
    expect(rows.map((row) => row.isFirstOfRun)).toEqual([true, false, true, true, true, true]);
    expect(rows.map((row) => row.isFirstNew)).toEqual([false, false, false, false, false, true]);
  });

  it("name the author again where the same one writes on a phone, and where it does no more", () => {
    const via = (position: number, phone: string | null): MessageView => ({ ...message(position, position), via: phone });
    const rows = buildRows([via(1, null), via(2, "Moto"), via(3, "Moto"), via(4, "Nokia"), via(5, null)], null, dayOf);
    expect(rows.map((row) => row.isFirstOfRun)).toEqual([true, true, false, true, true]);
  });

  it("are new from the first message of somebody else after what was read", () => {
    const messages = [message(1, 0), message(2, 0), message(3, 0, "me"), message(4, 0), message(5, 0, "me")];
    expect([0, 1, 2, 3, 4, 5, 9].map((read) => firstNewAfter(messages, read)?.position)).toEqual([1, 2, 4, 4, undefined, undefined, undefined]);
  });

  it("keep their order and open each day once, wherever the computer travels and whatever its clock does", () => {
    const home = process.env["TZ"];
    const begun = Date.UTC(2026, 2, 28, 20);
    const messages = Array.from({ length: 72 }, (_, index) => message(index + 1, begun + index * HOUR_MS - (index % 7 === 0 ? 30 * HOUR_MS : 0)));
    try {
      for (const zone of ["Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "Australia/Lord_Howe", "UTC"]) {
        process.env["TZ"] = zone;
        const rows = buildRows(messages, null, startOfDay);
        const days = rows.flatMap(({ dayMs }) => (dayMs === null ? [] : [startOfDay(dayMs)]));
        expect(rows.map((row) => row.message.position)).toEqual(messages.map(({ position }) => position));
        expect(days).toEqual([...new Set(days)].sort((one, other) => one - other));
        expect(days.length).toBeGreaterThanOrEqual(3);
      }
    } finally {
      process.env["TZ"] = home;
    }
  });
});

describe("offsets", () => {
  const offsets = offsetsOf(4, (index) => [10, 0, 30, 20][index] ?? 0);

  it("add the heights up", () => {
    expect([...offsets]).toEqual([0, 10, 10, 40, 60]);
  });

  it("find the row at a place, and never one outside the list", () => {
    expect([-5, 0, 9, 10, 39, 40, 59, 60, 999].map((top) => indexAt(offsets, top))).toEqual([0, 0, 0, 2, 2, 3, 3, 3, 3]);
    expect(indexAt(offsetsOf(0, () => 0), 5)).toBe(0);
  });

  it("draw what touches the visible part", () => {
    expect(spanBetween(offsets, 12, 45)).toEqual({ from: 2, to: 4 });
    expect(spanBetween(offsets, -100, 5)).toEqual({ from: 0, to: 1 });
    expect(spanBetween(offsetsOf(0, () => 0), 0, 100)).toEqual({ from: 0, to: 0 });
  });

  it("find the same row as a plain search, for any heights", () => {
    let seed = 1;
    const random = (max: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % max;
    };
    for (let round = 0; round < 200; round += 1) {
      const heights = Array.from({ length: 1 + random(40) }, () => 1 + random(90));
      const tops = offsetsOf(heights.length, (index) => heights[index] ?? 0);
      const top = random(4000);
      const plain = heights.findIndex((_, index) => (tops[index + 1] ?? 0) > top);
      expect(indexAt(tops, top)).toBe(plain === -1 ? heights.length - 1 : plain);
    }
  });
});
