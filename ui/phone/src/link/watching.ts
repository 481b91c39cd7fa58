// When a watch is open (5): on the direction that is read while the page is in sight, and on
// the own one while a full direction blocks it. Pure. Invariant: frames are hints; nothing
// is accepted or acknowledged here.

import type { WatchEvent } from "./answer";
import { type Direction, writes } from "./key";
import { SILENCE_MS, SLOTS_MAX, WATCH_BACKOFF_MAX_MS, WATCH_LIMIT_MS } from "./limit";
import type { LinkMemory } from "./memory";
import { backoff } from "./retry";

interface Watch {
  isOpen: boolean;
  failures: number;
  retryAtMs: number;
  silentAtMs: number;
  /** Pushed out by others: waits until somebody uses the page again. */
  isParked: boolean;
}

/** What a watch event asks of the link. */
export type WatchHint = "fetch" | "room" | "pruned" | "erased" | "expired" | null;

const CLOSED_BY_ERASE = 1000;
const OVER_A_LIMIT = 1013;
const REPLACED = 4409;
const EXPIRED = 4410;

export class Watching {
  readonly #watches: Record<Direction, Watch> = { a2b: newWatch(), b2a: newWatch() };

  constructor(private readonly memory: LinkMemory) {}

  /** Opens what should be open and closes the rest. */
  advance(wanted: readonly Direction[], nowMs: number): void {
    for (const direction of ["a2b", "b2a"] as const) {
      const watch = this.#watches[direction];
      if (watch.isOpen && nowMs >= watch.silentAtMs) {
        this.#close(direction);
        this.#retry(watch, nowMs);
      }
      const isWanted = wanted.includes(direction);
      if (watch.isOpen && !isWanted) this.#close(direction);
      if (!isWanted || watch.isOpen || watch.isParked || nowMs < watch.retryAtMs) continue;
      watch.isOpen = true;
      watch.silentAtMs = nowMs + SILENCE_MS;
      this.memory.effect({ is: "openWatch", direction });
    }
  }

  handle(event: WatchEvent, nowMs: number): WatchHint {
    const watch = this.#watches[event.direction];
    if (event.is === "closed") return this.#closed(watch, event.code, event.reason, nowMs);
    watch.silentAtMs = nowMs + SILENCE_MS;
    if (event.is === "opened") return null;
    watch.failures = 0;
    // Of the own direction it says whether the other side has collected meanwhile.
    if (event.type === "state" && event.direction === writes(this.memory.row.role)) return event.count !== null && event.count < SLOTS_MAX ? "room" : null;
    if (event.type === "state" || event.type === "stored") return "fetch";
    return event.type === "pruned" ? "pruned" : null;
  }

  /** Somebody is here, or the network is back. */
  wake(nowMs: number): void {
    for (const watch of Object.values(this.#watches)) {
      watch.isParked = false;
      watch.retryAtMs = Math.min(watch.retryAtMs, nowMs);
    }
  }

  /** The clock was set back to this. */
  rebase(nowMs: number): void {
    for (const watch of Object.values(this.#watches)) {
      watch.retryAtMs = Math.min(watch.retryAtMs, nowMs);
      watch.silentAtMs = Math.min(watch.silentAtMs, nowMs + SILENCE_MS);
    }
  }

  nextTimer(wanted: readonly Direction[]): number[] {
    return wanted.flatMap((direction) => {
      const watch = this.#watches[direction];
      if (watch.isOpen) return [watch.silentAtMs];
      return watch.isParked ? [] : [watch.retryAtMs];
    });
  }

  #close(direction: Direction): void {
    this.#watches[direction].isOpen = false;
    this.memory.effect({ is: "closeWatch", direction });
  }

  #closed(watch: Watch, code: number, reason: string, nowMs: number): WatchHint {
    watch.isOpen = false;
    if (code === CLOSED_BY_ERASE && reason === "erased") return "erased";
    this.#retry(watch, nowMs);
    if (code === OVER_A_LIMIT) watch.retryAtMs = Math.max(watch.retryAtMs, nowMs + WATCH_LIMIT_MS);
    if (code === REPLACED) watch.isParked = true;
    // What a refused watch can't tell, the next request does.
    return code === EXPIRED ? "expired" : "fetch";
  }

  #retry(watch: Watch, nowMs: number): void {
    watch.retryAtMs = nowMs + backoff(watch.failures, WATCH_BACKOFF_MAX_MS, this.memory.unit());
    watch.failures += 1;
  }
}

function newWatch(): Watch {
  return { isOpen: false, failures: 0, retryAtMs: 0, silentAtMs: 0, isParked: false };
}
