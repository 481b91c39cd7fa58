// What the window shows: the newest view of the app, the place the person is at, and
// what the person has begun to write. Owns no rule of pairing or delivery; whatever can
// be asked of the app is asked of it.

import { tick, untrack } from "svelte";
import type { Api } from "./api";
import { asAppError } from "./api";
import type { AppError } from "./bindings/AppError";
import type { AppView } from "./bindings/AppView";
import type { DestinationView } from "./bindings/DestinationView";
import type { GroupView } from "./bindings/GroupView";
import type { RelayTestView } from "./bindings/RelayTestView";
import { Drafts } from "./drafts";
import { Issues } from "./issues.svelte";
import { GroupMessages } from "./messages.svelte";
import { type Panel, type Place, TIGHT } from "./place";
import { MessageSearch } from "./search.svelte";

/** How often the app is told at most that somebody uses the window. */
const USE_TOLD_MS = 10_000;

export class Desk {
  readonly api: Api;
  view = $state.raw<AppView | null>(null);
  place = $state.raw<Place>({ at: "start" });
  panel = $state<Panel | null>(null);
  /** In a narrow window: whether the list of groups is shown instead of the place. */
  isListShown = $state(false);
  /** Whether not even the app's first view could be had. */
  isBroken = $state(false);
  /** What a screen reader is told next. */
  spoken = $state("");
  /** Groups whose pairing ended well and whose person has not written yet. */
  welcome = $state.raw<ReadonlySet<string>>(new Set());
  /** A code that closed because its page was left, to be said once. */
  codeClosed = $state(false);
  /** The device's name as typed on the first screen. */
  typedName = $state<string | null>(null);
  /** Whether the sheet of shortcuts is open. */
  isSheetShown = $state(false);
  /** Whether the app was locked while it was open: then the keychain itself may be well. */
  isLocked = $state(false);
  /** What was refused last and has no place of its own to be shown. */
  trouble = $state.raw<AppError | null>(null);
  /** The newest state of the last test of a relay. */
  relayTest = $state.raw<RelayTestView | null>(null);

  /** The destination from outside that was gone to last. */
  arrivedAt = $state<number | null>(null);
  /** How often something outside has led to a group, which may be the open one. */
  landings = $state(0);

  readonly issues: Issues;
  readonly search: MessageSearch;
  readonly drafts: Drafts;
  readonly #isTight: () => boolean;
  readonly #messages = new Map<string, GroupMessages>();
  #lastGroup: string | null = null;
  #shown: string | null | undefined;
  #showsIssues = false;
  /** When the app was last told that the window is used. */
  #usedMs = Number.NEGATIVE_INFINITY;

  /** `isTight`: whether a panel stands in the stead of the place now. */
  constructor(api: Api, isTight: () => boolean = () => matchMedia(`(${TIGHT})`).matches) {
    this.api = api;
    this.#isTight = isTight;
    this.issues = new Issues(api);
    this.search = new MessageSearch(api);
    this.drafts = new Drafts(api);
  }

  async open(): Promise<void> {
    await this.api.onView((view) => this.handleView(view));
    await this.api.onMessages(({ group, from }) => {
      void this.#messages.get(group)?.handleChanged(from);
    });
    await this.api.onRelayTest((test) => (this.relayTest = test));
    try {
      const first = await this.api.view();
      // What the app has told meanwhile is newer.
      if (this.view === null) this.handleView(first);
    } catch {
      this.isBroken = this.view === null;
    }
  }

  /** The name this device goes by, or will. */
  get deviceName(): string {
    if (this.typedName !== null) return this.typedName;
    return this.view?.deviceName || this.view?.suggestedDeviceName || "";
  }

  group(id: string | null): GroupView | null {
    return this.view?.groups.find((group) => group.id === id) ?? null;
  }

  messages(group: string): GroupMessages {
    const known = this.#messages.get(group);
    if (known !== undefined) return known;
    const made = new GroupMessages(this.api, group);
    this.#messages.set(group, made);
    return made;
  }

  /** Shows a place; leaving the page of an open code closes the code. */
  go(place: Place): void {
    const left = this.place;
    this.codeClosed = false;
    if (left.at === "pair" && left.group !== null && !showsCodeOf(place, left.group)) {
      if (this.group(left.group)?.pairing) this.#closeCode(this.api.cancelPairing(left.group));
    }
    // What the person has confirmed goes on wherever they are.
    const step = this.view?.phones.pairing?.step ?? "finishing";
    if (left.at === "phones" && place.at !== "phones" && step !== "finishing") this.#closeCode(this.api.cancelPhonePairing());
    if ("group" in place && place.group !== null) this.#lastGroup = place.group;
    if (left.at === "group" && (place.at !== "group" || place.group !== left.group)) this.#messages.get(left.group)?.trim();
    this.place = place;
    this.isListShown = false;
    this.#uncover();
  }

