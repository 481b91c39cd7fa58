// X25519 (RFC 7748) out of the library's Montgomery ladder alone. Its ready-made one comes with
// a second curve for speed, which would take a fifth of the page for two multiplications.

import { pow } from "@noble/curves/abstract/modular.js";
import { montgomery } from "@noble/curves/abstract/montgomery.js";

const P = 2n ** 255n - 19n;

export const x25519 = montgomery({
  P,
  type: "x25519",
  powPminus2: (x) => pow(x, P - 2n, P),
  adjustScalarBytes: (bytes: Uint8Array) => {
    bytes[0] = (bytes[0] ?? 0) & 248;
    bytes[31] = ((bytes[31] ?? 0) & 127) | 64;
    return bytes as Uint8Array<ArrayBuffer>;
  },
});
