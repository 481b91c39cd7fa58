// What the page shows: the stored data as it was last read, the link's state, and where the
// person is. Owns navigation and what is asked of the client; nothing here is durable.

import { type CodeFault, parseCode, type PairingCode } from "./link/code";
import type { Groups } from "./feed";
import type { KeptMessage } from "./history";
import { HttpTransport } from "./shell/http";
import { PhoneClient } from "./shell/client";
import type { OwnText } from "./shell/delivered";
import { type Farewell, PhoneStore } from "./shell/store";
import { Tabs } from "./shell/tabs";
import { EMPTY_VIEW, type PhoneView } from "./shell/view";

export type Stage = "opening" | "ready" | "noStorage" | "broken";
export type Place = { is: "groups" } | { is: "group"; group: string } | { is: "phone" };

/** Randomness of the system: the one source of it. */
const random = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
const VIBRATION_MS = 40;

export class Phone {
  /** Called after everything that changes what is shown; several changes may come as one. */
  onchange: () => void = () => {};
  stage: Stage = "opening";
  view: PhoneView = EMPTY_VIEW;
  place: Place = { is: "groups" };
  groups: Groups | null = null;
  texts: OwnText[] = [];
  farewell: Farewell | null = null;
  messages: KeptMessage[] = [];
  /** The newest message of each group. */
  newest: ReadonlyMap<string, KeptMessage> = new Map();
  /** What was read here, by group; the desktop is told too. */
  read: ReadonlyMap<string, number> = new Map();
  codeFault: CodeFault | null = null;
  /** A code that was scanned although there is a link. */
  offered: PairingCode | null = null;
  /** Whom the stored link is with; null without one. */
  linkedWith: string | null = null;
  /** A link that was made in this window is greeted once. */
  isWelcome = false;
  isOnline = true;
  /** A code was taken, and what comes of it isn't known yet. */
  isBeginning = false;
  /** Whose messages those are. */
  messagesOf: string | null = null;
  readonly relay = location.host;
  #store: PhoneStore | null = null;
  #client: PhoneClient | null = null;
  #asked = new Set<string>();
  #isReading = false;
  #isStale = false;

