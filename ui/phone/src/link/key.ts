// The keys of a link and what is derived from them (3). Owns no storage; what is derived is
// never stored. Nothing here is ever shown, logged or put into an address.

import { expand, extract } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { join, toBase64url, toHex, utf8 } from "./bytes";
import * as label from "./label";

/** Fills with randomness of the system; an argument everywhere else. */
export type Random = (bytes: number) => Uint8Array;

export type Direction = "a2b" | "b2a";
/** A made the link, B joined it (1). */
export type Role = "a" | "b";

export const LINK_KEY_BYTES = 32;
export const LINK_ID_BYTES = 16;
const ZERO = Uint8Array.of(0);

export interface LinkKeys {
  /** 32 lower-case hexadecimal digits. */
  readonly mailbox: string;
  readonly mailboxBytes: Uint8Array;
  /** The bearer token, as it is sent. */
  readonly token: string;
  readonly envelope: Readonly<Record<Direction, Uint8Array>>;
}

export function deriveKeys(linkKey: Uint8Array, linkId: Uint8Array): LinkKeys {
  const root = extract(sha256, linkKey, utf8(label.SALT));
  const derive = (name: string, length: number): Uint8Array =>
    expand(sha256, root, join(utf8(name), ZERO, Uint8Array.of(linkId.length), linkId), length);
  const mailboxBytes = derive(label.MAILBOX_ID, LINK_ID_BYTES);
  return {
    mailbox: toHex(mailboxBytes),
    mailboxBytes,
    token: toBase64url(derive(label.TOKEN, LINK_KEY_BYTES)),
    envelope: { a2b: derive(label.KEY_A_TO_B, LINK_KEY_BYTES), b2a: derive(label.KEY_B_TO_A, LINK_KEY_BYTES) },
  };
}

/** The direction that a role writes. */
export function writes(role: Role): Direction {
  return role === "a" ? "a2b" : "b2a";
}

/** The direction that a role reads. */
export function reads(role: Role): Direction {
  return role === "a" ? "b2a" : "a2b";
}

/** Leaves nothing of a key in memory. */
export function wipe(keys: LinkKeys): void {
  keys.envelope.a2b.fill(0);
  keys.envelope.b2a.fill(0);
}
