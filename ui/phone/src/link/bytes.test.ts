import { readFileSync } from "node:fs";
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { describe, expect, it } from "vitest";
import { LINK_ID, LINK_KEY, seeded } from "../../tests/side";
import { fixedFromBase64url, fromBase64url, join, toBase64url, toHex } from "./bytes";
import { parseCode } from "./code";
import { open, seal } from "./envelope";
import { deriveKeys, type Direction } from "./key";
import * as label from "./label";
import { decodePayload, encodePayload, type Payload } from "./payload";
import { commitment, confirmation, isConfirmed, newExchange, rotate } from "./rotation";
import { utf8 } from "./bytes";

interface Vectors {
  link_key: string;
  link_id: string;
  mailbox_id: string;
  token_b64url: string;
  key_a2b: string;
  key_b2a: string;
  envelopes: { direction: Direction; sequence: number; nonce: string; plaintext_utf8: string; length: number; envelope?: string; envelope_sha256: string }[];
  rotation: Record<"secret_a" | "secret_b" | "public_a" | "public_b" | "new_link_key" | "new_link_id" | "code" | "commit_b", string>;
}

const vectors = JSON.parse(readFileSync(new URL("../../../../protocol/tests/vectors/paired-mailbox.json", import.meta.url), "utf8")) as Vectors;
const fromHex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "hex"));
const keys = deriveKeys(fromHex(vectors.link_key), fromHex(vectors.link_id));
const sha256 = async (bytes: Uint8Array): Promise<string> => toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.slice())));

describe("the vectors", () => {
  it("of the derivation are met", () => {
    expect([keys.mailbox, keys.token, toHex(keys.envelope.a2b), toHex(keys.envelope.b2a)]).toEqual([vectors.mailbox_id, vectors.token_b64url, vectors.key_a2b, vectors.key_b2a]);
    expect([toHex(LINK_KEY), toHex(LINK_ID)]).toEqual([vectors.link_key, vectors.link_id]);
  });

  it("of the envelopes are met", async () => {
    expect(vectors.envelopes.length).toBe(2);
    for (const vector of vectors.envelopes) {
      const sealed = seal(keys, vector.direction, vector.sequence, utf8(vector.plaintext_utf8), () => fromHex(vector.nonce)) ?? new Uint8Array();
      expect([sealed.length, await sha256(sealed)]).toEqual([vector.length, vector.envelope_sha256]);
      if (vector.envelope !== undefined) expect(toHex(sealed)).toBe(vector.envelope);
      expect(open(keys, vector.direction, vector.sequence, null, sealed)).toEqual({ is: "ok", sequence: vector.sequence, payload: utf8(vector.plaintext_utf8) });
    }
  });

  it("of the rotation are met on both sides", () => {
    const { rotation } = vectors;
    const a = newExchange(() => fromHex(rotation.secret_a));
    const b = newExchange(() => fromHex(rotation.secret_b));
    expect([toHex(a.public), toHex(b.public), toHex(commitment(b.public))]).toEqual([rotation.public_a, rotation.public_b, rotation.commit_b]);
    const pairing = { linkKey: LINK_KEY, linkId: LINK_ID };
    const publics = { a: a.public, b: b.public };
    const atB = rotate(pairing, b.secret, publics, a.public);
    const atA = rotate(pairing, a.secret, publics, b.public);
    expect(atA).toEqual(atB);
    if (atA === null || atB === null) throw new Error("no rotation");
    expect([toHex(atB.linkKey), toHex(atB.linkId), atB.digits]).toEqual([rotation.new_link_key, rotation.new_link_id, rotation.code]);
    expect(isConfirmed(atB, "Desk", confirmation(atA, "Desk"))).toBe(true);
    expect(isConfirmed(atB, "Desc", confirmation(atA, "Desk"))).toBe(false);
  });
});

