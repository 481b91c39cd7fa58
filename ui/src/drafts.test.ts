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

  it("hold what is being sent until the app has taken it, and take back what is refused", async () => {
    const drafts = makeDrafts();
    const answers: ((refused: Error | null) => void)[] = [];
    const send = (text: string): Promise<string> => {
      const taken = new Promise<void>((resolve, reject) => answers.push((refused) => (refused === null ? resolve() : reject(refused))));
      return drafts.send("a", text, () => taken).then(() => "sent", () => "refused");
    };
    drafts.keep("a", "first");
    const first = send("first");
    const second = send("second");
    drafts.keep("a", "third");
    expect(drafts.text("a", "")).toBe("third");
    drafts.flush();
    expect(saved.at(-1)).toEqual({ group: "a", text: "first\nsecond\nthird" });
    answers[1]?.(null);
    expect(await second).toBe("sent");
    drafts.flush();
    expect(saved.at(-1)).toEqual({ group: "a", text: "first\nthird" });
    answers[0]?.(new Error("no room"));
    expect(await first).toBe("refused");
    expect(drafts.text("a", "")).toBe("first\nthird");
    drafts.flush();
    expect(saved.at(-1)).toEqual({ group: "a", text: "first\nthird" });
    const third = send("first\nthird");
    answers[2]?.(null);
    await third;
    drafts.flush();
    expect(saved.at(-1)).toEqual({ group: "a", text: "" });
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
