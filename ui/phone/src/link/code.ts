// What a pairing code carries behind its `#` (8.1). Pure. Nothing of it is ever shown but the
// name of the desktop, and that only after it was cleaned.

import { fixedFromBase64url } from "./bytes";
import { LINK_ID_BYTES, LINK_KEY_BYTES } from "./key";

export interface PairingCode {
  linkId: Uint8Array;
  linkKey: Uint8Array;
  /** Unix seconds; by the desktop's clock. */
  expiresS: number | null;
  desktop: string;
}

/** Why a code is none, as the part that is wrong. */
export type CodeFault = "missing" | "version" | "id" | "key" | "repeated";

const VERSION = "1";
const FIELDS = ["v", "i", "k", "x", "n"];

/** Reads `#v=1&i=…`; unknown fields are ignored, the order is free. */
export function parseCode(fragment: string): PairingCode | CodeFault {
  const fields = new Map<string, string>();
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [name = "", value = ""] = part.split(/=(.*)/s);
    if (!FIELDS.includes(name)) continue;
    if (fields.has(name)) return "repeated";
    fields.set(name, value);
  }
  if (fields.size === 0) return "missing";
  if (fields.get("v") !== VERSION) return "version";
  const linkId = fixedFromBase64url(fields.get("i"), LINK_ID_BYTES);
  if (linkId === null) return "id";
  const linkKey = fixedFromBase64url(fields.get("k"), LINK_KEY_BYTES);
  if (linkKey === null) return "key";
  const expires = fields.get("x") ?? "";
  return { linkId, linkKey, expiresS: /^\d{1,15}$/.test(expires) ? Number(expires) : null, desktop: unescaped(fields.get("n") ?? "") };
}

/** Undoes percent encoding; what isn't valid is kept as it stands. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
