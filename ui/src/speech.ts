// What of a group's messages is spoken: the new ones of others, and own ones that failed.
// Each once; a flood in one sentence. Pure.

import type { MessageView } from "./bindings/MessageView";
import { cleanName } from "./names";
import { t } from "./text";

const SPOKEN_SIGNS = 200;
const SPOKEN_AT_ONCE = 3;

export interface Spoken {
  spoken: string;
  /** Where what came in begins; null when nothing did. */
  firstFresh: number | null;
}

export class MessageSpeech {
  #newest = 0;
  #failed = new Set<string>();

  /** Takes what is there at the beginning, which is not spoken. */
  begin(rows: readonly MessageView[], newer: boolean): void {
    this.#newest = newer ? Number.MAX_SAFE_INTEGER : (rows.at(-1)?.position ?? 0);
    this.#failed = new Set(rows.filter(isFailed).map(({ id }) => id));
  }

  /** What has come since the last look. `newer`: the rows end before the newest message. */
  take(rows: readonly MessageView[], newer: boolean): Spoken {
    const failed = rows.filter((row) => isFailed(row) && !this.#failed.has(row.id));
    for (const row of failed) this.#failed.add(row.id);
    // A message that was sent again may fail again.
    for (const row of rows) if (!isFailed(row)) this.#failed.delete(row.id);
    const fresh = newer ? [] : rows.filter((row) => row.position > this.#newest && !row.own);
    // Back at the end after a jump: what came meanwhile was never seen as new here.
    if (!newer) this.#newest = rows.at(-1)?.position ?? 0;
    const lines = [...failed.map((row) => t("message-failed-spoken", { text: (row.text ?? "").slice(0, SPOKEN_SIGNS) }))];
    if (fresh.length > SPOKEN_AT_ONCE) lines.push(t("messages-spoken", { count: fresh.length }));
    else lines.push(...fresh.map(sentence));
    return { spoken: lines.join("\n"), firstFresh: fresh[0]?.position ?? null };
  }
}

function isFailed(row: MessageView): boolean {
  return row.delivery?.state === "failed";
}

function authorOf({ authorName, via }: MessageView): string {
  const name = cleanName(authorName);
  return via === null ? name : `${name} · ${t("message-via", { phone: cleanName(via) })}`;
}

function sentence(message: MessageView): string {
  const text = message.text ?? t("message-unknown");
  return t("message-spoken", { name: authorOf(message), text: text.slice(0, SPOKEN_SIGNS) });
}
