// What a search found, cut into what is marked and what isn't. Pure.

import type { MatchRange } from "./bindings/MatchRange";

export interface ExcerptPiece {
  text: string;
  isMatch: boolean;
}

/** The excerpt in pieces; ranges that overlap, lie outside or run backwards are made fit. */
export function excerptPieces(snippet: string, matches: readonly MatchRange[]): ExcerptPiece[] {
  const pieces: ExcerptPiece[] = [];
  const push = (text: string, isMatch: boolean): void => {
    if (text !== "") pieces.push({ text, isMatch });
  };
  let done = 0;
  for (const { start, end } of [...matches].sort((one, other) => one.start - other.start)) {
    const from = Math.max(done, Math.min(start, snippet.length));
    const to = Math.max(from, Math.min(end, snippet.length));
    push(snippet.slice(done, from), false);
    push(snippet.slice(from, to), true);
    done = to;
  }
  push(snippet.slice(done), false);
  return pieces;
}