describe("an envelope", () => {
  const sealed = seal(keys, "b2a", 7, utf8("hello"), seeded(5)) ?? new Uint8Array();

  it("opens nowhere but in its own slot, direction and mailbox", () => {
    const other = deriveKeys(LINK_KEY, Uint8Array.from(LINK_ID, (byte) => byte ^ 1));
    expect(open(keys, "a2b", 7, null, sealed).is).toBe("forged");
    expect(open(other, "b2a", 7, null, sealed).is).toBe("forged");
    expect(open(keys, "b2a", 8, null, sealed).is).toBe("slotMismatch");
    // Written anew for another slot, its authentication fails.
    const moved = sealed.slice();
    moved[9] = 8;
    expect(open(keys, "b2a", 8, null, moved).is).toBe("forged");
  });

  it("fails with every byte of its header flipped, and with any other byte", () => {
    for (let at = 0; at < sealed.length; at += at < 40 ? 1 : 37) {
      const damaged = sealed.slice();
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      const expected = at === 0 ? "version" : at === 1 ? "malformed" : at < 10 ? ["slotMismatch", "malformed"] : "forged";
      expect([expected].flat()).toContain(open(keys, "b2a", 7, null, damaged).is);
    }
  });

  it("is malformed at any other length", () => {
    for (const length of [0, 9, 34, 50, 305, 307, 561]) expect(open(keys, "b2a", 7, null, new Uint8Array(length)).is).toBe("malformed");
    expect(open(keys, "b2a", 7, null, new Uint8Array(65_586)).is).toBe("malformed");
  });

  it("is malformed with any padding but 0x80 and zeros, of which there may be more than needed", () => {
    // Sealed as no honest device does it, under the keys of one.
    const head = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 7);
    const nonce = new Uint8Array(24);
    const authenticated = join(utf8(label.ENVELOPE), Uint8Array.of(0, ...keys.mailboxBytes, 0x62), head);
    const opened = (length: number, ...marks: [number, number][]): ReturnType<typeof open> => {
      const padded = new Uint8Array(length);
      for (const [at, byte] of marks) padded[at] = byte;
      return open(keys, "b2a", 7, null, join(head, nonce, xchacha20poly1305(keys.envelope.b2a, nonce, authenticated).encrypt(padded)));
    };
    expect(opened(256, [10, 0x80])).toEqual({ is: "ok", sequence: 7, payload: new Uint8Array(10) });
    expect(opened(512, [3, 0x80])).toEqual({ is: "ok", sequence: 7, payload: new Uint8Array(3) });
    for (const [length, ...marks] of [[256], [256, [10, 1]], [256, [10, 0x80], [255, 1]], [256, [10, 0x80], [11, 0x40]]] as [number, ...[number, number][]][]) {
      expect(opened(length, ...marks)).toEqual({ is: "malformed" });
    }
  });

  it("takes 65,279 bytes and not one more", () => {
    const longest = seal(keys, "a2b", 1, new Uint8Array(65_279), seeded(1));
    expect(longest?.length).toBe(65_330);
    expect(open(keys, "a2b", 1, null, longest ?? new Uint8Array()).is).toBe("ok");
    expect(seal(keys, "a2b", 1, new Uint8Array(65_280), seeded(1))).toBeNull();
    expect([0, 1.5, 2 ** 53].map((sequence) => seal(keys, "a2b", sequence, new Uint8Array(), seeded(1)))).toEqual([null, null, null]);
  });

  it("is told from an older one by what was accepted", () => {
    expect([null, 6, 7, 8].map((after) => open(keys, "b2a", 7, after, sealed).is)).toEqual(["ok", "ok", "stale", "stale"]);
  });
});

describe("a payload", () => {
  const payload: Payload = { kind: "msg", id: "p6enp6enp6enp6enp6enpw", ack: { seq: 17, createdMs: 1_795_000_000_000 }, tsMs: 1_795_000_001_234, collapse: "tail:home", body: utf8("hello") };

  it("has the bytes of the specification", () => {
    const bytes = encodePayload(payload) ?? new Uint8Array();
    const header = '{"t":"msg","id":"p6enp6enp6enp6enp6enpw","ack":{"seq":17,"in":1795000000000},"ts":1795000001234,"k":"tail:home"}';
    expect(Buffer.from(bytes).toString("latin1")).toBe(`\0p${header}hello`);
    expect(decodePayload(bytes)).toEqual(payload);
  });

  it("of a kind that is not known is read, and what is none is not", () => {
    const of = (header: string): Payload | null => decodePayload(Uint8Array.of(0, header.length, ...utf8(header)));
    expect(of('{"t":"wave","id":"p6enp6enp6enp6enp6enpw","z":1}')?.kind).toBe("unknown");
    for (const header of ["", "7", "null", "[]", "{}", '{"t":"msg"}', '{"t":"msg","id":"AA"}', '{"t":7,"id":"p6enp6enp6enp6enp6enpw"}']) expect(of(header)).toBeNull();
    expect(decodePayload(Uint8Array.of())).toBeNull();
    expect(decodePayload(Uint8Array.of(0, 9, 1))).toBeNull();
    expect(encodePayload({ ...payload, collapse: "x".repeat(2_048) })).toBeNull();
  });
});

describe("base64url", () => {
  it("has one form for each value", () => {
    for (let length = 0; length < 40; length += 1) {
      const bytes = seeded(length + 1)(length);
      expect(fromBase64url(toBase64url(bytes))).toEqual(bytes);
    }
    expect(["A", "AA==", "A+", "A/", "ä"].map(fromBase64url)).toEqual([null, null, null, null, null]);
    expect(fixedFromBase64url("AB", 1)).toBeNull();
    expect(fixedFromBase64url("AA", 1)).toEqual(Uint8Array.of(0));
  });
});

describe("a code", () => {
  const good = "v=1&i=oKGio6SlpqeoqaqrrK2urw&k=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8&x=1795000300&n=Tom%27s%20B%C3%BCro+1";

  it("is read in any order, with more in it, and with its name", () => {
    expect(parseCode(`#${good}`)).toEqual({ linkId: LINK_ID, linkKey: LINK_KEY, expiresS: 1_795_000_300, desktop: "Tom's Büro+1" });
    expect(parseCode(good.split("&").reverse().concat("f=x", "n2=y").join("&"))).toEqual(parseCode(good));
    expect(parseCode(good.replace(/n=.*/, "n=%zz"))).toMatchObject({ desktop: "%zz" });
    expect(parseCode(good.replace(/&x=.*/, ""))).toMatchObject({ expiresS: null, desktop: "" });
  });

  it("names the part that is wrong", () => {
    expect(["", "#", "#/", "#x-callback", "k"].map(parseCode)).toEqual(["missing", "missing", "missing", "missing", "version"]);
    expect(parseCode(good.replace("v=1", "v=2"))).toBe("version");
    expect(parseCode(good.replace("i=oK", "i=o"))).toBe("id");
    expect(parseCode(good.replace("Hh8", "Hh9"))).toBe("key");
    expect(parseCode(`${good}&k=`)).toBe("repeated");
  });
});
