// What is asked of a relay and what it answers, as values (4). The transports make them; the
// machine sees nothing else of the network.

import type { Direction } from "./key";

export type LinkRequest =
  | { is: "claim" }
  | { is: "head"; direction: Direction }
  | { is: "page"; direction: Direction; after: number }
  | { is: "put"; direction: Direction; sequence: number; bytes: Uint8Array }
  | { is: "prune"; direction: Direction; through: number }
  | { is: "erase" };

/** The headers of an answer (4.1); null where there was none, or none that is a number. */
export interface SlotState {
  last: number | null;
  more: number | null;
  count: number | null;
  oldest: number | null;
  createdMs: number | null;
}

export interface StoredEnvelope {
  slot: number;
  bytes: Uint8Array;
}

export type Answer =
  | { is: "ok"; status: number; state: SlotState; envelopes: StoredEnvelope[] }
  | { is: "refused"; status: number; error: string; state: SlotState; retryAfterMs: number | null }
  /** An answer of 200 that makes no sense. */
  | { is: "unreadable" }
  | { is: "noAnswer" };

export type WatchEvent =
  | { is: "opened"; direction: Direction }
  | { is: "frame"; direction: Direction; type: string; count: number | null; createdMs: number | null }
  | { is: "closed"; direction: Direction; code: number; reason: string };
