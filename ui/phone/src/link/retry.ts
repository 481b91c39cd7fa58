// When to try again (6.8). Pure: `unit` is a number from 0 to 1 of the caller's randomness.

import { BACKOFF_MS, RETRY_AFTER_MAX_MS, RETRY_AFTER_MS } from "./limit";

/** The delay before attempt `failures`, drawn from its upper half. */
export function backoff(failures: number, capMs: number, unit: number): number {
  return Math.round((0.5 + unit / 2) * Math.min(capMs, BACKOFF_MS * 2 ** Math.min(failures, 30)));
}

/** What a relay asked for after 429 and 503, a fifth more or less. */
export function retryAfter(askedMs: number | null, unit: number): number {
  return Math.round(Math.min(RETRY_AFTER_MAX_MS, askedMs ?? RETRY_AFTER_MS) * (0.8 + unit * 0.4));
}
