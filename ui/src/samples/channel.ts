// A stand-in for the app, for a browser and for tests: it answers every command from
// sample data and plays the other devices. The scene stands in the page's address:
// ?scene=first, ?scene=keychain:locked, ?scene=join … and ?lang=de.

import type { Channel } from "../api";
import type { AppError } from "../bindings/AppError";
import type { AppErrorCode } from "../bindings/AppErrorCode";
import type { AppView } from "../bindings/AppView";
import type { GroupView } from "../bindings/GroupView";
import type { HistoryPage } from "../bindings/HistoryPage";
import type { InvitationPreview } from "../bindings/InvitationPreview";
import type { IssuePage } from "../bindings/IssuePage";
import type { IssueView } from "../bindings/IssueView";
import type { LeavingWarning } from "../bindings/LeavingWarning";
import type { MessagePage } from "../bindings/MessagePage";
import type { MessageView } from "../bindings/MessageView";
import type { CommandName } from "../bindings/names";
import type { RelayTestStepName } from "../bindings/RelayTestStepName";
import type { SearchPage } from "../bindings/SearchPage";
import codeSvg from "./code.svg?raw";
import { messagesInEveryState, onRelay, sampleMessages } from "./messages";
import { pageOf, sampleHistory, sampleIssues, sampleSearch } from "./lists";
import { testStates } from "./relay_test";
import { group, joiningGroup, member, otherWords, relayOff, relayOn, sceneView, words } from "./view";

const LINK = `${relayOn.addresses[0] ?? ""}#tsp1_e06Qm75__kTEZaIgA31gjuNYl9Me-XLwf3SJLLD3PxOgmqX0emdZgC_5VfjcLSoUpcmdI76X-GQSf_k4NFWk8Lu7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7Y2K1ZA`;
/** The size of samples/code.svg without its border. */
const CODE_MODULES = 61;
const CODE_LIFE_MS = 10 * 60_000;

type Args = Record<string, unknown>;

export function sampleChannel(): Channel {
  const query = new URLSearchParams(location.search);
  const app = new SampleApp(query.get("scene") ?? "usual", query.get("lang") ?? "en", Number(query.get("size") ?? 10_000));
  // Tests and the console may play the other devices through it.
  Object.assign(window, { sampleApp: app });
  return app;
}

export class SampleApp implements Channel {
  view: AppView;
  readonly messages = new Map<string, MessageView[]>();
  readonly copied: string[] = [];
  /** Addresses that were opened outside of the window. */
  readonly opened: string[] = [];
  /** The groups that the window said it shows. */
  readonly shown: (string | null)[] = [];
  issues: IssueView[] = [];
  /** Commands that are refused, by name, until they are taken out. */
  readonly refused = new Map<string, AppError>();
  /** Where a test of a relay fails. */
  failingStep: RelayTestStepName | null = null;
  #runs = 0;
  /** What the sample code says, for those who read it off a screenshot. */
  readonly codeText = LINK;
  readonly codeModules = CODE_MODULES;
  readonly #handlers = new Map<string, (payload: unknown) => void>();
  readonly #commands: Record<CommandName, (args: Args) => unknown>;

  constructor(scene: string, language: string, readonly size = 10_000) {
    this.view = sceneView(scene, language);
    this.#fillMessages();
    this.#commands = this.#makeCommands();
  }

