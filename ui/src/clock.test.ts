import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clock } from "./clock.svelte";

const MINUTE_MS = 60_000;

describe("the time of the window", () => {
  let stop: () => void;
  let page: EventTarget & { hidden: boolean };

  function show(visible: boolean): void {
    page.hidden = !visible;
    page.dispatchEvent(new Event("visibilitychange"));
  }

  beforeEach(() => {
    vi.useFakeTimers();
    page = Object.assign(new EventTarget(), { hidden: false });
    vi.stubGlobal("document", page);
    stop = clock.start();
  });

  afterEach(() => {
    stop();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("moves once a second while it can be seen", () => {
    const begun = clock.nowMs;
    vi.advanceTimersByTime(3_000);
    expect(clock.nowMs).toBe(begun + 3_000);
    stop();
    vi.advanceTimersByTime(3_000);
    expect(clock.nowMs).toBe(begun + 3_000);
  });

  it("does nothing in a hidden window, and is right when it is shown again", () => {
    const begun = clock.nowMs;
    show(false);
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(MINUTE_MS);
    expect(clock.nowMs).toBe(begun);
    show(true);
    expect(clock.nowMs).toBe(begun + MINUTE_MS);
    show(true);
    expect(vi.getTimerCount()).toBe(1);
    stop();
    show(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("asks for the zone when the offset moves, and else once a minute", () => {
    vi.advanceTimersByTime(MINUTE_MS);
    const asked = vi.spyOn(Intl, "DateTimeFormat");
    vi.advanceTimersByTime(MINUTE_MS - 1_000);
    expect(asked).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    expect(asked).toHaveBeenCalledTimes(1);
    const offset = vi.spyOn(Date.prototype, "getTimezoneOffset").mockReturnValue(-840);
    vi.advanceTimersByTime(1_000);
    expect(asked).toHaveBeenCalledTimes(2);
    expect(clock.zone).toContain("-840");
    offset.mockRestore();
    asked.mockRestore();
    vi.advanceTimersByTime(1_000);
  });
});
