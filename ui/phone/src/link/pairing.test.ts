// The joining side of a pairing, against a desktop that is played by hand.

import { describe, expect, it } from "vitest";
import { Door, refused } from "../../tests/door";
import { LINK_ID, LINK_KEY, seeded } from "../../tests/side";
import type { Answer } from "./answer";
import { fromBase64url, toBase64url, utf8 } from "./bytes";
import { seal } from "./envelope";
import { deriveKeys } from "./key";
import { open } from "./envelope";
import { decodePayload, encodePayload, type Kind, newPayloadId, readObject } from "./payload";
import { LinkPairing, type PairingRecord, type PairingStep } from "./pairing";
import { commitment, confirmation, newExchange, rotate, type Rotation } from "./rotation";

const keys = deriveKeys(LINK_KEY, LINK_ID);
const address = { mailbox: keys.mailbox, token: keys.token };

class Desktop {
  readonly door = new Door();
  readonly exchange = newExchange(seeded(3));
  said = 0;
  read = 0;
  rotation: Rotation | null = null;
  helloId = "";
  committed = "";

  constructor(isClaimed = true) {
    if (isClaimed) this.door.make(address, 1);
    this.door.claims = "local";
  }

  say(kind: Kind, body: object): void {
    this.said += 1;
    const payload = encodePayload({ kind, id: newPayloadId(seeded(100 + this.said)), ack: null, tsMs: 0, collapse: null, body: utf8(JSON.stringify(body)) });
    this.door.handle(address, { is: "put", direction: "a2b", sequence: this.said, bytes: seal(keys, "a2b", this.said, payload ?? new Uint8Array(), seeded(200 + this.said)) ?? new Uint8Array() }, 2);
  }

  /** The next message of the phone. */
  hear(): { kind: string; id: string; fields: Record<string, unknown> } | null {
    const [slot, bytes] = [...this.door.slots(keys.mailbox, "b2a")].find(([number]) => number > this.read) ?? [];
    if (slot === undefined || bytes === undefined) return null;
    this.read = slot;
    const opened = open(keys, "b2a", slot, null, bytes);
    const payload = opened.is === "ok" ? decodePayload(opened.payload) : null;
    return payload === null ? null : { kind: payload.kind, id: payload.id, fields: readObject(payload.body) ?? {} };
  }

  challenge(to: string): void {
    this.helloId = to;
    this.say("challenge", { to, pub_a: toBase64url(this.exchange.public) });
  }

  reveal(publicB: Uint8Array): Rotation {
    const rotation = rotate({ linkKey: LINK_KEY, linkId: LINK_ID }, this.exchange.secret, { a: this.exchange.public, b: publicB }, publicB);
    if (rotation === null) throw new Error("no rotation");
    this.rotation = rotation;
    return rotation;
  }

  welcome(name = "Desk"): void {
    if (this.rotation === null) throw new Error("no rotation yet");
    this.say("welcome", { name, confirm: toBase64url(confirmation(this.rotation, name)) });
  }
}

class Phone {
  pairing: LinkPairing;
  stored: PairingRecord | null = null;
  last: PairingStep | null = null;
  nowMs = 10_000;

  constructor(
    readonly desktop: Desktop,
    seed = 4,
    private readonly answer: Answer | null = null,
  ) {
    this.pairing = LinkPairing.begin({ linkKey: LINK_KEY, linkId: LINK_ID, expiresS: null, desktop: "Desk" }, { name: "Phone", platform: "Android" }, seeded(seed), this.nowMs);
    this.run();
  }

  run(): PairingStep {
    this.pairing.handleOnline(this.nowMs);
    for (;;) {
      const step = this.pairing.drain(this.nowMs);
      this.last = step;
      if (step.is !== "going") return step;
      this.stored = structuredClone(step.record);
      if (step.effects.length === 0) return step;
      for (const effect of step.effects) {
        if (effect.is === "request") this.pairing.handleAnswer(effect.id, this.answer ?? this.desktop.door.handle(address, effect.request, this.nowMs), this.nowMs);
      }
    }
  }

  reload(): void {
    if (this.stored === null) throw new Error("nothing was stored");
    this.pairing = new LinkPairing(this.stored, seeded(5));
    this.run();
  }
}

/** Up to the digits on both screens. */
function toDigits(reloading = false): { desktop: Desktop; phone: Phone } {
  const desktop = new Desktop();
  const phone = new Phone(desktop);
  const reload = (): void => {
    if (reloading) phone.reload();
  };
  const hello = desktop.hear();
  expect(hello?.kind).toBe("hello");
  reload();
  desktop.challenge(hello?.id ?? "");
  phone.run();
  reload();
  const reveal = desktop.hear();
  expect(reveal?.kind).toBe("reveal");
  const publicB = fromBase64url(String(reveal?.fields["pub_b"])) ?? new Uint8Array();
  expect(hello?.fields["commit_b"]).toBe(toBase64url(commitment(publicB)));
  desktop.reveal(publicB);
  return { desktop, phone };
}

