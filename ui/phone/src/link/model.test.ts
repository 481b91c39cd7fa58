// Random histories over the door's rules: requests and answers that get lost, processes that
// end at any line, mailboxes that vanish, relays set back to a backup. Whatever was promised
// arrives once, and nothing stays in a slot or an outbox.

import { describe, expect, it } from "vitest";
import { Door } from "../../tests/door";
import { seeded, settle, Side } from "../../tests/side";
import type { Random } from "./key";

const HISTORIES = 120;
const STEPS = 90;

interface Faults {
  vanish: boolean;
  restore: boolean;
}

/** A number below `limit`. */
function draw(random: Random, limit: number): number {
  const [high = 0, low = 0] = random(2);
  return (high * 256 + low) % limit;
}

/** What both sides were promised, and what they were given. */
function play(seed: number, faults: Faults): { promised: string[][]; given: string[][]; left: string[] } {
  const random = seeded(seed);
  const door = new Door();
  const sides = [new Side("a", door, 1_000, seeded(seed + 1)), new Side("b", door, 1_000, seeded(seed + 2))] as const;
  const promised: string[][] = [[], []];
  let backup = door.copy();
  for (const side of sides) {
    side.network = (_, perform) => {
      if (draw(random, 10) === 0) return { is: "noAnswer" };
      const answer = perform();
      return draw(random, 10) === 0 ? { is: "noAnswer" } : answer;
    };
    side.run();
  }
  for (let step = 0; step < STEPS; step += 1) {
    const which = draw(random, 2);
    const [side, other] = which === 0 ? sides : [sides[1], sides[0]];
    if (draw(random, 6) === 0) side.crashIn = draw(random, 12);
    switch (draw(random, 12)) {
      case 0: case 1: case 2: case 3: {
        const text = `${which}.${step}`;
        side.send(text);
        // A process that ended before the row was stored has promised nothing.
        const isStored = side.durable.outbox.some(({ body }) => Buffer.from(body).toString() === text) || other.delivered.includes(text);
        if (isStored) promised[1 - which]?.push(text);
        break;
      }
      case 4: case 5: case 6:
        side.fetch();
        break;
      case 7: case 8:
        side.later(1_000 + draw(random, 20_000));
        break;
      case 9:
        side.restart();
        break;
      case 10:
        if (faults.restore) {
          if (draw(random, 2) === 0) backup = door.copy();
          else setBack(door, backup, sides);
        }
        break;
      default:
        if (faults.vanish && draw(random, 3) === 0) door.mailboxes.clear();
    }
  }
  for (const side of sides) {
    side.network = (_, perform) => perform();
    side.crashIn = Number.POSITIVE_INFINITY;
    side.later(400_000);
  }
  for (let round = 0; round < 3; round += 1) {
    settle(...sides);
    // A resync may have to wait for its ten minutes.
    for (const side of sides) side.later(700_000);
  }
  settle(...sides);
  const left = sides.flatMap(({ durable, role, slots }) => [...durable.outbox.map(({ id }) => `${role} ${id}`), ...slots.call(sides[role === "a" ? 0 : 1]).map((slot) => `${role} ${slot}`)]);
  return { promised, given: sides.map(({ delivered }) => delivered), left };
}

/** A relay that is set back was stopped, and both sides notice that. */
function setBack(door: Door, backup: Door["mailboxes"], sides: readonly [Side, Side]): void {
  door.mailboxes = structuredClone(backup);
  for (const side of sides) {
    side.link.handleWatch({ is: "closed", direction: side.role === "a" ? "b2a" : "a2b", code: 1001, reason: "going away" }, side.nowMs);
    side.run();
  }
}

describe.each<[string, Faults]>([
  ["nothing else", { vanish: false, restore: false }],
  ["mailboxes that vanish", { vanish: true, restore: false }],
  ["relays that are set back", { vanish: false, restore: true }],
  ["both", { vanish: true, restore: true }],
])("losses, crashes and %s", (_, faults) => {
  it("lose nothing, repeat nothing, leave nothing", () => {
    let messages = 0;
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const { promised, given, left } = play(seed * 7_919, faults);
      messages += promised.flat().length;
      const lost = promised.map((texts, index) => texts.filter((text) => !given[index]?.includes(text)));
      const twice = given.map((texts) => texts.filter((text, index) => texts.indexOf(text) !== index));
      expect({ seed, lost, twice, left }).toEqual({ seed, lost: [[], []], twice: [[], []], left: [] });
    }
    expect(messages).toBeGreaterThan(HISTORIES * 10);
  }, 60_000);
});
