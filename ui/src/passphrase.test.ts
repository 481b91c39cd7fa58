import { describe, expect, test } from "vitest";
import { strengthOf } from "./passphrase";

describe("the strength of a passphrase", () => {
  test.each([
    ["", "short"],
    ["seven77", "short"],
    ["aaaaaaaaaaaaaaaaaaaaaaaa", "weak"],
    ["12345678901234567890", "weak"],
    ["password", "weak"],
    ["correct horse", "weak"],
    ["lantern piano", "fair"],
    ["lantern piano brass cliff", "good"],
    ["🙂".repeat(30), "weak"],
  ])("%s is %s", (passphrase, strength) => {
    expect(strengthOf(passphrase)).toBe(strength);
  });
});
