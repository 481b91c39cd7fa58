// For unit tests: the rules of the relay's link door (4) over plain maps, and what goes wrong
// between it and a client. The real door is asked by the browser tests.

import type { Answer, LinkRequest, SlotState, StoredEnvelope } from "../src/link/answer";
import { toHex } from "../src/link/bytes";
import type { Direction } from "../src/link/key";
import { ENVELOPE_BYTES_MAX, ENVELOPE_BYTES_MIN, PAGE_ENVELOPES_MAX, SLOTS_MAX } from "../src/link/limit";

interface DirectionStore {
  last: number | null;
  lastBytes: string;
  slots: Map<number, Uint8Array>;
}

interface Mailbox {
  token: string;
  createdMs: number;
  touchedMs: number;
  directions: Record<Direction, DirectionStore>;
}

const LIFE_MS = 30 * 86_400_000;
const JUMP_MAX = 2 ** 24;

export class Door {
  mailboxes = new Map<string, Mailbox>();
  /** With `local`, nobody makes a mailbox through this door. */
  claims: "open" | "local" = "open";
  requests: string[] = [];
  #lastCreatedMs = 0;

  handle(address: { mailbox: string; token: string }, request: LinkRequest, nowMs: number): Answer {
    this.requests.push(request.is);
    const found = this.#alive(address.mailbox, nowMs);
    if (request.is === "claim") return this.#claim(address, found, nowMs);
    if (found === undefined) return refused(404, "no_mailbox");
    if (found.token !== address.token) return refused(403, "wrong_token");
    if (request.is === "erase") {
      this.mailboxes.delete(address.mailbox);
      return ok(204, blank());
    }
    const store = found.directions[request.direction];
    switch (request.is) {
      case "head":
        return ok(200, stateOf(found, store));
      case "page":
        return page(found, store, request.after);
      case "prune":
        for (const slot of store.slots.keys()) if (slot <= request.through) store.slots.delete(slot);
        return ok(204, stateOf(found, store));
      case "put":
        return put(found, store, request.sequence, request.bytes, nowMs);
    }
  }

  /** What lies in a direction. */
  slots(mailbox: string, direction: Direction): Map<number, Uint8Array> {
    return this.mailboxes.get(mailbox)?.directions[direction].slots ?? new Map();
  }

  /** A copy, as a backup of the relay is one. */
  copy(): Map<string, Mailbox> {
    return structuredClone(this.mailboxes);
  }

  #alive(id: string, nowMs: number): Mailbox | undefined {
    const found = this.mailboxes.get(id);
    if (found !== undefined && nowMs - found.touchedMs >= LIFE_MS) this.mailboxes.delete(id);
    return this.mailboxes.get(id);
  }

  #claim(address: { mailbox: string; token: string }, found: Mailbox | undefined, nowMs: number): Answer {
    if (found !== undefined) {
      if (found.token !== address.token) return refused(403, "wrong_token");
      found.touchedMs = nowMs;
      return ok(204, { ...blank(), createdMs: found.createdMs });
    }
    if (this.claims === "local") return refused(404, "claims_closed");
    const { createdMs } = this.make(address, nowMs);
    return ok(201, { ...blank(), createdMs });
  }

  /** No incarnation has the time of another one, as none has in reality. */
  make(address: { mailbox: string; token: string }, nowMs: number): Mailbox {
    this.#lastCreatedMs = Math.max(nowMs, this.#lastCreatedMs + 1);
    const direction = (): DirectionStore => ({ last: null, lastBytes: "", slots: new Map() });
    const made: Mailbox = { token: address.token, createdMs: this.#lastCreatedMs, touchedMs: nowMs, directions: { a2b: direction(), b2a: direction() } };
    this.mailboxes.set(address.mailbox, made);
    return made;
  }
}

function put(mailbox: Mailbox, store: DirectionStore, sequence: number, bytes: Uint8Array, nowMs: number): Answer {
  const state = (): SlotState => stateOf(mailbox, store);
  if (bytes.length > ENVELOPE_BYTES_MAX) return refused(413, "envelope_too_large", state());
  if (bytes.length < ENVELOPE_BYTES_MIN) return refused(400, "bad_envelope", state());
  const text = toHex(bytes);
  const stored = store.slots.get(sequence);
  if ((stored !== undefined && toHex(stored) === text) || (store.last === sequence && store.lastBytes === text)) return ok(204, state());
  if (store.last !== null && sequence <= store.last) return refused(409, "sequence_taken", state());
  if (store.last !== null && sequence > store.last + JUMP_MAX) return refused(400, "sequence_jump", state());
  if (store.slots.size >= SLOTS_MAX) return refused(507, "direction_full", state());
  store.slots.set(sequence, bytes);
  store.last = sequence;
  store.lastBytes = text;
  mailbox.touchedMs = nowMs;
  return ok(201, state());
}

function page(mailbox: Mailbox, store: DirectionStore, after: number): Answer {
  const all: StoredEnvelope[] = [...store.slots].sort(([one], [other]) => one - other).map(([slot, bytes]) => ({ slot, bytes }));
  const beyond = all.filter(({ slot }) => slot > after);
  const envelopes = beyond.slice(0, PAGE_ENVELOPES_MAX);
  return { is: "ok", status: 200, state: { ...stateOf(mailbox, store), more: beyond.length - envelopes.length }, envelopes };
}

function stateOf(mailbox: Mailbox, store: DirectionStore): SlotState {
  const slots = [...store.slots.keys()];
  return { last: store.last, more: null, count: slots.length, oldest: slots.length === 0 ? null : Math.min(...slots), createdMs: mailbox.createdMs };
}

export function blank(): SlotState {
  return { last: null, more: null, count: null, oldest: null, createdMs: null };
}

export function ok(status: number, state: SlotState): Answer {
  return { is: "ok", status, state, envelopes: [] };
}

export function refused(status: number, error: string, state: SlotState = blank()): Answer {
  return { is: "refused", status, error, state, retryAfterMs: null };
}
