// How well a new passphrase holds, in words. A hint and no rule: how long it has to be at
// least is the app's to say.

export type Strength = "short" | "weak" | "fair" | "good";

export const strengthKeys: Record<Strength, string> = {
  short: "passphrase-strength-short",
  weak: "passphrase-strength-weak",
  fair: "passphrase-strength-fair",
  good: "passphrase-strength-good",
};

const SIGNS_MIN = 8;
/** Signs that don't repeat, from which on somebody who tries many takes long, and very long. */
const FAIR_MIN = 12;
const GOOD_MIN = 20;
/** A long one of few different signs is typed without thinking, and tried as such. */
const DIFFERENT_MIN = 6;

export function strengthOf(passphrase: string): Strength {
  const signs = [...passphrase];
  if (signs.length < SIGNS_MIN) return "short";
  if (new Set(signs).size < DIFFERENT_MIN) return "weak";
  // What repeats the sign before it, or counts on from it, adds nothing.
  const worth = signs.filter((sign, index) => {
    const step = (sign.codePointAt(0) ?? 0) - (signs[index - 1]?.codePointAt(0) ?? 0);
    return Math.abs(step) > 1;
  }).length;
  if (worth >= GOOD_MIN) return "good";
  return worth >= FAIR_MIN ? "fair" : "weak";
}
