// From the scanned key to keys that nobody else can have: commitment, exchange, the six
// digits of both screens, and the proof in `welcome` (8.4, amendment 18). Pure.

import { expand, extract } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { isEqual, join, utf8 } from "./bytes";
import { LINK_ID_BYTES, LINK_KEY_BYTES, type Random } from "./key";
import * as label from "./label";
import { x25519 } from "./x25519";

export const PUBLIC_BYTES = 32;
export const CONFIRM_BYTES = 32;
const DIGITS = 6;
const ZERO = Uint8Array.of(0);

export interface ExchangeSecret {
  secret: Uint8Array;
  public: Uint8Array;
}

export interface Rotation {
  linkKey: Uint8Array;
  linkId: Uint8Array;
  /** Six digits for people to compare. */
  digits: string;
  confirmKey: Uint8Array;
}

export function newExchange(random: Random): ExchangeSecret {
  const secret = random(LINK_KEY_BYTES);
  return { secret, public: x25519.getPublicKey(secret) };
}

/** What B fixes its public value with before it sees A's. */
export function commitment(publicB: Uint8Array): Uint8Array {
  return sha256(join(utf8(label.COMMIT), ZERO, publicB));
}

/** The rotation as one side computes it; null where the other's value is one to abort on. */
export function rotate(
  pairing: { linkKey: Uint8Array; linkId: Uint8Array },
  own: Uint8Array,
  publics: { a: Uint8Array; b: Uint8Array },
  theirs: Uint8Array,
): Rotation | null {
  const shared = exchange(own, theirs);
  if (shared === null) return null;
  const root = extract(sha256, shared, pairing.linkKey);
  const transcript = join(utf8(label.ROTATE), ZERO, pairing.linkId, publics.b, publics.a);
  const derive = (name: string, length: number): Uint8Array => expand(sha256, root, join(utf8(name), ZERO, transcript), length);
  const drawn = derive(label.DIGITS, 4);
  const number = new DataView(drawn.buffer, drawn.byteOffset).getUint32(0) % 10 ** DIGITS;
  return {
    linkKey: derive(label.NEW_LINK_KEY, LINK_KEY_BYTES),
    linkId: derive(label.NEW_LINK_ID, LINK_ID_BYTES),
    digits: String(number).padStart(DIGITS, "0"),
    confirmKey: derive(label.CONFIRM, LINK_KEY_BYTES),
  };
}

/** What A proves in `welcome`: that it computed the same keys. Covers A's name. */
export function confirmation(rotation: Rotation, nameOfA: string): Uint8Array {
  return hmac(sha256, rotation.confirmKey, join(utf8(label.WELCOME), ZERO, utf8(nameOfA)));
}

export function isConfirmed(rotation: Rotation, nameOfA: string, proof: Uint8Array): boolean {
  return isEqual(confirmation(rotation, nameOfA), proof);
}

/** Null for an all-zero result, on which both sides abort. */
function exchange(own: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  try {
    const shared = x25519.getSharedSecret(own, theirs);
    return shared.every((byte) => byte === 0) ? null : shared;
  } catch {
    return null;
  }
}
