// The numbers of the page against those of the Rust side: each stands in one place a language.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as label from "./label";
import * as limit from "./limit";

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

/** The constants of Rust files, worked out. */
function constants(...paths: string[]): Map<string, number> {
  const found = new Map([["SECOND_MS", 1_000], ["MINUTE_MS", 60_000], ["HOUR_MS", 3_600_000], ["DAY_MS", 86_400_000]]);
  for (const path of paths) {
    for (const [, name = "", expression = ""] of read(path).matchAll(/const (\w+): (?:u\d+|usize) = ([^;"]+);/g)) {
      const known = expression.replaceAll("_", "_").replace(/[A-Z][A-Z0-9_]*/g, (word) => String(found.get(word) ?? Number.NaN));
      const steps = known.replace(/\(1 << (\d+)\)|1 << (\d+)/g, (_, one, other) => String(2 ** Number(one ?? other))).replace(/(\d)_(?=\d)/g, "$1");
      if (/^[\d\s+*-]+$/.test(steps)) found.set(name, sum(steps));
    }
  }
  return found;
}

/** A sum of products. */
function sum(text: string): number {
  const terms = text.replace(/\s+/g, "").match(/[+-]?[\d*]+/g) ?? [];
  return terms.reduce((total, term) => total + (term.startsWith("-") ? -1 : 1) * term.replace(/^[+-]/, "").split("*").reduce((product, factor) => product * Number(factor), 1), 0);
}

const PAIRS: [keyof typeof limit, string][] = [
  ["SLOTS_MAX", "LINK_SLOTS"],
  ["PAGE_ENVELOPES_MAX", "LINK_PAGE_ENVELOPES_MAX"],
  ["ENVELOPE_BYTES_MIN", "LINK_ENVELOPE_BYTES_MIN"],
  ["ENVELOPE_BYTES_MAX", "LINK_ENVELOPE_BYTES_MAX"],
  ["PAYLOAD_BYTES_MAX", "LINK_PAYLOAD_BYTES_MAX"],
  ["HEADER_BYTES_MAX", "LINK_HEADER_BYTES_MAX"],
  ["SEQUENCE_MAX", "LINK_SEQUENCE_MAX"],
  ["TRUSTED_SEQUENCE_MAX", "LINK_LAST_MAX"],
  ["ACCEPTED_IDS_MAX", "ACCEPTED_IDS_MAX"],
  ["RECLAIM_MS", "RECLAIM_MS"],
  ["PUT_ATTEMPTS_MAX", "TAKEN_ATTEMPTS_MAX"],
  ["ATTEMPTS_PAUSE_MS", "TAKEN_PAUSE_MS"],
  ["BLOCKED_MS", "BLOCKED_MS"],
  ["ACK_DELAY_MS", "ACK_DELAY_MS"],
  ["ACK_SLOTS_MAX", "ACK_ENVELOPES_MAX"],
  ["RESYNC_MS", "RESYNC_INTERVAL_MS"],
  ["ROW_LIFE_MS", "ROW_LIFE_MS"],
  ["ERASE_LIFE_MS", "ERASE_LIFE_MS"],
  ["UNCONFIRMED_MS", "UNCONFIRMED_OFFER_MS"],
  ["BACKOFF_MS", "BACKOFF_FIRST_MS"],
  ["BACKOFF_MAX_MS", "BACKOFF_MAX_MS"],
  ["WATCH_BACKOFF_MAX_MS", "WATCH_BACKOFF_MAX_MS"],
  ["WATCH_LIMIT_MS", "WATCH_LIMIT_MS"],
  ["SILENCE_MS", "WATCH_SILENCE_MS"],
  ["RETRY_AFTER_MS", "RETRY_AFTER_MS"],
  ["RETRY_AFTER_MAX_MS", "RETRY_AFTER_MAX_MS"],
  ["CONFIGURATION_MS", "CONFIGURATION_RETRY_MS"],
  ["UNREADABLE_MAX", "UNREADABLE_MAX"],
];

it("are the same numbers as in Rust", () => {
  const rust = constants("protocol/src/limit.rs", "engine/src/core/link/timing.rs");
  expect(PAIRS.map(([name]) => [name, limit[name]])).toEqual(PAIRS.map(([name, other]) => [name, rust.get(other)]));
});

it("are the same labels as in Rust", () => {
  const rust = new Set([...read("protocol/src/label.rs").matchAll(/b"([^"]+)"/g)].map(([, text = ""]) => text.replace(/\\0$/, "")));
  expect(Object.values(label).filter((text) => !rust.has(text))).toEqual([]);
});
