// Names that others chose, made harmless for the screen. The engine cleans them too;
// this is the last line, so that no name can turn, hide or stretch what stands around it.

/** As the engine allows it; the window says so before it asks. */
export const GROUP_NAME_BYTES_MAX = 256;
const NAME_SIGNS_MAX = 64;
const MARKS_IN_A_ROW_MAX = 4;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\u2028\u2029\u3164\u115f\u1160\uffa0\u2800]/gu;
const TOO_MANY_MARKS = new RegExp(`(\\p{M}{${MARKS_IN_A_ROW_MAX}})\\p{M}+`, "gu");

/** The name without control, direction and invisible signs, and of bounded length. */
export function cleanName(raw: string, signsMax = NAME_SIGNS_MAX): string {
  const seen = raw.replace(UNSEEN, "").replace(TOO_MANY_MARKS, "$1").replace(/\s+/gu, " ").trim();
  const signs = [...seen];
  return signs.length > signsMax ? `${signs.slice(0, signsMax - 1).join("")}…` : seen;
}
