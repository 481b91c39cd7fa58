import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { stepResult, stepTrouble, testSummary } from "./relay_test";
import { testStates } from "./samples/relay_test";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../engine/src/${path}`, import.meta.url)), "utf8");

/** The stable names that an enum of the engine has for its failures. */
function codesOf(path: string, name: string): string[] {
  const body = read(path).split(`impl ${name} {`)[1]?.split("\n}")[0] ?? "";
  return [...body.matchAll(/=> "(\w+)"/g)].map((hit) => hit[1] ?? "");
}

describe("the test of a relay", () => {
  it("has words of its own for each failure of the engine", () => {
    const codes = [...codesOf("core/status.rs", "ConnectFailure"), ...codesOf("relay_test.rs", "RelayStepFailure")]
      // The two that can't come up in a test, which has a relay and no handler.
      .filter((code) => code !== "noRelay" && code !== "noHandler");
    expect(codes.length).toBeGreaterThanOrEqual(14);
    const texts = codes.map((code) => stepTrouble({ name: "push", state: "failed", ms: 1, code }));
    expect(new Set(texts.map((text) => text?.why)).size).toBe(codes.length);
    for (const text of texts) expect((text?.action ?? "").length).toBeGreaterThan(8);
  });

  it("says where it stopped, skips the rest, and has words for a code of the future", () => {
    const last = testStates(1, "key", "ofTheFuture").at(-1);
    expect(last?.done).toBe(true);
    expect(last?.steps.map(({ state }) => state)).toEqual(["ok", "ok", "ok", "failed", "skipped", "skipped"]);
    expect(last && testSummary(last)).toContain("Check its key");
    expect(last?.steps[3] && stepTrouble(last.steps[3])?.why).toBe("This step did not succeed");
  });

  it("tells how long a step took, where it took any time", () => {
    const plain = (text: string): string => text.replace(/[\u2066-\u2069]/g, "");
    const step = { name: "push", state: "ok", ms: 48, code: null } as const;
    expect(plain(stepResult(step))).toBe("fine, 48 ms");
    expect(plain(stepResult({ ...step, state: "skipped", ms: null }))).toBe("not tested");
  });
});
