// How long the link waits before it asks again (6.8): one state for all requests of a relay.
// Pure. Owns what the last trouble was; never what to ask.

import * as limit from "./limit";
import type { LinkMemory } from "./memory";
import { backoff } from "./retry";
import type { LinkTrouble } from "./step";

export class Patience {
  #retryAtMs = 0;
  /** A time that is known, not one that grows. */
  #isPaused = false;
  #failures = 0;
  #unreadable = 0;

  constructor(private readonly memory: LinkMemory) {}

  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** Whether something failed and is to be tried again. */
  get isWaiting(): boolean {
    return this.#failures > 0 || this.#isPaused;
  }

  /** An answer that makes sense, whatever it says. */
  understand(): void {
    this.#unreadable = 0;
  }

  succeed(): void {
    this.#failures = 0;
    this.#isPaused = false;
    this.#retryAtMs = 0;
    this.#say(null, true);
  }

  /** Asks the next thing at once; the delay after that goes on from where it was. */
  goOn(): void {
    this.#retryAtMs = 0;
  }

  /** Longer with each failure. */
  backOff(trouble: LinkTrouble, nowMs: number): void {
    this.#say(trouble, trouble !== "unreachable");
    this.#retryAtMs = nowMs + backoff(this.#failures, limit.BACKOFF_MAX_MS, this.memory.unit());
    this.#isPaused = false;
    this.#failures += 1;
  }

  handleUnreadable(nowMs: number): void {
    this.#unreadable += 1;
    this.backOff(this.#unreadable >= limit.UNREADABLE_MAX ? "misbehaves" : "unreachable", nowMs);
  }

  /** A time that is known. */
  pause(trouble: LinkTrouble, delayMs: number, nowMs: number): void {
    this.#say(trouble, true);
    this.#retryAtMs = nowMs + delayMs;
    this.#isPaused = true;
  }

  /** The relay doesn't know the link: it is looked for seldom. */
  lose(nowMs: number): void {
    this.#say(null, true);
    this.#isPaused = false;
    this.#failures += 1;
    this.#retryAtMs = nowMs + limit.LOST_MS;
  }

  /** Somebody is here, or the network is back: at once, once. */
  wake(nowMs: number): void {
    this.#retryAtMs = Math.min(this.#retryAtMs, nowMs);
  }

  /** The clock was set back. */
  rebase(): void {
    this.#retryAtMs = 0;
  }

  #say(trouble: LinkTrouble | null, isConnected: boolean): void {
    this.memory.isConnected = isConnected;
    this.memory.trouble = trouble;
  }
}