  #closeCode(closing: Promise<void>): void {
    this.codeClosed = true;
    void closing.catch(() => undefined);
  }

  /** Whoever goes somewhere sees where: a panel in its stead closes. */
  #uncover(): void {
    if (this.#isTight()) this.panel = null;
  }

  /** Back to the group that was open last, or to whatever there is. */
  back(): void {
    const groups = this.view?.groups ?? [];
    const last = groups.find(({ id }) => id === this.#lastGroup) ?? groups[0];
    this.go(last === undefined ? { at: "start" } : { at: "group", group: last.id });
  }

  /** Opens or closes the column at the side. */
  toggle(panel: Panel): void {
    this.panel = this.panel === panel ? null : panel;
    this.isListShown = false;
  }

  /** Closes the column at the side and goes back to what opened it. */
  closePanel(): void {
    const opener = `open-${this.panel}`;
    this.panel = null;
    void tick().then(() => {
      if (document.activeElement === document.body) document.getElementById(opener)?.focus();
    });
  }

  showRelay(): void {
    this.panel = "relay";
    this.isListShown = false;
  }

  openGroup(group: string, jumpTo?: number): void {
    this.go(jumpTo === undefined ? { at: "group", group } : { at: "group", group, jumpTo });
  }

  /** Opens the group above or below the open one. */
  openNeighbour(step: 1 | -1): void {
    const groups = this.view?.groups ?? [];
    const open = "group" in this.place ? this.place.group : null;
    const at = groups.findIndex(({ id }) => id === open);
    const next = groups[at === -1 ? 0 : (at + step + groups.length) % groups.length];
    if (next !== undefined) this.openGroup(next.id);
  }

  /** Closes the app to whoever doesn't know the passphrase, where there is one. */
  lock(): void {
    this.drafts.flush();
    void this.api.lock().catch((thrown: unknown) => (this.trouble = asAppError(thrown)));
  }

  /** Opens an address of a message outside of this window. */
  openLink(url: string): void {
    void this.api.openLink(url).catch((thrown: unknown) => (this.trouble = asAppError(thrown)));
  }

  /** Tells the app which group's newest messages are on the screen: no notification then. */
  show(group: string | null): void {
    if (this.#shown === group) return;
    this.#shown = group;
    this.#tellShown();
  }

  /** Tells the app whether the delivery issues are on the screen: no notification of them then. */
  showIssues(areShown: boolean): void {
    if (this.#showsIssues === areShown) return;
    this.#showsIssues = areShown;
    this.#tellShown();
  }

  #tellShown(): void {
    void this.api.showing(this.#shown ?? null, this.#showsIssues).catch(() => undefined);
  }

  /** Tells the app that somebody is here, so that it doesn't lock; now and then is enough. */
  noteUse(nowMs: number): void {
    if (nowMs - this.#usedMs < USE_TOLD_MS) return;
    this.#usedMs = nowMs;
    void this.api.used().catch(() => undefined);
  }

  endWelcome(group: string): void {
    if (!this.welcome.has(group)) return;
    this.welcome = new Set([...this.welcome].filter((id) => id !== group));
  }

  say(text: string): void {
    // The same words twice are only spoken again if the region changes. Whoever says
    // something doesn't depend on what was said before.
    const before = untrack(() => this.spoken);
    this.spoken = before === text ? `${text}\u00a0` : text;
  }

  handleView(view: AppView): void {
    const before = this.view;
    this.view = view;
    this.isLocked = view.screen === "keychain" && view.keychain?.kind === "locked" && (this.isLocked || before?.screen === "ready");
    for (const group of view.groups) {
      if (hasJustPaired(before?.groups.find(({ id }) => id === group.id), group)) {
        this.#handlePaired(group.id);
      }
    }
    this.#keepPlaceValid(before, view);
    if (view.destination !== null && view.screen !== "starting") this.#arrive(view.destination);
  }

  /** Goes where a notification, the tray or a link leads, once. */
  #arrive({ id, place, group, invitation }: DestinationView): void {
    if (this.arrivedAt === id) return;
    this.arrivedAt = id;
    this.isSheetShown = false;
    if (place === "group" && group !== null) {
      this.landings += 1;
      this.openGroup(group);
    } else if (place === "issues") this.go({ at: "issues" });
    else if (place === "pair") this.go({ at: "pair", group, tab: "show" });
    else if (place === "join") this.go({ at: "pair", group: null, tab: "enter", invitation: invitation ?? "" });
    else if (place === "relay") this.showRelay();
    void this.api.arrived(id).catch(() => undefined);
  }

  #handlePaired(group: string): void {
    this.welcome = new Set([...this.welcome, group]);
    if (showsCodeOf(this.place, group)) this.place = { at: "group", group };
  }

  /** Leaves places whose group has gone, and opens the first group after a start. */
  #keepPlaceValid(before: AppView | null, now: AppView): void {
    const first = now.groups[0];
    const next: Place = first === undefined ? { at: "start" } : { at: "group", group: first.id };
    const hasStarted = before === null || (before.screen !== "ready" && before.screen !== "firstStart");
    if (hasStarted && now.screen === "ready" && this.place.at === "start") {
      // After a lock, where the person was before it.
      const last = now.groups.find(({ id }) => id === this.#lastGroup) ?? first;
      this.place = last === undefined ? next : { at: "group", group: last.id };
      this.#lastGroup = last?.id ?? null;
    }
    const { place } = this;
    if ((place.at !== "group" && place.at !== "pair") || place.group === null) return;
    const isIn = (view: AppView | null): boolean =>
      view?.groups.some((group) => group.id === place.group) ?? false;
    if (!isIn(before) || isIn(now)) return;
    this.place = next;
    this.#uncover();
  }
}

/** Runs something that may be refused; the refusal comes back as a value. */
export async function attempt(work: () => Promise<unknown>): Promise<AppError | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    return asAppError(thrown);
  }
}

function showsCodeOf(place: Place, group: string): boolean {
  return place.at === "pair" && place.group === group;
}

/** Whether the person still has to compare words or wait for the other side. */
export function isJoining(group: GroupView): boolean {
  return group.status === "pendingJoin" || (group.join !== null && !group.join.confirmed);
}

function hasJustPaired(before: GroupView | undefined, now: GroupView): boolean {
  if (before === undefined) return false;
  // The code may be gone in one view and said to have done its work in the next.
  const isAccepted = now.pairing === null && now.pairingClosed === "accepted";
  if (isAccepted && (before.pairing !== null || before.pairingClosed !== "accepted")) return true;
  return isJoining(before) && !isJoining(now) && now.status === "member";
}
