import { describe, expect, it } from "vitest";
import { excerptPieces } from "./excerpt";

describe("the pieces of an excerpt", () => {
  it("mark what was found and keep the rest", () => {
    expect(excerptPieces("the bread today", [{ start: 4, end: 9 }])).toEqual([
      { text: "the ", isMatch: false },
      { text: "bread", isMatch: true },
      { text: " today", isMatch: false },
    ]);
  });

  it("lose and double nothing, whatever the ranges are", () => {
    let seed = 3;
    const random = (max: number): number => (seed = (seed * 48_271) % 2_147_483_647) % max;
    for (let round = 0; round < 300; round += 1) {
      const text = "悬空 bread 👍 é".slice(0, random(16));
      const matches = Array.from({ length: random(4) }, () => ({ start: random(20), end: random(20) }));
      expect(excerptPieces(text, matches).map((piece) => piece.text).join("")).toBe(text);
    }
  });
});
