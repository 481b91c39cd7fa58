import { describe, expect, it } from "vitest";
import { UNCONFIRMED_MS } from "./link/limit";
import type { LinkStatus, LinkTrouble } from "./link/step";
import { EMPTY_VIEW } from "./shell/view";
import { type Line, linkLine } from "./words";

const well: LinkStatus = { isConnected: true, trouble: null, blockedSinceMs: null, retryAtMs: null, unconfirmedSinceMs: null, lost: false, newerPeer: false, lastContactMs: 0, skipped: 0 };
const troubles: LinkTrouble[] = ["busy", "misbehaves", "notUnderstood", "refusedAddress", "unreachable", "wrongToken"];
const line = (status: Partial<LinkStatus>, nowMs = 1, clockAheadMs = 0): Line | null => linkLine({ ...EMPTY_VIEW, status: { ...well, ...status }, clockAheadMs }, "Study", "192.0.2.1", true, nowMs);

describe("the line about the link", () => {
  it("is none when all is well, and another one for each that isn't", () => {
    expect(line({})).toBeNull();
    const offline = linkLine({ ...EMPTY_VIEW, status: { ...well, isConnected: false } }, "Study", "192.0.2.1", false, 1);
    const all = [
      offline,
      ...troubles.map((trouble) => line({ trouble })),
      line({ lost: true }),
      line({ isConnected: false }),
      line({ unconfirmedSinceMs: 1 }),
      line({ unconfirmedSinceMs: 1 }, 1 + UNCONFIRMED_MS),
      line({ blockedSinceMs: 1 }),
      line({ newerPeer: true }),
      line({}, 1, 366 * 86_400_000),
      line({}, 1, -366 * 86_400_000),
    ].map((one) => one?.text);
    expect(all).not.toContain(undefined);
    expect(new Set(all).size).toBe(all.length);
  });

  it("offers to unpair where nothing else helps: another's mailbox, a lost link, a week without a sign", () => {
    const offers = [line({ trouble: "wrongToken" }), line({ lost: true }), line({ unconfirmedSinceMs: 1 }, UNCONFIRMED_MS), line({ unconfirmedSinceMs: 1 }, 1 + UNCONFIRMED_MS), line({ blockedSinceMs: 1 })];
    expect(offers.map((one) => one?.action)).toEqual(["unpair", "unpair", null, "unpair", "retry"]);
  });
});
