// What was begun and not sent, for each group: kept here at once and by the app a moment
// after the last key, so that neither a change of the group nor a crash loses it. A text
// that is being sent counts as not sent until the app has taken it.

import { SvelteMap } from "svelte/reactivity";
import type { Api } from "./api";

/** As the engine keeps it; a longer draft stays in the window only, and whole. */
export const DRAFT_BYTES_MAX = 2 * 61_440;
const SAVE_AFTER_MS = 500;

export class Drafts {
  readonly #api: Api;
  readonly #texts = new SvelteMap<string, string>();
  /** What the app was asked to send and has not answered for, the oldest first. */
  readonly #leaving = new Map<string, string[]>();
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #encoder = new TextEncoder();

  constructor(api: Api) {
    this.#api = api;
  }

  /** What was typed since the start, or else what the app has kept. */
  text(group: string, stored: string): string {
    return this.#texts.get(group) ?? stored;
  }

  keep(group: string, text: string): void {
    if ((this.#texts.get(group) ?? null) === text) return;
    this.#texts.set(group, text);
    this.#saveSoon(group);
  }

  /** Takes a text out of the draft for as long as `send` has it. What is refused goes back,
      before whatever was typed meanwhile, whichever group is open by then. */
  async send(group: string, text: string, send: () => Promise<unknown>): Promise<void> {
    this.#texts.set(group, "");
    this.#leaving.set(group, [...(this.#leaving.get(group) ?? []), text]);
    try {
      await send();
    } catch (thrown) {
      this.#texts.set(group, joined([text, this.#texts.get(group) ?? ""]));
      throw thrown;
    } finally {
      const left = [...(this.#leaving.get(group) ?? [])];
      left.splice(left.indexOf(text), 1);
      this.#leaving.set(group, left);
      this.#saveSoon(group);
    }
  }

  /** Saves at once what waits to be saved. */
  flush(): void {
    for (const group of [...this.#timers.keys()]) this.#save(group);
  }

  #saveSoon(group: string): void {
    clearTimeout(this.#timers.get(group));
    this.#timers.set(group, setTimeout(() => this.#save(group), SAVE_AFTER_MS));
  }

  #save(group: string): void {
    clearTimeout(this.#timers.get(group));
    this.#timers.delete(group);
    const text = joined([...(this.#leaving.get(group) ?? []), this.#texts.get(group) ?? ""]);
    if (this.#encoder.encode(text).length > DRAFT_BYTES_MAX) return;
    // What can't be kept is still in the window; the next key tries again.
    void this.#api.saveDraft(group, text).catch(() => undefined);
  }
}

function joined(texts: string[]): string {
  return texts.filter((text) => text !== "").join("\n");
}
