// A line of a group's membership history, in one sentence.

import type { HistoryEntry } from "./bindings/HistoryEntry";
import type { HistoryKind } from "./bindings/HistoryKind";
import { cleanName } from "./names";
import { t } from "./text";

const kindKeys: Record<HistoryKind, string> = {
  added: "history-added",
  created: "history-created",
  destroyed: "history-destroyed",
  joined: "history-joined",
  left: "history-left",
  removed: "history-removed",
  renamed: "history-renamed",
};

/** Which form of the sentence is meant: another device, this one, or nobody known. */
function form(name: string, isMe: boolean): string {
  if (isMe) return "me";
  return name === "" ? "none" : "other";
}

export function historySentence(entry: HistoryEntry): string {
  const who = cleanName(entry.who);
  const by = cleanName(entry.by);
  return t(kindKeys[entry.kind], { who, by, whom: form(who, entry.whoIsMe), actor: form(by, entry.byIsMe) });
}
