// What the window shows: the newest view of the app, the place the person is at, and
// what the person has begun to write. Owns no rule of pairing or delivery; whatever can
// be asked of the app is asked of it.

import { tick } from "svelte";
import type { Api } from "./api";
import { asAppError } from "./api";
import type { AppError } from "./bindings/AppError";
import type { AppView } from "./bindings/AppView";
import type { GroupView } from "./bindings/GroupView";
import { GroupMessages } from "./messages.svelte";

export type PairTab = "show" | "enter";
export type Panel = "members" | "relay";

export type Place =
  | { at: "start" }
  | { at: "pair"; group: string | null; tab: PairTab }
  | { at: "group"; group: string }
  | { at: "about" };

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

  readonly #messages = new Map<string, GroupMessages>();
  readonly #drafts = new Map<string, string>();

  constructor(api: Api) {
    this.api = api;
  }

  async open(): Promise<void> {
    await this.api.onView((view) => this.handleView(view));
    await this.api.onMessages(({ group, from }) => {
      void this.#messages.get(group)?.handleChanged(from);
    });
    try {
      this.handleView(await this.api.view());
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

  draft(group: string): string {
    return this.#drafts.get(group) ?? "";
  }

  keepDraft(group: string, text: string): void {
    if (text === "") this.#drafts.delete(group);
    else this.#drafts.set(group, text);
  }

  /** Shows a place; leaving the page of an open code closes the code. */
  go(place: Place): void {
    const left = this.place;
    this.codeClosed = false;
    if (left.at === "pair" && left.group !== null && !showsCodeOf(place, left.group)) {
      const group = this.group(left.group);
      if (group?.pairing) {
        this.codeClosed = true;
        void this.api.cancelPairing(left.group).catch(() => undefined);
      }
    }
    if (left.at === "group") this.#messages.get(left.group)?.trim();
    this.place = place;
    this.isListShown = false;
  }

  /** Opens or closes the column at the side. */
  toggle(panel: Panel): void {
    this.panel = this.panel === panel ? null : panel;
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

  openGroup(group: string): void {
    this.go({ at: "group", group });
  }

  endWelcome(group: string): void {
    if (!this.welcome.has(group)) return;
    this.welcome = new Set([...this.welcome].filter((id) => id !== group));
  }

  say(text: string): void {
    // The same words twice are only spoken again if the region changes.
    this.spoken = this.spoken === text ? `${text}\u00a0` : text;
  }

  handleView(view: AppView): void {
    const before = this.view;
    this.view = view;
    for (const group of view.groups) {
      if (hasJustPaired(before?.groups.find(({ id }) => id === group.id), group)) {
        this.#handlePaired(group.id);
      }
    }
    this.#keepPlaceValid(before, view);
  }

  #handlePaired(group: string): void {
    this.welcome = new Set([...this.welcome, group]);
    if (this.place.at === "pair" && this.place.group === group) {
      this.place = { at: "group", group };
    }
  }

  /** Leaves places whose group has gone, and opens the first group after a start. */
  #keepPlaceValid(before: AppView | null, now: AppView): void {
    const first = now.groups[0];
    const next: Place = first === undefined ? { at: "start" } : { at: "group", group: first.id };
    const hasStarted = before === null || (before.screen !== "ready" && before.screen !== "firstStart");
    if (hasStarted && now.screen === "ready" && this.place.at === "start") this.place = next;
    const { place } = this;
    if ((place.at !== "group" && place.at !== "pair") || place.group === null) return;
    const isIn = (view: AppView | null): boolean =>
      view?.groups.some((group) => group.id === place.group) ?? false;
    if (isIn(before) && !isIn(now)) this.place = next;
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
  if (before.pairing !== null && now.pairing === null) return now.pairingClosed === "accepted";
  return isJoining(before) && !isJoining(now) && now.status === "member";
}
