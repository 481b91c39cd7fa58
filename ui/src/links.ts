// Addresses within a message that may be opened: http and https only. Whatever else looks
// like an address stays text. Pure; nothing is ever opened from here.

export interface TextPiece {
  text: string;
  /** Where it leads, for a link; null for text. */
  url: string | null;
}

const CANDIDATE = /\bhttps?:\/\/[^\s<>"“”„«»\u2066-\u2069\u202a-\u202e]+/giu;
/** Signs that belong to the sentence when they end an address. */
const SENTENCE_END = /[.,;:!?'’…\]}*_~，。；：！？、）」』]+$/u;
const URL_SIGNS_MAX = 2048;

/** The line in pieces, in order and without a loss. */
export function linkPieces(line: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let done = 0;
  for (const { 0: found, index } of line.matchAll(CANDIDATE)) {
    const text = withoutSentenceEnd(found);
    const url = readLink(text);
    if (url === null) continue;
    if (index > done) pieces.push({ text: line.slice(done, index), url: null });
    pieces.push({ text, url });
    done = index + text.length;
  }
  if (done < line.length) pieces.push({ text: line.slice(done), url: null });
  return pieces;
}

/** The address in the form in which it is opened; null where it must not be. */
export function readLink(text: string): string | null {
  if (text.length > URL_SIGNS_MAX || !URL.canParse(text)) return null;
  const { protocol, hostname, username, password, href } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return null;
  // A name before an @ only serves to make another host look familiar.
  return hostname === "" || username !== "" || password !== "" ? null : href;
}

/** Full stops and the like go back to the sentence; a closing bracket if none was opened. */
function withoutSentenceEnd(found: string): string {
  let text = found;
  for (;;) {
    const shorter = text.replace(SENTENCE_END, "");
    const opened = count(shorter, "(");
    const next = shorter.endsWith(")") && count(shorter, ")") > opened ? shorter.slice(0, -1) : shorter;
    if (next === text) return text;
    text = next;
  }
}

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
}
