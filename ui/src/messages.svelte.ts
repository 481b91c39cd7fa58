// The loaded part of one group's messages: always the newest ones without a gap,
// in the order of arrival on this device. Owns loading and merging, not the showing.

import type { Api } from "./api";
import type { MessageView } from "./bindings/MessageView";

const PAGE = 100;
const PAGE_MAX = 500;

export class GroupMessages {
  /** Oldest first. Replaced as a whole, so that a reader may compare by identity. */
  rows = $state.raw<MessageView[]>([]);
  /** Whether there are older ones than the loaded ones. */
  more = $state(true);
  /** Whether the newest page has arrived once. */
  loaded = $state(false);

  readonly #api: Api;
  readonly #group: string;
  #changedFrom: number | null = null;
  #refreshing: Promise<void> | null = null;
  #loadingOlder: Promise<void> | null = null;

  constructor(api: Api, group: string) {
    this.#api = api;
    this.#group = group;
  }

  /** Loads the newest page unless it is there. */
  async open(): Promise<void> {
    if (!this.loaded) await this.handleChanged(Number.MAX_SAFE_INTEGER);
  }

  /** Takes note that rows at `from` and after it are new or changed. */
  handleChanged(from: number): Promise<void> {
    this.#changedFrom = Math.min(from, this.#changedFrom ?? Number.MAX_SAFE_INTEGER);
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Loads one more page at the old end. */
  loadOlder(): Promise<void> {
    const oldest = this.rows[0];
    if (!this.more || oldest === undefined) return Promise.resolve();
    this.#loadingOlder ??= this.#fetchOlder(oldest.position).finally(() => {
      this.#loadingOlder = null;
    });
    return this.#loadingOlder;
  }

  /** Forgets all but the newest page, when nobody looks any more. */
  trim(): void {
    if (this.rows.length <= PAGE * 2) return;
    this.rows = this.rows.slice(-PAGE);
    this.more = true;
  }

  async #fetchOlder(before: number): Promise<void> {
    const page = await this.#api.messages({ group: this.#group, before, limit: PAGE * 2 });
    // A trim may have come between; then the page no longer fits on.
    if (this.rows[0]?.position !== before) return;
    this.rows = [...page.messages, ...this.rows];
    this.more = page.more;
  }

  async #refresh(): Promise<void> {
    while (this.#changedFrom !== null) {
      const from = this.#changedFrom;
      this.#changedFrom = null;
      await this.#fetchFrom(from);
    }
  }

  /** Fetches backwards from the end until the changed rows are covered. */
  async #fetchFrom(from: number): Promise<void> {
    const oldest = this.rows[0]?.position;
    const newest = this.rows.at(-1)?.position ?? 0;
    const wanted = oldest === undefined ? from : Math.max(from, oldest);
    let fetched: MessageView[] = [];
    let before: number | null = null;
    let limit = Math.min(PAGE_MAX, Math.max(PAGE, newest - wanted + PAGE));
    let more = true;
    while (more) {
      const page = await this.#api.messages({ group: this.#group, before, limit });
      fetched = [...page.messages, ...fetched];
      more = page.more && page.messages.length > 0;
      before = fetched[0]?.position ?? 0;
      limit = PAGE_MAX;
      // A page also has to reach the loaded rows: no gap may stay between.
      if (before <= wanted && (oldest === undefined || before <= newest + 1)) break;
    }
    this.#merge(fetched, more);
    this.loaded = true;
  }

  #merge(fetched: MessageView[], more: boolean): void {
    const first = fetched[0]?.position ?? Number.MAX_SAFE_INTEGER;
    const kept = this.rows.filter((row) => row.position < first);
    if (kept.length === 0) this.more = more;
    this.rows = [...kept, ...fetched];
  }
}
