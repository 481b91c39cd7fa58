import { describe, expect, it } from "vitest";
import { refused } from "../../tests/door";
import { seeded } from "../../tests/side";
import type { Answer } from "./answer";
import { Erasing } from "./erasing";
import { CONFIGURATION_MS, ERASE_LIFE_MS } from "./limit";
import type { Erasure } from "./step";

const erasure: Erasure = { mailbox: "m", token: "t", sinceMs: 0, bye: { direction: "b2a", sequence: 2, bytes: new Uint8Array(306) } };
const done: Answer = { is: "ok", status: 204, state: { last: null, more: null, count: null, oldest: null, createdMs: null }, envelopes: [] };

describe("erasing", () => {
  it("says the last word first, whatever comes of it, and then erases", () => {
    for (const answer of [done, refused(409, "sequence_taken"), refused(507, "direction_full"), refused(400, "bad_envelope")]) {
      const erasing = new Erasing([erasure], seeded(1));
      expect(erasing.next(0)?.request.is).toBe("put");
      expect(erasing.handleAnswer(erasure, answer, 0)).toBeNull();
      const next = erasing.next(0);
      expect(next?.request.is).toBe("erase");
      expect(erasing.handleAnswer(next?.erasure ?? erasure, done, 0)).toBe("m");
      expect([erasing.next(0), erasing.nextTimer()]).toEqual([null, null]);
    }
  });

  it("goes on for 30 days while nobody answers, and drops what is gone or another's", () => {
    const erasing = new Erasing([{ ...erasure, bye: null }], seeded(1));
    const first = erasing.next(0)?.erasure ?? erasure;
    expect(erasing.handleAnswer(first, { is: "noAnswer" }, 0)).toBeNull();
    expect(erasing.next(0)).toBeNull();
    expect(erasing.next(erasing.nextTimer() ?? 0)).not.toBeNull();
    expect(erasing.handleAnswer(first, { is: "noAnswer" }, ERASE_LIFE_MS)).toBe("m");
    for (const answer of [refused(404, "no_mailbox"), refused(403, "wrong_token")]) {
      for (const one of [first, erasure]) expect(new Erasing([one], seeded(1)).handleAnswer(one, answer, 0)).toBe("m");
    }
  });

  it("forgets nothing for an answer that no relay gave, or that passes", () => {
    const answers = [refused(408, ""), refused(400, ""), refused(401, ""), refused(403, ""), refused(404, ""), refused(405, ""), refused(418, ""), refused(403, "origin_denied"), refused(421, "bad_host")];
    for (const answer of answers) {
      for (const one of [erasure, { ...erasure, bye: null }]) {
        const erasing = new Erasing([one], seeded(1));
        expect([answer, erasing.handleAnswer(one, answer, 0), erasing.next(0)]).toEqual([answer, null, null]);
        expect(erasing.next(CONFIGURATION_MS)).toEqual({ erasure: one, request: expect.objectContaining({ is: one.bye === null ? "erase" : "put" }) });
      }
    }
  });
});
