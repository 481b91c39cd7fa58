// What an answer means for the next try, and when that is (6.8). Pure: `unit` is a number from 0
// to 1 of the caller's randomness.

import type { Answer } from "./answer";
import { BACKOFF_MS, RETRY_AFTER_MAX_MS, RETRY_AFTER_MS } from "./limit";

/** The delay before attempt `failures`, drawn from its upper half. */
export function backoff(failures: number, capMs: number, unit: number): number {
  return Math.round((0.5 + unit / 2) * Math.min(capMs, BACKOFF_MS * 2 ** Math.min(failures, 30)));
}

/** What a relay asked for after 429 and 503, a fifth more or less. */
export function retryAfter(askedMs: number | null, unit: number): number {
  return Math.round(Math.min(RETRY_AFTER_MAX_MS, askedMs ?? RETRY_AFTER_MS) * (0.8 + unit * 0.4));
}

/** What a refusal means. Without a code it wasn't a relay that refused: nothing of that may cost
 *  a message, a link or an erase (engine::core::link::retry has the same table). */
export type Verdict = "backoff" | "wait" | "configuration" | "refused" | "unauthorized" | "wrongToken" | "noMailbox" | "claimsClosed" | "taken" | "jump" | "tooLarge" | "full";

export function verdictOf({ status, error }: Answer & { is: "refused" }): Verdict {
  const isCoded = error !== "";
  if (status === 404 && error === "no_mailbox") return "noMailbox";
  if (status === 404 && error === "claims_closed") return "claimsClosed";
  if (status === 403 && error === "wrong_token") return "wrongToken";
  if (status === 409) return "taken";
  if (status === 413) return "tooLarge";
  if (status === 507) return "full";
  if (status === 429 || status === 503) return "wait";
  if (status === 400 && error === "sequence_jump") return "jump";
  if ((status === 400 || status === 405) && isCoded) return "refused";
  if (status === 401 && isCoded) return "unauthorized";
  return status === 408 || status >= 500 ? "backoff" : "configuration";
}