describe("pairing", () => {
  it.each([false, true])("goes from the code to a link with new keys (reloaded at each step: %s)", (reloading) => {
    const { desktop, phone } = toDigits(reloading);
    expect([phone.pairing.phase, phone.pairing.digits]).toEqual(["compare", desktop.rotation?.digits]);
    phone.pairing.answerDigits(true);
    phone.run();
    expect(phone.pairing.phase).toBe("confirming");
    if (reloading) phone.reload();
    desktop.welcome();
    const step = phone.run();
    expect(step).toMatchObject({ is: "paired", row: { linkKey: desktop.rotation?.linkKey, linkId: desktop.rotation?.linkId, peerName: "Desk", role: "b" }, first: { kind: "state" } });
  });

  it("waits for the tap, even when the desktop was quicker", () => {
    const { desktop, phone } = toDigits();
    desktop.welcome();
    expect([phone.run().is, phone.pairing.phase]).toEqual(["going", "compare"]);
    phone.reload();
    phone.pairing.answerDigits(true);
    expect(phone.run().is).toBe("paired");
  });

  it("ends where the digits differ, and erases", () => {
    const { phone } = toDigits();
    phone.pairing.answerDigits(false);
    expect(phone.run()).toMatchObject({ is: "failed", why: "different", erasure: { mailbox: keys.mailbox } });
  });

  it("accepts one challenge: the same again is nothing, another one ends it", () => {
    const { desktop, phone } = toDigits();
    const { digits } = phone.pairing;
    desktop.challenge(desktop.helloId);
    expect([phone.run().is, phone.pairing.digits]).toEqual(["going", digits]);
    desktop.say("challenge", { to: desktop.helloId, pub_a: toBase64url(newExchange(seeded(8)).public) });
    expect(phone.run()).toMatchObject({ is: "failed", why: "forged" });
  });

  it("ends where the challenge is for another device, or makes a key that everybody knows", () => {
    for (const [to, publicA, why] of [["p6enp6enp6enp6enp6enpw", newExchange(seeded(8)).public, "otherDevice"], [null, new Uint8Array(32), "forged"]] as const) {
      const desktop = new Desktop();
      const phone = new Phone(desktop);
      desktop.say("challenge", { to: to ?? desktop.hear()?.id, pub_a: toBase64url(publicA) });
      const ended = phone.run();
      expect(ended).toMatchObject({ is: "failed", why });
      // A has to read the second greeting, or it could not say what happened.
      expect([why, ended.is === "failed" && ended.erasure !== null]).toEqual([why, why === "forged"]);
    }
  });

  it("is heard by the desktop although another phone was answered, which erases nothing", () => {
    const desktop = new Desktop();
    new Phone(desktop, 4);
    const first = desktop.hear();
    desktop.challenge(first?.id ?? "");
    const second = new Phone(desktop, 9);
    expect(second.last).toMatchObject({ is: "failed", why: "otherDevice", erasure: null });
    const hello = desktop.hear();
    expect([hello?.kind, hello?.id === first?.id]).toEqual(["hello", false]);
  });

  it("that is cancelled here erases, and is not told as the desktop's doing", () => {
    const { phone } = toDigits();
    phone.pairing.cancel();
    expect(phone.run()).toMatchObject({ is: "failed", why: "cancelled", erasure: { mailbox: keys.mailbox } });
  });

  it("that a foreign host answers goes on", () => {
    const phone = new Phone(new Desktop(), 4, refused(403, ""));
    expect([phone.last?.is, phone.pairing.status().trouble]).toEqual(["going", "refusedAddress"]);
  });

  it("ends where a welcome proves nothing", () => {
    for (const forge of [(desktop: Desktop): void => desktop.say("welcome", { name: "Desk", confirm: toBase64url(new Uint8Array(32)) }), (desktop: Desktop): void => desktop.say("welcome", { name: "Other", confirm: toBase64url(confirmation(desktop.rotation as Rotation, "Desk")) })]) {
      const { desktop, phone } = toDigits();
      phone.pairing.answerDigits(true);
      forge(desktop);
      expect(phone.run()).toMatchObject({ is: "failed", why: "forged" });
    }
  });

  it("says of an old code that it is one, and makes no mailbox of it", () => {
    const closed = new Phone(new Desktop(false));
    expect(closed.last).toMatchObject({ is: "failed", why: "expired", erasure: null });
    const open = new Desktop(false);
    open.door.claims = "open";
    expect(new Phone(open).last).toMatchObject({ is: "failed", why: "expired", erasure: { mailbox: keys.mailbox } });
  });

  it("ends with the desktop's, and after ten minutes by itself", () => {
    const { phone } = toDigits();
    phone.pairing.handleWatch({ is: "closed", direction: "a2b", code: 1000, reason: "erased" }, phone.nowMs);
    expect(phone.run()).toMatchObject({ is: "failed", why: "ended", erasure: null });
    const slow = toDigits().phone;
    slow.nowMs += 600_000;
    slow.pairing.handleTimer(slow.nowMs);
    expect(slow.run()).toMatchObject({ is: "failed", why: "expired" });
  });

  it("with a token that isn't the mailbox's is an error of its own", () => {
    const desktop = new Desktop(false);
    desktop.door.make({ mailbox: keys.mailbox, token: "other" }, 1);
    expect(new Phone(desktop).last).toMatchObject({ is: "failed", why: "wrongToken", erasure: null });
  });
});
