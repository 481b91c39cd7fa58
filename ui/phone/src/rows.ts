// The rows of a conversation on the phone: what the desktop has told, and at the end what was
// written here and isn't among it yet. Pure.

import type { MessageView } from "../../src/bindings/MessageView";
import { buildRows, type Row } from "../../src/list/rows";
import { startOfDay } from "../../src/text";
import type { KeptMessage } from "./history";
import type { ListRow } from "./list";
import type { OwnText } from "./shell/delivered";

/** A message of the desktop or a text of this phone, with what stands above it. */
export interface ConversationRow extends ListRow, Row {
  kept: KeptMessage | null;
  own: OwnText | null;
}

export function buildConversation(messages: readonly KeptMessage[], texts: readonly OwnText[], firstNew: number | null): ConversationRow[] {
  const known = new Map(messages.map((message) => [message.id, message]));
  const waiting = new Map(texts.filter(({ id }) => !known.has(id)).map((text) => [text.id, text]));
  const last = messages.at(-1)?.position ?? 0;
  const views = [...messages.map(ofMessage), ...[...waiting.values()].map((text, index) => ofText(text, last + index + 1))];
  return buildRows(views, firstNew, startOfDay).map((row) => {
    const kept = known.get(row.message.id) ?? null;
    const own = waiting.get(row.message.id) ?? null;
    const state = JSON.stringify([row.isFirstNew, row.isFirstOfRun, row.dayMs, kept, own?.state, own?.reason]);
    return { ...row, id: row.message.id, state, guessPx: guessHeight(row), kept, own };
  });
}

function guessHeight({ message: { text }, isFirstOfRun, dayMs }: Row): number {
  const signs = text ?? "";
  const lines = Math.min(24, Math.ceil(signs.length / 36) + signs.split("\n", 24).length - 1);
  return 46 + Math.max(1, lines) * 24 + (isFirstOfRun ? 30 : 0) + (dayMs === null ? 0 : 48);
}

function ofMessage(message: KeptMessage): MessageView {
  const { position, id, own, author, text, at, via } = message;
  return { position, id, own, authorId: own ? "" : author, authorName: author, text, sentAtMs: at, storedAtMs: at, via, delivery: null };
}

function ofText({ id, text, atMs }: OwnText, position: number): MessageView {
  return { position, id, own: true, authorId: "", authorName: "", text, sentAtMs: atMs, storedAtMs: atMs, via: null, delivery: null };
}