  async call(command: CommandName, args: object): Promise<unknown> {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const refusal = this.refused.get(command);
    if (refusal !== undefined) throw refusal;
    return structuredClone(this.#commands[command]({ ...args }));
  }

  listen(event: string, handler: (payload: unknown) => void): Promise<void> {
    this.#handlers.set(event, handler);
    return Promise.resolve();
  }

  /** Changes one group and tells the window. */
  change(id: string, change: Partial<GroupView>): void {
    this.view.groups = this.view.groups.map((one) => (one.id === id ? { ...one, ...change } : one));
    this.tell();
  }

  tell(): void {
    this.view = { ...this.view };
    this.#handlers.get("view")?.(structuredClone(this.view));
  }

  /** Another device writes `count` messages. */
  receive(id: string, text: string, count = 1): void {
    const rows = this.messages.get(id) ?? [];
    const from = (rows.at(-1)?.position ?? 0) + 1;
    const author = this.#group(id).members[0] ?? member("other", "Other");
    const fresh = Array.from({ length: count }, (_, index) => this.#row(from + index, author.id, author.name, count > 1 ? `${text} ${index + 1}` : text));
    this.messages.set(id, [...rows, ...fresh]);
    this.#handlers.get("messages")?.({ group: id, from });
    this.change(id, { unread: this.#group(id).unread + count, lastPosition: from + count - 1 });
  }

  /** Another device has used the code and asks to join. */
  request(id: string, name: string, shown: string[] = otherWords): void {
    const { pairing } = this.#group(id);
    if (pairing === null) return;
    const request = { id: `request-${pairing.requests.length}`, name, words: shown, looksLike: null };
    this.change(id, { pairing: { ...pairing, requests: [...pairing.requests, request] } });
  }

  /** Says or stops saying no to a command. */
  refuse(command: string, code: AppErrorCode | null, args: AppError["args"] = {}): void {
    if (code === null) this.refused.delete(command);
    else this.refused.set(command, { code, args });
  }

  #makeGroupCommands() {
    const end = (id: unknown, reason: GroupView["statusReason"]): void => this.change(String(id), { status: "notJoined", statusReason: reason });
    return {
      remove_member: ({ group: id, member: who }: Args) => this.change(String(id), { members: this.#group(String(id)).members.filter((one) => one.id !== who) }),
      leave_group: ({ group: id }: Args) => end(id, "left"),
      destroy_group: ({ group: id }: Args) => end(id, "destroyed"),
      leaving_warning: ({ group: id }: Args) => ({ newcomer: newcomerOf(this.#group(String(id))) }),
      forget_group: ({ group: id }: Args) => end(id, "left"),
      delete_group_history: ({ group: id }: Args) => this.#remove(String(id)),
      rename_group: ({ group: id, name }: Args) => this.change(String(id), { name: String(name) }),
      set_group_relay: ({ group: id }: Args) => this.change(String(id), { relayHost: "relay.example.net", relayIsHere: false }),
      membership_history: (args: Args) => this.#history(args),
      compare_code: () => ({ code: "27841 03392 71950 46618 90233 15507" }),
      retry_message: ({ group: id, id: message }: Args) => this.#retry(String(id), String(message)),
      delete_message: ({ group: id, position }: Args) => this.#delete(String(id), Number(position)),
      message_text: ({ group: id, position }: Args) => ({ text: this.messages.get(String(id))?.find((row) => row.position === position)?.text ?? "" }),
      save_draft: ({ group: id, text }: Args) => this.change(String(id), { draft: String(text) }),
      save_qr_image: () => ({ saved: true }),
      showing: ({ group: id }: Args) => void this.shown.push(id === null ? null : String(id)),
    };
  }

  #makeAppCommands() {
    return {
      ready: () => undefined,
      arrived: () => void (this.view.destination = null),
      delivery_issues: (args: Args): IssuePage => {
        const { items, next } = pageOf(this.issues, args["before"], args["limit"]);
        return { issues: items, next };
      },
      dismiss_issue: ({ group: id, issue }: Args) => this.#dismissIssue(String(id), Number(issue)),
      search: (args: Args): SearchPage => {
        const { items, next } = pageOf(sampleSearch(String(args["text"]), this.view.groups, this.messages), args["before"], args["limit"]);
        return { hits: items, next };
      },
      open_link: ({ url }: Args) => void this.opened.push(String(url)),
      test_relay: () => this.#testRelay(),
      relay_code: () => ({ address: relayOn.addresses[0] ?? "", qrSvg: codeSvg }),
      set_relay_ports: ({ receivePort, pushPort }: Args) => this.#set({ relay: { ...this.view.relay, receivePort: Number(receivePort), pushPort: Number(pushPort) } }),
      set_settings: (args: Args) => this.#set({ settings: { ...this.view.settings, ...args } }),
      change_passphrase: () => this.#set({ settings: { ...this.view.settings, keyStore: "passphrase" } }),
      remove_passphrase: () => this.#set({ settings: { ...this.view.settings, keyStore: "keychain" } }),
      lock: () => this.#set({ screen: "passphrase" }),
      mute: ({ untilMs }: Args) => this.#set({ settings: { ...this.view.settings, mutedUntilMs: untilMs === null ? null : Number(untilMs) } }),
      support_bundle: () => ({ text: supportText(this.view) }),
      save_support_bundle: () => ({ saved: true }),
      backup: () => ({ saved: true }),
      restore: () => undefined,
    };
  }

  #set(change: Partial<AppView>): void {
    this.view = { ...this.view, ...change };
    this.tell();
  }

  #history(args: Args): HistoryPage {
    const { items, next } = pageOf(sampleHistory(this.#group(String(args["group"])), Date.now()), args["before"], args["limit"]);
    return { entries: items, next };
  }

  #retry(id: string, messageId: string): void {
    const row = this.messages.get(id)?.find((one) => one.id === messageId);
    if (row?.delivery == null) throw error("message-unknown");
    const names = row.delivery.recipients.map(({ name }) => name);
    const waiting = { ...row, delivery: { ...row.delivery, state: "waiting" as const, reason: null, recipients: names.map((name) => ({ name, state: "waiting" as const, reason: null })) } };
    this.#replace(id, waiting);
    setTimeout(() => this.#settle(id, waiting, names), 400);
  }

  #replace(id: string, changed: MessageView): void {
    this.messages.set(id, (this.messages.get(id) ?? []).map((row) => (row.id === changed.id ? changed : row)));
    this.#handlers.get("messages")?.({ group: id, from: changed.position });
  }

  #delete(id: string, position: number): void {
    this.messages.set(id, (this.messages.get(id) ?? []).filter((row) => row.position !== position));
    this.#handlers.get("messages")?.({ group: id, from: position });
  }

  #dismissIssue(id: string, issue: number): void {
    this.issues = this.issues.filter((one) => one.group !== id || one.id !== issue);
    this.view.issueCount = this.issues.length;
    this.change(id, { issueCount: this.issues.length });
  }

  #testRelay(): { run: number } {
    const run = (this.#runs += 1);
    testStates(run, this.failingStep, "noAnswer").forEach((state, index) => {
      setTimeout(() => this.#handlers.get("relay-test")?.(state), 30 * (index + 1));
    });
    return { run };
  }

  #makeCommands(): Record<CommandName, (args: Args) => unknown> {
    return {
      view: () => this.view,
      start_group: (args) => this.#startGroup(args),
      read_invitation: ({ text }) => readInvitation(String(text)),
      read_invitation_image: ({ bytesBase64 }) => readImage(String(bytesBase64)),
      join_group: () => this.#joinGroup(),
      words_same: ({ group: id }) => this.change(String(id), { join: { words, confirmed: true, progress: "onRelay" } }),
      words_different: ({ group: id }) => this.#remove(String(id)),
      cancel_join: ({ group: id }) => this.#remove(String(id)),
      start_pairing: ({ group: id }) => this.#startPairing(String(id)),
      cancel_pairing: ({ group: id }) => this.change(String(id), { pairing: null, pairingClosed: "cancelled" }),
      accept_request: ({ group: id, request }) => this.#accept(String(id), String(request)),
      dismiss_request: ({ group: id, request }) => this.#dismiss(String(id), String(request)),
      send_message: ({ group: id, text }) => this.#send(String(id), String(text)),
      messages: (args) => this.#page(args),
      mark_read: ({ group: id, position }) => this.#markRead(String(id), Number(position)),
      set_relay_running: ({ on }) => this.#setRelay(on === true),
      try_keychain_again: () => this.#refuse(this.view.keychain?.kind ?? "missing"),
      choose_passphrase: ({ passphrase }) => this.#choosePassphrase(String(passphrase)),
      unlock: ({ passphrase }) => this.#unlock(String(passphrase)),
      copy_text: ({ text }) => void this.copied.push(String(text)),
      quit: () => undefined,
      ...this.#makeGroupCommands(),
      ...this.#makeAppCommands(),
    };
  }

  #group(id: string): GroupView {
    const found = this.view.groups.find((one) => one.id === id);
    if (found === undefined) throw error("group-unknown");
    return found;
  }

  #row(position: number, authorId: string, authorName: string, text: string): MessageView {
    const nowMs = Date.now();
    return { position, id: `made-${position}`, own: authorId === "me", authorId, authorName, text, sentAtMs: nowMs, storedAtMs: nowMs, delivery: null };
  }

  #startGroup(args: Args): { group: string } {
    this.view.deviceName = String(args["deviceName"]);
    const made = group(`group-${this.view.groups.length + 1}`, "", []);
    this.view = { ...this.view, screen: "ready", groups: [...this.view.groups, made], relay: { ...relayOn, waitingBlobs: 0, storedBytes: 0, devices: 1 } };
    this.tell();
    return { group: made.id };
  }

  #joinGroup(): { group: string } {
    this.view = { ...this.view, screen: "ready", groups: [...this.view.groups, joiningGroup(false)] };
    this.tell();
    return { group: "joining" };
  }

