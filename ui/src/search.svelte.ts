// The search over all groups: what is looked for, and what was found so far. Stays as it
// is while its page is left, so that one can go through the hits one by one.

import type { Api } from "./api";
import { asAppError } from "./api";
import type { AppError } from "./bindings/AppError";
import type { SearchHit } from "./bindings/SearchHit";

const PAGE = 40;
const AFTER_MS = 180;

export class MessageSearch {
  /** What stands in the field. */
  text = $state("");
  hits = $state.raw<SearchHit[]>([]);
  next = $state<number | null>(null);
  busy = $state(false);
  /** What the hits are for; null before the first answer. */
  answered = $state<string | null>(null);
  failure = $state.raw<AppError | null>(null);

  readonly #api: Api;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Looks for what was typed, once the person pauses. */
  type(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    this.#asked += 1;
    if (text.trim() === "") {
      this.#clear();
      return;
    }
    this.busy = true;
    this.#timer = setTimeout(() => void this.run(), AFTER_MS);
  }

  /** Looks for it now. */
  run(): Promise<void> {
    clearTimeout(this.#timer);
    const text = this.text.trim();
    if (text === "") return Promise.resolve();
    return this.#ask(text, null, []);
  }

  loadMore(): Promise<void> {
    if (this.next === null || this.busy) return Promise.resolve();
    return this.#ask(this.text.trim(), this.next, this.hits);
  }

  #clear(): void {
    this.hits = [];
    this.next = null;
    this.busy = false;
    this.answered = null;
    this.failure = null;
  }

  async #ask(text: string, before: number | null, kept: SearchHit[]): Promise<void> {
    const asked = (this.#asked += 1);
    this.busy = true;
    try {
      const page = await this.#api.search({ text, before, limit: PAGE });
      // An answer to what was typed before is no answer any more.
      if (asked !== this.#asked) return;
      this.hits = [...kept, ...page.hits];
      this.next = page.next;
      this.answered = text;
      this.failure = null;
    } catch (thrown) {
      if (asked !== this.#asked) return;
      this.failure = asAppError(thrown);
    }
    this.busy = false;
  }
}
