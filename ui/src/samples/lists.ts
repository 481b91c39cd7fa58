// Sample lists beside the messages: who came and went, delivery issues, what a search finds.

import type { GroupView } from "../bindings/GroupView";
import type { HistoryEntry } from "../bindings/HistoryEntry";
import type { HistoryKind } from "../bindings/HistoryKind";
import type { IssueAction } from "../bindings/IssueAction";
import type { IssueView } from "../bindings/IssueView";
import type { MessageView } from "../bindings/MessageView";
import type { SearchHit } from "../bindings/SearchHit";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SNIPPET_SIGNS = 120;

export interface Page<Item> {
  items: Item[];
  next: number | null;
}

/** The part of a list after `before`, which is the number of items to pass over. */
export function pageOf<Item>(all: Item[], before: unknown, limit: unknown): Page<Item> {
  const from = typeof before === "number" ? before : 0;
  const to = from + Number(limit);
  return { items: all.slice(from, to), next: to < all.length ? to : null };
}

export function sampleHistory(group: GroupView, nowMs: number): HistoryEntry[] {
  const made = (kind: HistoryKind, who: string, by: string, daysAgo: number): HistoryEntry => ({
    atMs: nowMs - daysAgo * DAY_MS, version: 12, kind, who, whoIsMe: who === "me", by, byIsMe: by === "me",
  });
  const others = group.members.map(({ name }) => name);
  const [first = "Pixel 9", second = "Desktop"] = others;
  const over: HistoryEntry[] = group.statusReason === "removed" ? [made("removed", "me", first, 0.1)] : group.statusReason === "destroyed" ? [made("destroyed", "", first, 0.1)] : [];
  return [
    ...over,
    made("removed", "Old phone", "me", 1),
    made("left", "Tablet", "", 2),
    made("renamed", second, "", 9),
    ...others.map((name, index) => made("added", name, index % 2 === 0 ? "me" : first, 20 + index)),
    made("added", "Old phone", "", 60),
    made("created", "", "me", 61),
  ];
}

const issues: [string, IssueAction, string | null][] = [
  ["deviceCopied", "dismiss", null],
  ["sendFailed.tooLarge", "copyText", "The whole manual of the washing machine, typed off by hand …"],
  ["sendFailed.expired", "retry", "Are you coming to the allotment on Sunday?"],
  ["heldForUpgrade", "update", null],
  ["unauthorized", "dismiss", null],
  ["unreadable.malformed", "dismiss", null],
  ["unreadable.expired", "dismiss", null],
  ["storeRepaired", "dismiss", null],
  ["storeRestored", "dismiss", null],
  ["storeReset", "dismiss", null],
  ["awayTooLong", "dismiss", null],
  ["handlerGaveUp", "dismiss", null],
  ["idReused", "dismiss", null],
  ["sendFailed.malformed", "retry", "مرحبا، هل وصلت الرسالة؟"],
  ["unreadable.senderOutdated", "update", null],
  ["unreadable.droppedWhileHeld", "update", null],
  ["ofTheFuture", "dismiss", null],
];

export function sampleIssues(group: GroupView, nowMs: number): IssueView[] {
  return issues.map(([code, action, text], index) => ({
    group: group.id,
    groupName: group.name,
    id: index + 1,
    code,
    args: code === "awayTooLong" ? { missingFrom: nowMs - 64 * DAY_MS, missingUntil: nowMs - 33 * DAY_MS } : {},
    atMs: nowMs - (index + 1) * 7 * HOUR_MS,
    messageId: text === null ? null : `state-${index + 3}`,
    position: text === null ? null : 4,
    text,
    action,
  }));
}

/** Plain substrings, as the real search finds them too; case doesn't count. */
export function sampleSearch(text: string, groups: GroupView[], messages: Map<string, MessageView[]>): SearchHit[] {
  const wanted = text.normalize("NFC").toLowerCase();
  return groups
    .flatMap((group) => (messages.get(group.id) ?? []).flatMap((row) => hitOf(group, row, wanted)))
    .sort((one, other) => other.atMs - one.atMs);
}

function hitOf(group: GroupView, row: MessageView, wanted: string): SearchHit[] {
  const at = (row.text ?? "").toLowerCase().indexOf(wanted);
  if (at === -1) return [];
  const from = Math.max(0, at - 30);
  const snippet = (row.text ?? "").slice(from, from + SNIPPET_SIGNS);
  return [{
    group: group.id,
    groupName: group.name,
    position: row.position,
    authorName: row.authorName,
    own: row.own,
    snippet,
    matches: [{ start: at - from, end: at - from + wanted.length }],
    atMs: row.storedAtMs,
  }];
}
