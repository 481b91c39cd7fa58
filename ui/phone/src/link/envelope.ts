// The envelope: one payload, sealed for one slot of one direction of one mailbox (7.0, 6.5).
// Pure and without state. Invariants: an envelope opens in its own slot only; a fresh nonce
// for every seal; the replay check comes last, so that an old envelope is told from a forged.

import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { join, utf8 } from "./bytes";
import type { Direction, LinkKeys, Random } from "./key";
import * as label from "./label";
import { ENVELOPE_BYTES_MAX, ENVELOPE_BYTES_MIN, PAYLOAD_BYTES_MAX, SEQUENCE_MAX } from "./limit";

const VERSION = 1;
const HEAD_BYTES = 10;
const NONCE_BYTES = 24;
const BODY_AT = HEAD_BYTES + NONCE_BYTES;
const OVERHEAD_BYTES = BODY_AT + 16;
const PADDED_TO = 256;
const PADDING_BEGINS = 0x80;

export type OpenedLinkEnvelope =
  | { is: "ok" | "stale"; sequence: number; payload: Uint8Array }
  | { is: "malformed" | "slotMismatch" | "forged" }
  | { is: "version"; version: number };

/** Null where the payload is too long or the number is none. */
export function seal(keys: LinkKeys, direction: Direction, sequence: number, payload: Uint8Array, random: Random): Uint8Array | null {
  if (payload.length > PAYLOAD_BYTES_MAX || !isSequence(sequence)) return null;
  const head = new Uint8Array(HEAD_BYTES);
  head[0] = VERSION;
  new DataView(head.buffer).setBigUint64(2, BigInt(sequence));
  const nonce = random(NONCE_BYTES);
  const padded = new Uint8Array(Math.ceil((payload.length + 1) / PADDED_TO) * PADDED_TO);
  padded.set(payload);
  padded[payload.length] = PADDING_BEGINS;
  const sealed = xchacha20poly1305(keys.envelope[direction], nonce, authenticated(keys, direction, head)).encrypt(padded);
  return join(head, nonce, sealed);
}

/** Opens what lay in `slot`; `after` is the last accepted sequence, never a cursor. */
export function open(keys: LinkKeys, direction: Direction, slot: number, after: number | null, bytes: Uint8Array): OpenedLinkEnvelope {
  const isFramed = bytes.length >= ENVELOPE_BYTES_MIN && bytes.length <= ENVELOPE_BYTES_MAX && (bytes.length - OVERHEAD_BYTES) % PADDED_TO === 0;
  if (!isFramed) return { is: "malformed" };
  const version = bytes[0] ?? 0;
  if (version !== VERSION) return { is: "version", version };
  if (bytes[1] !== 0) return { is: "malformed" };
  const head = bytes.subarray(0, HEAD_BYTES);
  const sequence = Number(new DataView(head.buffer, head.byteOffset).getBigUint64(2));
  if (!isSequence(sequence)) return { is: "malformed" };
  if (sequence !== slot) return { is: "slotMismatch" };
  const padded = decrypt(keys, direction, head, bytes);
  if (padded === null) return { is: "forged" };
  const payload = withoutPadding(padded);
  if (payload === null) return { is: "malformed" };
  return { is: after === null || sequence > after ? "ok" : "stale", sequence, payload };
}

export function isSequence(sequence: unknown): sequence is number {
  return Number.isSafeInteger(sequence) && (sequence as number) >= 1 && (sequence as number) <= SEQUENCE_MAX;
}

function decrypt(keys: LinkKeys, direction: Direction, head: Uint8Array, bytes: Uint8Array): Uint8Array | null {
  try {
    const nonce = bytes.subarray(HEAD_BYTES, BODY_AT);
    return xchacha20poly1305(keys.envelope[direction], nonce, authenticated(keys, direction, head)).decrypt(bytes.subarray(BODY_AT));
  } catch {
    return null;
  }
}

function authenticated(keys: LinkKeys, direction: Direction, head: Uint8Array): Uint8Array {
  const sign = Uint8Array.of(0, ...keys.mailboxBytes, direction === "a2b" ? 0x61 : 0x62);
  return join(utf8(label.ENVELOPE), sign, head);
}

/**
 * Padding is 0x80 and zeros, and nothing else. More of it than the least is accepted: a writer
 * may hide more of a size than it has to.
 */
function withoutPadding(padded: Uint8Array): Uint8Array | null {
  let end = padded.length - 1;
  while (end >= 0 && padded[end] === 0) end -= 1;
  return end >= 0 && padded[end] === PADDING_BEGINS ? padded.subarray(0, end) : null;
}
