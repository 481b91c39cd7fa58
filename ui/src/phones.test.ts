import { describe, expect, it } from "vitest";
import type { GroupStatus } from "./bindings/GroupStatus";
import type { PhonePairingClosed } from "./bindings/PhonePairingClosed";
import type { PhoneState } from "./bindings/PhoneState";
import type { PhoneTrouble } from "./bindings/PhoneTrouble";
import type { PhoneView } from "./bindings/PhoneView";
import { closedAbout, closedSentence, contactSentence, isBeforePhones, phoneName, phoneTroubles, wantsPairing } from "./phones";

const linked: PhoneView = { id: "a", name: "Moto", state: "linked", sinceMs: null, lastContactMs: 0, waiting: 0, trouble: null, addressGone: null, sharing: { groups: [], later: true } };
const states: PhoneState[] = ["linked", "unconfirmed", "lost", "unpairedThere", "broken"];
const troubles: PhoneTrouble[] = ["full", "misbehaves", "newer", "refused", "storage"];
const ends: PhonePairingClosed[] = ["paired", "expired", "cancelled", "declined", "twoDevices", "mismatch", "failed", "phoneGaveUp", "doorClosed", "addressChanged"];

describe("a phone", () => {
  it("has a sentence for each state and trouble, and none when all is well", () => {
    expect(phoneTroubles(linked, true)).toEqual([]);
    const said = [...states.slice(1).flatMap((state) => phoneTroubles({ ...linked, state, sinceMs: 1 }, true)), ...troubles.flatMap((trouble) => phoneTroubles({ ...linked, trouble }, true))];
    expect(new Set(said).size).toBe(states.length - 1 + troubles.length);
  });

  it("that never came over isn't said to have lost anything", () => {
    const [cut, lost] = [null, 1].map((lastContactMs) => phoneTroubles({ ...linked, state: "unconfirmed", sinceMs: 1, lastContactMs }, true));
    expect([cut?.length, lost?.length]).toEqual([1, 1]);
    expect(cut).not.toEqual(lost);
  });

  it("is told of a group once there is something to see in it", () => {
    const statuses: GroupStatus[] = ["new", "notJoined", "pendingJoin", "member", "leaving", "destroying"];
    const before = (lastPosition: number) => statuses.filter((status) => isBeforePhones({ status, lastPosition }));
    expect([before(0), before(1)]).toEqual([["new", "notJoined", "pendingJoin"], []]);
  });

  it("is to be paired again where nothing else helps", () => {
    expect(states.map((state) => wantsPairing({ ...linked, state }, true))).toEqual([false, true, true, true, true]);
  });

  it("is said to be at an address that is gone only while phones can come in at another", () => {
    const moved = { ...linked, addressGone: "192.168.1.9:24817" };
    expect(phoneTroubles(moved, true).join("")).toContain("192.168.1.9:24817");
    expect([phoneTroubles(moved, false).length, wantsPairing(moved, false)]).toEqual([0, false]);
  });

  it("has a name whatever it calls itself, and a last contact or none", () => {
    expect([phoneName({ name: "" }), phoneName({ name: "\u202e" })]).toEqual(["A phone", "A phone"]);
    expect(contactSentence({ ...linked, lastContactMs: null }, 0)).not.toBe(contactSentence(linked, 60_000));
  });
});

describe("the end of a pairing", () => {
  it("has two sentences of its own each", () => {
    expect(new Set(ends.map(closedSentence)).size).toBe(ends.length);
    expect(new Set(ends.map(closedAbout)).size).toBe(ends.length);
  });
});