  #remove(id: string): void {
    const groups = this.view.groups.filter((one) => one.id !== id);
    this.view = { ...this.view, groups, screen: groups.length === 0 ? "firstStart" : "ready" };
    this.tell();
  }

  #startPairing(id: string): void {
    this.change(id, { pairingClosed: null, pairing: { link: LINK, qrSvg: codeSvg, expiresAtMs: Date.now() + CODE_LIFE_MS, requests: [] } });
  }

  #accept(id: string, requestId: string): void {
    const { pairing, members } = this.#group(id);
    const request = pairing?.requests.find((one) => one.id === requestId);
    if (request === undefined) throw error("request-unknown");
    this.change(id, { pairing: null, pairingClosed: "accepted", members: [...members, member(request.id, request.name)] });
  }

  #dismiss(id: string, requestId: string): void {
    const { pairing } = this.#group(id);
    if (pairing === null) throw error("pairing-closed");
    this.change(id, { pairing: { ...pairing, requests: pairing.requests.filter((one) => one.id !== requestId) } });
  }

  #send(id: string, text: string): { id: string } {
    const rows = this.messages.get(id) ?? [];
    const position = (rows.at(-1)?.position ?? 0) + 1;
    const names = this.#group(id).members.map(({ name }) => name);
    const sent = this.#row(position, "me", this.view.deviceName, text);
    const waiting = names.map((name) => ({ name, state: "waiting" as const, reason: null }));
    sent.delivery = { state: names.length === 0 ? "onRelay" : "waiting", onRelay: 0, total: names.length, keptUntilMs: null, reason: null, recipients: waiting };
    this.messages.set(id, [...rows, sent]);
    this.#handlers.get("messages")?.({ group: id, from: position });
    setTimeout(() => this.#settle(id, sent, names), 400);
    return { id: sent.id };
  }

  #settle(id: string, sent: MessageView, names: string[]): void {
    const rows = this.messages.get(id) ?? [];
    this.messages.set(id, rows.map((row) => (row.id === sent.id ? { ...row, delivery: onRelay(names, row.sentAtMs) } : row)));
    this.#handlers.get("messages")?.({ group: id, from: sent.position });
  }

  #page(args: Args): MessagePage {
    const rows = this.messages.get(String(args["group"])) ?? [];
    const before = typeof args["before"] === "number" ? args["before"] : Number.MAX_SAFE_INTEGER;
    const older = rows.filter((row) => row.position < before);
    const limit = Number(args["limit"]);
    return { messages: older.slice(-limit), more: older.length > limit };
  }

  #markRead(id: string, position: number): void {
    const rows = this.messages.get(id) ?? [];
    const unread = Math.min(this.#group(id).unread, rows.filter((row) => row.position > position && !row.own).length);
    if (unread !== this.#group(id).unread) this.change(id, { unread });
  }

  #setRelay(on: boolean): void {
    this.view.relay = on ? { ...relayOn, waitingBlobs: 0, storedBytes: 0 } : relayOff;
    this.tell();
  }

  #refuse(kind: string): never {
    throw error("keychain-unusable", { kind });
  }

  #choosePassphrase(passphrase: string): void {
    if ([...passphrase].length < 8) throw error("passphrase-too-short", { min: 8 });
    this.view = { ...this.view, screen: "firstStart", keychain: null, deviceName: "" };
    this.tell();
  }

  #unlock(passphrase: string): void {
    if (passphrase !== "correct horse") throw error("passphrase-wrong");
    this.view = sceneView("usual", this.view.language);
    this.tell();
  }

  #fillMessages(): void {
    const nowMs = Date.now();
    const counts: Record<string, number> = { devices: 40, destroyed: 9, family: 60, full: 1600, leaving: 8, left: 12, many: this.size, removed: 12 };
    for (const one of this.view.groups) {
      const rows = one.id === "states"
        ? messagesInEveryState({ id: "me", name: "Laptop" }, one.members, nowMs)
        : sampleMessages(counts[one.id] ?? 0, { id: "me", name: "Laptop" }, one.members, nowMs);
      this.messages.set(one.id, rows);
      one.lastPosition = rows.at(-1)?.position ?? 0;
      one.readPosition = readBefore(rows, one.unread);
      if (one.issueCount > 0) this.issues = sampleIssues(one, nowMs);
    }
  }
}

