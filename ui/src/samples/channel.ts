// A stand-in for the app, for a browser and for tests: it answers every command from
// sample data and plays the other devices. The scene stands in the page's address:
// ?scene=first, ?scene=keychain:locked, ?scene=join … and ?lang=de.

import type { Channel } from "../api";
import type { AppError } from "../bindings/AppError";
import type { AppView } from "../bindings/AppView";
import type { GroupView } from "../bindings/GroupView";
import type { InvitationPreview } from "../bindings/InvitationPreview";
import type { MessagePage } from "../bindings/MessagePage";
import type { MessageView } from "../bindings/MessageView";
import type { CommandName } from "../bindings/names";
import codeSvg from "./code.svg?raw";
import { messagesInEveryState, onRelay, sampleMessages } from "./messages";
import { group, joiningGroup, member, otherWords, relayOff, relayOn, sceneView, words } from "./view";

const LINK = `${relayOn.addresses[0] ?? ""}#tsp1_e06Qm75__kTEZaIgA31gjuNYl9Me-XLwf3SJLLD3PxOgmqX0emdZgC_5VfjcLSoUpcmdI76X-GQSf_k4NFWk8Lu7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7Y2K1ZA`;
/** The size of samples/code.svg without its border. */
const CODE_MODULES = 61;
const CODE_LIFE_MS = 10 * 60_000;

type Args = Record<string, unknown>;

export function sampleChannel(): Channel {
  const query = new URLSearchParams(location.search);
  const app = new SampleApp(query.get("scene") ?? "usual", query.get("lang") ?? "en");
  // Tests and the console may play the other devices through it.
  Object.assign(window, { sampleApp: app });
  return app;
}

export class SampleApp implements Channel {
  view: AppView;
  readonly messages = new Map<string, MessageView[]>();
  readonly copied: string[] = [];
  /** What the sample code says, for those who read it off a screenshot. */
  readonly codeText = LINK;
  readonly codeModules = CODE_MODULES;
  readonly #handlers = new Map<string, (payload: unknown) => void>();
  readonly #commands: Record<CommandName, (args: Args) => unknown>;

  constructor(scene: string, language: string) {
    this.view = sceneView(scene, language);
    this.#fillMessages();
    this.#commands = this.#makeCommands();
  }

  async call(command: CommandName, args: object): Promise<unknown> {
    await new Promise((resolve) => setTimeout(resolve, 5));
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
    const request = { id: `request-${pairing.requests.length}`, name, words: shown };
    this.change(id, { pairing: { ...pairing, requests: [...pairing.requests, request] } });
  }

  #makeCommands(): Record<CommandName, (args: Args) => unknown> {
    return {
      view: () => this.view,
      start_group: (args) => this.#startGroup(args),
      read_invitation: ({ text }) => readInvitation(String(text)),
      read_invitation_image: ({ bytesBase64 }) => readImage(String(bytesBase64)),
      join_group: () => this.#joinGroup(),
      words_same: ({ group: id }) => this.change(String(id), { join: { words, confirmed: true } }),
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
    const counts: Record<string, number> = { devices: 40, family: 60, full: 600, left: 12, many: 10_000 };
    for (const one of this.view.groups) {
      const rows = one.id === "states"
        ? messagesInEveryState({ id: "me", name: "Laptop" }, one.members, nowMs)
        : sampleMessages(counts[one.id] ?? 0, { id: "me", name: "Laptop" }, one.members, nowMs);
      this.messages.set(one.id, rows);
      one.lastPosition = rows.at(-1)?.position ?? 0;
    }
  }
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
