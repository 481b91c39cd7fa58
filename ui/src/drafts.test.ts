import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeApi } from "./api";
import { DRAFT_BYTES_MAX, Drafts } from "./drafts";

const saved: object[] = [];

function makeDrafts(): Drafts {
  saved.length = 0;
  return new Drafts(
    makeApi({
      call: (_command, args) => {
        saved.push(args);
        return Promise.resolve();
      },
      listen: () => Promise.resolve(),
    }),
  );
}

describe("drafts", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are what was typed, or else what the app has kept", () => {
    const drafts = makeDrafts();
    drafts.keep("a", "half a thought");
    expect([drafts.text("a", "old"), drafts.text("b", "old"), drafts.text("c", "")]).toEqual(["half a thought", "old", ""]);
    drafts.keep("b", "");
    expect(drafts.text("b", "old")).toBe("");
  });

  it("are saved once the keys rest, each group for itself, the emptied ones too", () => {
    const drafts = makeDrafts();
    for (const text of ["h", "ha", "hal", "half"]) drafts.keep("a", text);
    drafts.keep("b", "");
    expect(saved).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(saved).toEqual([{ group: "a", text: "half" }, { group: "b", text: "" }]);
    vi.advanceTimersByTime(60_000);
    expect(saved).toHaveLength(2);
  });

  it("are saved at once when the window goes", () => {
    const drafts = makeDrafts();
    drafts.keep("a", "half");
    drafts.flush();
    expect(saved).toEqual([{ group: "a", text: "half" }]);
    vi.advanceTimersByTime(60_000);
    expect(saved).toHaveLength(1);
  });

  it("beyond a bound stay in the window, whole", () => {
    const drafts = makeDrafts();
    const long = "x".repeat(DRAFT_BYTES_MAX + 1);
    drafts.keep("a", long);
    drafts.flush();
    expect(saved).toEqual([]);
    expect(drafts.text("a", "")).toBe(long);
    drafts.keep("a", "ä".repeat(DRAFT_BYTES_MAX / 2));
    drafts.flush();
    expect(saved).toHaveLength(1);
  });
});
