// The sample app's commands of messages, delivery issues and the search.

import type { IssuePage } from "../bindings/IssuePage";
import type { MessagePage } from "../bindings/MessagePage";
import type { MessageView } from "../bindings/MessageView";
import type { SearchPage } from "../bindings/SearchPage";
import { type Args, refusal, type SampleState } from "./app";
import { pageOf, sampleSearch } from "./lists";
import { onRelay } from "./messages";

const ON_RELAY_AFTER_MS = 400;

export function messageCommands(app: SampleState) {
  return {
    send_message: ({ group: id, text }: Args) => send(app, String(id), String(text)),
    messages: (args: Args) => page(app, args),
    mark_read: ({ group: id, position }: Args) => {
      const left = app.rows(id).filter((row) => row.position > Number(position) && !row.own).length;
      const unread = Math.min(app.group(id).unread, left);
      if (unread !== app.group(id).unread) app.change(String(id), { unread, readPosition: Number(position) });
    },
    retry_message: ({ group: id, id: message }: Args) => retry(app, String(id), message),
    delete_message: ({ group: id, position }: Args) => {
      app.messages.set(String(id), app.rows(id).filter((row) => row.position !== position));
      app.emit("messages", { group: id, from: position });
    },
    message_text: ({ group: id, position }: Args) => ({ text: app.rows(id).find((row) => row.position === position)?.text ?? "" }),
    save_draft: ({ group: id, text }: Args) => app.change(String(id), { draft: String(text) }),
    showing: ({ group: id, issues }: Args) => {
      app.shown.push(id === null ? null : String(id));
      app.showsIssues = issues === true;
    },
    used: () => undefined,
    copy_text: ({ text }: Args) => void app.copied.push(String(text)),
    open_link: ({ url }: Args) => void app.opened.push(String(url)),
    delivery_issues: ({ before, limit }: Args): IssuePage => {
      const { items, next } = pageOf(app.issues, before, limit);
      return { issues: items, next };
    },
    dismiss_issue: ({ group: id, issue }: Args) => {
      app.issues = app.issues.filter((one) => one.group !== id || one.id !== issue);
      app.view.issueCount = app.issues.length;
      app.change(String(id), { issueCount: app.issues.length });
    },
    search: ({ text, before, limit }: Args): SearchPage => {
      const { items, next } = pageOf(sampleSearch(String(text), app.view.groups, app.messages), before, limit);
      return { hits: items, next };
    },
  };
}

function send(app: SampleState, id: string, text: string): { id: string } {
  const rows = app.rows(id);
  const position = (rows.at(-1)?.position ?? 0) + 1;
  const names = app.group(id).members.map(({ name }) => name);
  const sent = app.newRow(position, "me", app.view.deviceName, text);
  const recipients = names.map((name) => ({ name, state: "waiting" as const, reason: null }));
  sent.delivery = { state: names.length === 0 ? "onRelay" : "waiting", onRelay: 0, total: names.length, keptUntilMs: null, reason: null, recipients };
  app.messages.set(id, [...rows, sent]);
  app.emit("messages", { group: id, from: position });
  setTimeout(() => replace(app, id, { ...sent, delivery: onRelay(names, sent.sentAtMs) }), ON_RELAY_AFTER_MS);
  return { id: sent.id };
}

function retry(app: SampleState, id: string, message: unknown): void {
  const row = app.rows(id).find((one) => one.id === message);
  if (row?.delivery == null) throw refusal("message-unknown");
  const names = row.delivery.recipients.map(({ name }) => name);
  const recipients = names.map((name) => ({ name, state: "waiting" as const, reason: null }));
  replace(app, id, { ...row, delivery: { ...row.delivery, state: "waiting", reason: null, recipients } });
  setTimeout(() => replace(app, id, { ...row, delivery: onRelay(names, row.sentAtMs) }), ON_RELAY_AFTER_MS);
}

function replace(app: SampleState, id: string, changed: MessageView): void {
  app.messages.set(id, app.rows(id).map((row) => (row.id === changed.id ? changed : row)));
  app.emit("messages", { group: id, from: changed.position });
}

function page(app: SampleState, { group: id, before, limit }: Args): MessagePage {
  const end = typeof before === "number" ? before : Number.MAX_SAFE_INTEGER;
  const older = app.rows(id).filter((row) => row.position < end);
  return { messages: older.slice(-Number(limit)), more: older.length > Number(limit) };
}