  async open(fragment: string, phone: { name: string; platform: string }): Promise<void> {
    try {
      this.#store = await PhoneStore.open();
    } catch {
      this.#update({ stage: "noStorage" });
      return;
    }
    const tabs = new Tabs(Array.from(random(8), (byte) => byte.toString(16)).join(""), box());
    const transport = new HttpTransport(new URL("v1/", location.href));
    const client = new PhoneClient(this.#store, transport, tabs, random, () => Date.now(), () => performance.now());
    this.#client = client;
    client.onview = (view) => this.#handleView(view);
    client.ondata = () => void this.#read();
    client.onbroken = () => this.#update({ stage: "broken" });
    if (fragment !== "") await this.take(fragment, phone);
    tabs.start();
    await this.#read();
    this.#listen(client);
    if (this.stage === "opening") this.#update({ stage: "ready" });
  }

  /** Takes the code that a fragment holds. */
  async take(fragment: string, phone: { name: string; platform: string }): Promise<void> {
    if (this.#store === null) return;
    const code = parseCode(fragment);
    this.#update({ codeFault: null, offered: null });
    try {
      if (typeof code === "string") this.#update({ codeFault: code });
      else if ((await this.#store.linkedWith()) !== null) this.#update({ offered: code });
      else await this.#pair(code, phone);
    } catch {
      this.#update({ stage: "broken" });
    }
  }

  async #pair(code: PairingCode, phone: { name: string; platform: string }): Promise<void> {
    this.#update({ isBeginning: true });
    await this.#client?.pair(code, phone);
  }

  /** The person wants the new code in place of the link. */
  async acceptOffer(phone: { name: string; platform: string }): Promise<void> {
    const code = this.offered;
    this.#update({ offered: null });
    if (code === null) return;
    await this.#client?.pair(code, phone).catch(() => this.#update({ stage: "broken" }));
  }

  /** The link stays as it is. */
  declineOffer(): void {
    this.#update({ offered: null });
  }

  answerDigits(isSame: boolean): void {
    this.#client?.act({ is: "digits", isSame });
  }

  cancelPairing(): void {
    this.#client?.act({ is: "cancel" });
  }

  retry(): void {
    this.#client?.act({ is: "retry" });
  }

  unpair(): void {
    this.#client?.act({ is: "unpair" });
  }

  /** A failure, a fault of a code or a farewell was read. */
  async dismiss(): Promise<void> {
    this.#update({ codeFault: null });
    this.#client?.act({ is: "read" });
    await this.#store?.forgetFarewell();
    await this.#read();
  }

  /** Resolves to whether the text is stored. */
  async write(group: string, text: string): Promise<boolean> {
    try {
      return (await this.#client?.queue({ type: "text", group, text })) ?? false;
    } catch {
      this.#update({ stage: "broken" });
      return false;
    }
  }

  async rewrite(text: OwnText): Promise<void> {
    if (await this.write(text.group, text.text)) await this.drop(text.id);
  }

  async drop(id: string): Promise<void> {
    await this.#store?.dropText(id);
    await this.#read();
  }

  /** Asks for the messages before a position, once while a group is open: an answer may fail. */
  askOlder(group: string, before: number): void {
    const key = `${group} ${before}`;
    if (this.#asked.has(key)) return;
    this.#asked.add(key);
    void this.#client?.queue({ type: "history", group, before });
  }

  markRead(group: string, position: number): void {
    if (position <= (this.read.get(group) ?? 0) || !Number.isSafeInteger(position)) return;
    this.#update({ read: new Map([...this.read, [group, position]]) });
    const known = this.groups?.groups.find(({ id }) => id === group);
    if (known !== undefined && known.unread > 0) void this.#client?.queue({ type: "read", group, position });
  }

  /** The desktop's name, as it says it itself. */
  get desktop(): string {
    return this.groups?.desktop || this.linkedWith || this.view.pairing?.desktop || "";
  }

  /** How many messages of a group are new to the person. */
  unread(group: { id: string; unread: number; last: number | null }): number {
    return (this.read.get(group.id) ?? 0) >= (group.last ?? 0) ? 0 : group.unread;
  }

  get unreadTotal(): number {
    return (this.groups?.groups ?? []).reduce((sum, group) => sum + this.unread(group), 0);
  }

  go(place: Place): void {
    if (place.is !== "groups" && this.place.is === "groups") history.pushState(place, "");
    else history.replaceState(place, "");
    this.#show(place);
  }

  /** As the phone's own button does. */
  back(): void {
    if (this.place.is === "groups") return;
    history.back();
  }

  #show(place: Place): void {
    this.#asked.clear();
    this.#update({ place, messages: [], messagesOf: null, isWelcome: this.isWelcome && place.is === "groups" });
    void this.#read();
  }

  #handleView(view: PhoneView): void {
    const isWelcome = this.isWelcome || (this.view.mode === "pairing" && view.mode === "link");
    this.#update({ view, isWelcome, isBeginning: false });
  }

  #listen(client: PhoneClient): void {
    history.replaceState({ is: "groups" }, "");
    addEventListener("popstate", ({ state }) => {
      // A code that is opened here is no way back.
      if (location.hash === "") this.#show((state as Place | null) ?? { is: "groups" });
    });
    document.addEventListener("visibilitychange", () => client.handleVisible(document.visibilityState === "visible"));
    this.isOnline = navigator.onLine;
    addEventListener("online", () => {
      this.#update({ isOnline: true });
      client.handleOnline();
    });
    addEventListener("offline", () => this.#update({ isOnline: false }));
  }

  /** Reads anew what is stored; what changes meanwhile is read after that. */
  async #read(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading || this.#store === null) return;
    this.#isReading = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.#readAll(this.#store);
      }
    } catch {
      this.#update({ stage: "broken" });
    } finally {
      this.#isReading = false;
    }
  }

  async #readAll(store: PhoneStore): Promise<void> {
    const [groups, texts, farewell, linkedWith] = await Promise.all([store.groups(), store.texts(), store.farewell(), store.linkedWith()]);
    const newest = new Map<string, KeptMessage>();
    for (const { id } of groups?.groups ?? []) {
      const message = await store.newest(id);
      if (message !== null) newest.set(id, message);
    }
    const { place } = this;
    const messages = place.is === "group" ? await store.messages(place.group) : [];
    this.#greet(newest);
    this.#update({ groups, texts, farewell, linkedWith, newest, ...(place === this.place ? { messages, messagesOf: place.is === "group" ? place.group : null } : {}) });
  }

  #update(fields: Partial<Phone>): void {
    Object.assign(this, fields);
    this.onchange();
  }

  /** Somebody else's new message is felt, where the phone can. */
  #greet(newest: ReadonlyMap<string, KeptMessage>): void {
    if (this.stage !== "ready" || this.newest.size === 0) return;
    const isNew = [...newest].some(([group, { position, own }]) => !own && position > (this.newest.get(group)?.position ?? Number.POSITIVE_INFINITY));
    if (isNew && navigator.userActivation?.hasBeenActive === true) navigator.vibrate?.(VIBRATION_MS);
  }
}

/** A browser may refuse even to be asked. */
function box(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
