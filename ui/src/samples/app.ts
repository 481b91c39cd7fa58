// The state of the sample app, and what the other devices do to it. Its commands stand in
// the files beside it.

import type { AppError } from "../bindings/AppError";
import type { AppErrorCode } from "../bindings/AppErrorCode";
import type { AppView } from "../bindings/AppView";
import type { GroupView } from "../bindings/GroupView";
import type { IssueView } from "../bindings/IssueView";
import type { MessageView } from "../bindings/MessageView";
import type { EventName } from "../bindings/names";
import type { RelayTestStepName } from "../bindings/RelayTestStepName";
import { sampleIssues } from "./lists";
import { messagesInEveryState, sampleMessages } from "./messages";
import { member, otherWords, sceneView } from "./view";

export type Args = Record<string, unknown>;

export class SampleState {
  view: AppView;
  readonly messages = new Map<string, MessageView[]>();
  readonly copied: string[] = [];
  /** Addresses that were opened outside of the window. */
  readonly opened: string[] = [];
  /** The groups that the window said it shows. */
  readonly shown: (string | null)[] = [];
  /** Whether the window said that it shows the delivery issues. */
  showsIssues = false;
  issues: IssueView[] = [];
  /** Commands that are refused, by name, until they are taken out. */
  readonly refused = new Map<string, AppError>();
  /** The backup that the person chooses. */
  backupName: string | null = "sealpost.sealpost-backup";
  /** How many groups a backup has to leave out. */
  leftOut = 0;
  /** Of how many groups an export can't read all. */
  damaged = 0;
  /** Whether a backup, a restore or an export stays in the midst of it. */
  isWorkHeld = false;
  isCancelled = false;
  /** Where a test of a relay fails. */
  failingStep: RelayTestStepName | null = null;
  readonly #size: number;
  readonly #handlers = new Map<string, (payload: unknown) => void>();

  /** `size`: how many messages the largest group has. */
  constructor(scene: string, language: string, size: number) {
    this.view = sceneView(scene, language);
    this.#size = size;
    this.#fillMessages();
  }

  listen(event: EventName, handler: (payload: unknown) => void): Promise<void> {
    this.#handlers.set(event, handler);
    return Promise.resolve();
  }

  emit(event: EventName, payload: unknown): void {
    this.#handlers.get(event)?.(structuredClone(payload));
  }

  tell(): void {
    this.view = { ...this.view };
    this.emit("view", this.view);
  }

  set(change: Partial<AppView>): void {
    this.view = { ...this.view, ...change };
    this.tell();
  }

  /** Changes one group and tells the window. */
  change(id: string, change: Partial<GroupView>): void {
    this.set({ groups: this.view.groups.map((one) => (one.id === id ? { ...one, ...change } : one)) });
  }

  group(id: unknown): GroupView {
    const found = this.view.groups.find((one) => one.id === id);
    if (found === undefined) throw refusal("group-unknown");
    return found;
  }

  rows(id: unknown): MessageView[] {
    return this.messages.get(String(id)) ?? [];
  }

  /** Takes a group off the list. */
  remove(id: unknown): void {
    const groups = this.view.groups.filter((one) => one.id !== id);
    this.set({ groups, screen: groups.length === 0 ? "firstStart" : "ready" });
  }

  newRow(position: number, authorId: string, authorName: string, text: string): MessageView {
    const nowMs = Date.now();
    return { position, id: `made-${position}`, own: authorId === "me", authorId, authorName, via: null, text, sentAtMs: nowMs, storedAtMs: nowMs, delivery: null };
  }

  /** Another device writes `count` messages. */
  receive(id: string, text: string, count = 1): void {
    const rows = this.rows(id);
    const from = (rows.at(-1)?.position ?? 0) + 1;
    const author = this.group(id).members[0] ?? member("other", "Other");
    const fresh = Array.from({ length: count }, (_, index) => this.newRow(from + index, author.id, author.name, count > 1 ? `${text} ${index + 1}` : text));
    this.messages.set(id, [...rows, ...fresh]);
    this.emit("messages", { group: id, from });
    this.change(id, { unread: this.group(id).unread + count, lastPosition: from + count - 1 });
  }

  /** Another device has used the code and asks to join. */
  request(id: string, name: string, shown: string[] = otherWords): void {
    const { pairing } = this.group(id);
    if (pairing === null) return;
    const request = { id: `request-${pairing.requests.length}`, name, words: shown, looksLike: null };
    this.change(id, { pairing: { ...pairing, requests: [...pairing.requests, request] } });
  }

  /** Says no to a command from now on, or no longer. */
  refuse(command: string, code: AppErrorCode | null, args: AppError["args"] = {}): void {
    if (code === null) this.refused.delete(command);
    else this.refused.set(command, refusal(code, args));
  }

  #fillMessages(): void {
    const nowMs = Date.now();
    const me = { id: "me", name: "Laptop" };
    const counts: Record<string, number> = { devices: 40, destroyed: 9, family: 60, full: 1600, leaving: 8, left: 12, many: this.#size, removed: 12 };
    for (const one of this.view.groups) {
      const rows = one.id === "states" ? messagesInEveryState(me, one.members, nowMs) : sampleMessages(counts[one.id] ?? 0, me, one.members, nowMs);
      this.messages.set(one.id, rows);
      one.lastPosition = rows.at(-1)?.position ?? 0;
      one.readPosition = readBefore(rows, one.unread);
      if (one.issueCount > 0) this.issues = sampleIssues(one, nowMs).slice(0, one.issueCount);
    }
  }
}

export function refusal(code: AppErrorCode, args: AppError["args"] = {}): AppError {
  return { code, args };
}

/** The position before the `unread` newest messages of others. */
function readBefore(rows: MessageView[], unread: number): number {
  if (unread === 0) return rows.at(-1)?.position ?? 0;
  const others = rows.filter((row) => !row.own);
  return Math.max(0, (others[others.length - unread]?.position ?? 1) - 1);
}
