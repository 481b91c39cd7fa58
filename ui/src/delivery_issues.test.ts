import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { issueKey, issueText, missingText } from "./delivery_issues";

const engine = readFileSync(fileURLToPath(new URL("../../engine/src/core/issue.rs", import.meta.url)), "utf8");
const codes = [...(/CODES[^=]*= \[([^\]]*)\]/.exec(engine)?.[1] ?? "").matchAll(/"([\w.]+)"/g)].map((hit) => hit[1] ?? "");

describe("delivery issues", () => {
  it("have words of their own for each code of the engine", () => {
    expect(codes.length).toBeGreaterThanOrEqual(14);
    const keys = codes.map(issueKey);
    expect(keys).not.toContain("issues-unknown");
    expect(new Set(keys).size).toBe(codes.length);
    expect(issueKey("sendFailed.tooLarge")).toBe("issue-send-failed-too-large");
  });

  it("say three things, also about one that this version doesn't know", () => {
    for (const code of [...codes, "ofTheFuture"]) {
      const text = issueText({ code, args: { max: 3 } });
      for (const part of [text.what, text.why, text.action]) expect(part.length).toBeGreaterThan(8);
    }
  });

  it("name the span from which messages may be missing, if there is one", () => {
    const from = new Date(2026, 1, 3, 12).getTime();
    const until = new Date(2026, 2, 4, 12).getTime();
    const text = missingText({ args: { missingFrom: from, missingUntil: until } });
    expect(text).toMatch(/3.*4/);
    expect(missingText({ args: {} })).toBeNull();
  });
});
