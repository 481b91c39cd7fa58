// Bytes as text and text as bytes, in the two forms of the wire: lower-case hex and base64url
// without padding. Pure. Anything but the one right form of a value is refused.

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** The text, or null where the bytes are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function toBase64url(bytes: Uint8Array): string {
  let signs = "";
  for (const byte of bytes) signs += String.fromCharCode(byte);
  return btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The bytes, or null where this is not base64url without padding. */
export function fromBase64url(text: string): Uint8Array | null {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return null;
  const signs = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(signs.length);
  for (let index = 0; index < signs.length; index += 1) bytes[index] = signs.charCodeAt(index);
  return bytes;
}

/** A value of a known length; null where it has another, or is written in a second form. */
export function fixedFromBase64url(text: unknown, length: number): Uint8Array | null {
  if (typeof text !== "string" || text.length !== Math.ceil((length * 4) / 3)) return null;
  const bytes = fromBase64url(text);
  return bytes !== null && toBase64url(bytes) === text ? bytes : null;
}

export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  // Looks at every byte, whatever it finds.
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index += 1) difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  return difference === 0;
}
