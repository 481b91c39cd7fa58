// Mailboxes that were unpaired and are still to be erased (6.7): one request at a time, for
// 30 days. Pure. Keeps no key: the token opens nothing.

import type { Answer, LinkRequest } from "./answer";
import type { Random } from "./key";
import { BACKOFF_MAX_MS, CONFIGURATION_MS, ERASE_LIFE_MS } from "./limit";
import { backoff, retryAfter, type Verdict, verdictOf } from "./retry";
import type { Erasure } from "./step";

export class Erasing {
  readonly #waiting: Map<string, Erasure>;
  #failures = 0;
  #retryAtMs = 0;

  constructor(
    erasures: readonly Erasure[],
    private readonly random: Random,
  ) {
    this.#waiting = new Map(erasures.map((one) => [one.mailbox, one]));
  }

  add(erasure: Erasure): void {
    this.#waiting.set(erasure.mailbox, erasure);
    this.#retryAtMs = 0;
  }

  /** What to ask next: the last word first, then the erase itself. */
  next(nowMs: number): { erasure: Erasure; request: LinkRequest } | null {
    const [erasure] = this.#waiting.values();
    if (erasure === undefined || nowMs < this.#retryAtMs) return null;
    return { erasure, request: erasure.bye === null ? { is: "erase" } : { is: "put", ...erasure.bye } };
  }

  /** The mailbox that need not be kept in mind any more, or null. */
  handleAnswer(erasure: Erasure, answer: Answer, nowMs: number): string | null {
    const verdict: Verdict | "done" = answer.is === "ok" ? "done" : answer.is === "refused" ? verdictOf(answer) : "backoff";
    const delayMs = this.#delayMs(verdict, answer);
    // Nothing is left to erase, or it isn't this link's to erase.
    const isOver = verdict === "noMailbox" || verdict === "wrongToken" || verdict === "unauthorized";
    if (delayMs === null && !isOver && erasure.bye !== null) {
      // Told or not: the erase says it too.
      this.#waiting.set(erasure.mailbox, { ...erasure, bye: null });
      this.#failures = 0;
      return null;
    }
    if (delayMs === null || nowMs - erasure.sinceMs >= ERASE_LIFE_MS) {
      this.#waiting.delete(erasure.mailbox);
      this.#failures = 0;
      return erasure.mailbox;
    }
    this.#retryAtMs = nowMs + delayMs;
    return null;
  }

  /** How long to wait before the same is asked again; null where the answer is one. */
  #delayMs(verdict: Verdict | "done", answer: Answer): number | null {
    const unit = (this.random(1)[0] ?? 0) / 255;
    switch (verdict) {
      case "backoff":
        this.#failures += 1;
        return backoff(this.#failures - 1, BACKOFF_MAX_MS, unit);
      case "wait":
        return retryAfter(answer.is === "refused" ? answer.retryAfterMs : null, unit);
      case "configuration":
        return CONFIGURATION_MS;
      default:
        return null;
    }
  }

  wake(): void {
    this.#retryAtMs = 0;
  }

  nextTimer(): number | null {
    return this.#waiting.size === 0 ? null : this.#retryAtMs;
  }
}
