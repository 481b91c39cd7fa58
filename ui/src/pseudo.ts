// Made-up languages for tests: one that is longer and full of accents, so that a text that
// escaped the catalogue or has no room shows, and one that runs from right to left.

const ACCENTS: Record<string, string> = {
  a: "á", c: "ç", e: "ë", i: "î", n: "ñ", o: "ö", s: "š", u: "û", y: "ý",
  A: "Å", C: "Ç", E: "É", I: "Ï", N: "Ñ", O: "Ø", S: "Š", U: "Ü", Y: "Ÿ",
};
const RIGHT_TO_LEFT_BEGIN = "\u202e";
const RIGHT_TO_LEFT_END = "\u202c";

/** Accented, in brackets, and a third longer, as many languages are. */
export function accented(text: string): string {
  if (!/\p{L}/u.test(text)) return text;
  const letters = [...text].map((letter) => ACCENTS[letter] ?? letter).join("");
  return `${letters}${"·".repeat(Math.ceil(letters.trim().length / 3))}`;
}

/** Letters that run from right to left, word by word. */
export function mirrored(text: string): string {
  return text.replace(/\S+/gu, (word) => `${RIGHT_TO_LEFT_BEGIN}${word}${RIGHT_TO_LEFT_END}`);
}
