// The payload of an envelope: a short JSON header and a body of raw bytes (7.1). Pure.
// A kind that this version doesn't know is read all the same; what it says is ignored.

import { fixedFromBase64url, fromUtf8, join, toBase64url, utf8 } from "./bytes";
import { isSequence } from "./envelope";
import type { Random } from "./key";
import { HEADER_BYTES_MAX, PAYLOAD_BYTES_MAX } from "./limit";

export const KINDS = ["hello", "challenge", "reveal", "welcome", "msg", "state", "ack", "resync", "bye"] as const;
export type Kind = (typeof KINDS)[number];

export const PAYLOAD_ID_BYTES = 16;

export interface Ack {
  /** The sender's last accepted sequence, and the incarnation that it was accepted in. */
  seq: number;
  createdMs: number;
}

export interface Payload {
  kind: Kind | "unknown";
  /** 22 characters; kept through every seal. */
  id: string;
  ack: Ack | null;
  /** For display only: no clock is trusted. */
  tsMs: number;
  collapse: string | null;
  body: Uint8Array;
}

export function newPayloadId(random: Random): string {
  return toBase64url(random(PAYLOAD_ID_BYTES));
}

/** Null where it is too long for an envelope. */
export function encodePayload(payload: Payload): Uint8Array | null {
  const { kind, id, ack, tsMs, collapse, body } = payload;
  const header = utf8(
    JSON.stringify({
      t: kind,
      id,
      ...(ack === null ? {} : { ack: { seq: ack.seq, in: ack.createdMs } }),
      ts: tsMs,
      ...(collapse === null ? {} : { k: collapse }),
    }),
  );
  if (header.length > HEADER_BYTES_MAX) return null;
  const bytes = join(Uint8Array.of(header.length >> 8, header.length & 0xff), header, body);
  return bytes.length > PAYLOAD_BYTES_MAX ? null : bytes;
}

/** Null where it is not a payload. */
export function decodePayload(bytes: Uint8Array): Payload | null {
  const [high, low] = bytes;
  if (high === undefined || low === undefined) return null;
  const bodyAt = 2 + high * 256 + low;
  if (bodyAt > bytes.length || bodyAt > 2 + HEADER_BYTES_MAX) return null;
  const header = readObject(bytes.subarray(2, bodyAt));
  if (header === null || typeof header["t"] !== "string") return null;
  const { t, id, ack, ts, k } = header;
  if (fixedFromBase64url(id, PAYLOAD_ID_BYTES) === null) return null;
  return {
    kind: KINDS.find((kind) => kind === t) ?? "unknown",
    id: id as string,
    ack: readAck(ack),
    tsMs: typeof ts === "number" && Number.isFinite(ts) ? ts : 0,
    collapse: typeof k === "string" ? k : null,
    body: bytes.slice(bodyAt),
  };
}

/** A JSON object, or null: the form of every header and of every body. */
export function readObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(fromUtf8(bytes) ?? "");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function readAck(value: unknown): Ack | null {
  if (typeof value !== "object" || value === null) return null;
  const { seq, in: createdMs } = value as Record<string, unknown>;
  return isSequence(seq) && Number.isSafeInteger(createdMs) ? { seq, createdMs: createdMs as number } : null;
}
