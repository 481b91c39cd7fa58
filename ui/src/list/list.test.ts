import { describe, expect, it } from "vitest";
import type { MessageView } from "../bindings/MessageView";
import { indexAt, offsetsOf, spanBetween } from "./offsets";
import { buildRows, firstUnread } from "./rows";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

function message(position: number, storedAtMs: number, authorId = "anna"): MessageView {
  return { position, id: `m${position}`, own: authorId === "me", authorId, authorName: authorId, text: "x", sentAtMs: storedAtMs, storedAtMs, delivery: null };
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

  it("count only messages of others as unread", () => {
    const messages = [message(1, 0), message(2, 0), message(3, 0, "me"), message(4, 0), message(5, 0, "me")];
    expect(firstUnread(messages, 0)).toEqual({ position: null, isAll: true });
    expect(firstUnread(messages, 1)).toEqual({ position: 4, isAll: true });
    expect(firstUnread(messages, 2)).toEqual({ position: 2, isAll: true });
    expect(firstUnread(messages, 9)).toEqual({ position: 1, isAll: false });
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
