import { describe, expect, it } from "vitest";
import { cleanName } from "./names";

describe("a name", () => {
  it.each([
    ["abc\u202egpj.exe", "abcgpj.exe"],
    ["\u2066Anna\u2069", "Anna"],
    ["a\u200bb\ufeffc", "abc"],
    ["tag\u{e0041}\u{e0042}", "tag"],
    ["two\nlines\tand\u0000more", "twolinesandmore"],
    ["  wide   space ", "wide space"],
    ["\u3164\u2800", ""],
    ["小伟", "小伟"],
    ["أميرة", "أميرة"],
    ["Zoë 👍", "Zoë 👍"],
  ])("loses what could turn or hide its surroundings: %j", (raw, clean) => {
    expect(cleanName(raw)).toBe(clean);
  });

  it("keeps a bounded height and length", () => {
    expect(cleanName(`a${"\u0301".repeat(300)}`)).toBe(`a${"\u0301".repeat(4)}`);
    expect([...cleanName("x".repeat(10_000))]).toHaveLength(64);
  });
});
