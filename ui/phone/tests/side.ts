// For unit tests: one device of a link with a store of its own, which can crash at every line.

import type { Answer, LinkRequest } from "../src/link/answer";
import { fromUtf8, utf8 } from "../src/link/bytes";
import { seal } from "../src/link/envelope";
import { deriveKeys, type Direction, type Random, type Role, writes } from "../src/link/key";
import { Link } from "../src/link/link";
import { newLinkRow } from "../src/link/pairing";
import { encodePayload, newPayloadId } from "../src/link/payload";
import type { LinkChange, LinkEvent, LinkSnapshot } from "../src/link/step";
import { Door } from "./door";

/** Repeatable randomness. */
export function seeded(seed: number): Random {
  let state = seed * 2_654_435_769 + 1;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}

export const LINK_KEY = Uint8Array.from({ length: 32 }, (_, index) => index);
export const LINK_ID = Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index);

/** Thrown where a process ends. */
class Crash extends Error {}

export class Side {
  /** What survives a crash. */
  durable: LinkSnapshot;
  delivered: string[] = [];
  failed: string[] = [];
  events: LinkEvent[] = [];
  isGone = false;
  link: Link;
  watching = new Set<string>();
  /** Counts down at every line that a process can end at. */
  crashIn = Number.POSITIVE_INFINITY;
  lines = 0;
  /** Stands in for the network. */
  network: (request: LinkRequest, perform: () => Answer) => Answer = (_, perform) => perform();

  constructor(
    readonly role: Role,
    readonly door: Door,
    public nowMs = 1_000,
    readonly random: Random = seeded(role === "a" ? 1 : 2),
  ) {
    this.durable = { row: { ...newLinkRow(LINK_KEY, LINK_ID, "peer"), role, established: false }, outbox: [], accepted: [] };
    this.link = this.load();
  }

  load(): Link {
    this.watching.clear();
    const snapshot = structuredClone(this.durable);
    return new Link(snapshot, this.random);
  }

  /** Everything starts anew from what was stored. */
  restart(): void {
    this.link = this.load();
    this.run();
  }

  send(text: string, collapse?: string): string {
    const id = this.link.queue({ kind: collapse === undefined ? "msg" : "state", body: utf8(text), ...(collapse === undefined ? {} : { collapse }) }, this.nowMs);
    this.run();
    return id;
  }

  fetch(): void {
    this.link.handleOnline(this.nowMs);
    this.run();
  }

  later(ms: number): void {
    this.nowMs += ms;
    this.link.handleTimer(this.nowMs);
    this.run();
  }

  /** Does all that is to be done now; after a crash, starts again. */
  run(): void {
    for (;;) {
      try {
        this.link.start(this.nowMs);
        this.#drain();
        return;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        this.crashIn = Number.POSITIVE_INFINITY;
        this.link = this.load();
      }
    }
  }

  slots(): number[] {
    return [...this.door.slots(this.link.address.mailbox, writes(this.role)).keys()];
  }

  #drain(): void {
    for (let rounds = 0; ; rounds += 1) {
      if (rounds > 2_000) throw new Error("this never ends");
      const { changes, effects } = this.link.drain();
      if (changes.length + effects.length === 0) return;
      this.#line();
      for (const change of changes) this.#commit(change);
      if (changes.length > 0) this.#line();
      for (const effect of effects) {
        if (effect.is === "tell") this.events.push(effect.event);
        if (effect.is === "openWatch") this.watching.add(effect.direction);
        if (effect.is === "closeWatch") this.watching.delete(effect.direction);
        if (effect.is !== "request") continue;
        const answer = this.network(effect.request, () => this.door.handle(this.link.address, effect.request, this.nowMs));
        this.#line();
        this.link.handleAnswer(effect.id, answer, this.nowMs);
      }
    }
  }

  #line(): void {
    this.lines += 1;
    this.crashIn -= 1;
    if (this.crashIn < 0) throw new Crash();
  }

  #commit(change: LinkChange): void {
    switch (change.is) {
      case "row":
        this.durable.row = structuredClone(change.row);
        break;
      case "outbox":
        this.durable.outbox = [...this.durable.outbox.filter(({ id }) => id !== change.row.id), structuredClone(change.row)];
        break;
      case "outboxGone":
        this.durable.outbox = this.durable.outbox.filter(({ id }) => id !== change.id);
        if (change.why !== "received" && change.why !== "replaced") this.failed.push(change.why);
        break;
      case "accepted":
        this.durable.accepted = [...this.durable.accepted.filter(({ order }) => order >= change.keptFrom), { order: change.order, id: change.id }];
        break;
      case "arrived":
        this.delivered.push(fromUtf8(change.payload.body) ?? "");
        break;
      case "forgotten":
        this.isGone = true;
        break;
    }
  }
}

/** Both sides do what they can until nothing moves any more. */
export function settle(...sides: Side[]): void {
  for (let round = 0; round < 6; round += 1) {
    for (const side of sides) {
      side.later(6_000);
      side.fetch();
    }
  }
}

export const keys = deriveKeys(LINK_KEY, LINK_ID);

/** Both sides of a fresh link. */
export function pair(): { door: Door; a: Side; b: Side } {
  const door = new Door();
  const a = new Side("a", door);
  a.run();
  const b = new Side("b", door);
  b.run();
  return { door, a, b };
}

/** An envelope of the other side, by its sequence and text. */
export function envelope(sequence: number, text: string, direction: Direction = "a2b", id = newPayloadId(seeded(sequence + 77))): Uint8Array {
  const payload = encodePayload({ kind: "msg", id, ack: null, tsMs: 0, collapse: null, body: utf8(text) });
  return seal(keys, direction, sequence, payload ?? new Uint8Array(), seeded(sequence)) ?? new Uint8Array();
}