/** The member that came within the last minutes. */
function newcomerOf({ members }: GroupView): LeavingWarning["newcomer"] {
  const recent = members.find(({ addedAtMs }) => addedAtMs !== null && Date.now() - addedAtMs < 600_000);
  return recent === undefined ? null : { name: recent.name, isMe: false, untilMs: Date.now() + 540_000 };
}

/** The position before the `unread` newest messages of others. */
function readBefore(rows: MessageView[], unread: number): number {
  const others = rows.filter((row) => !row.own);
  const first = others[others.length - unread];
  return unread === 0 || first === undefined ? (unread === 0 ? (rows.at(-1)?.position ?? 0) : 0) : first.position - 1;
}

function supportText(view: AppView): string {
  const lines = [
    `Sealpost ${view.versions.app}, Transport ${view.versions.transport}, End-to-End ${view.versions.endToEnd}`,
    "system: Linux 6.12, x86_64", `tray: ${view.settings.trayPresent}`, `keys: ${view.settings.keyStore}`, `groups: ${view.groups.length}`,
    ...view.groups.map((one, index) => `group ${index + 1}: ${one.status}, ${one.connection.state}, members ${one.members.length + 1}, issues ${one.issueCount}`),
    `relay: ${view.relay.state}, blobs ${view.relay.waitingBlobs}`,
    ...Array.from({ length: 40 }, (_, index) => `12:${10 + index}:07 INFO conn=${index} opened`),
  ];
  return lines.join("\n");
}

function readInvitation(raw: string): InvitationPreview {
  const text = raw.replace(/[\s<>"]/g, "");
  if (text === "") throw error("invitation-invalid", { part: "empty" });
  if (text.startsWith("tsp1_")) return { relayHost: null, relayText: null, needsRelay: true };
  if (!text.toLowerCase().startsWith("trueseal://")) throw error("invitation-invalid", { part: "scheme" });
  const [address = "", token] = text.split("#");
  if (token === undefined || !token.startsWith("tsp1_")) throw error("invitation-invalid", { part: "token" });
  const host = /@([^:/?]+)/.exec(address)?.[1];
  if (host === undefined) throw error("invitation-invalid", { part: "host" });
  return { relayHost: host, relayText: address, needsRelay: false, relayWords: "38ab 664b d86f 77d7" };
}

function readImage(bytesBase64: string): { text: string } {
  if (bytesBase64.length < 200) throw error("image-holds-no-code");
  return { text: LINK };
}

function error(code: AppError["code"], args: AppError["args"] = {}): AppError {
  return { code, args };
}
