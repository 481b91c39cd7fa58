// The loaded part of one group's messages: a stretch without a gap, in the order of arrival
// on this device. It usually reaches to the newest one; after a jump into the past it need
// not. Owns loading, merging and the bound on how much is held, not the showing.
//
// Invariants: positions rise and none that exists between the first and the last row is
// missing; at most ROWS_MAX rows stay after a load.

import type { Api } from "./api";
import type { MessageView } from "./bindings/MessageView";

const PAGE = 100;
const PAGE_MAX = 500;
/** More rows than this are let go at the end that is not read. */
export const ROWS_MAX = 3000;
const NEWEST = Number.MAX_SAFE_INTEGER;

export class GroupMessages {
  /** Oldest first. Replaced as a whole, so that a reader may compare by identity. */
  rows = $state.raw<MessageView[]>([]);
  /** Whether there are older ones than the loaded ones. */
  more = $state(true);
  /** Whether there are newer ones than the loaded ones. */
  newer = $state(false);
  /** Whether a first page has arrived. */
  loaded = $state(false);
  /** Whether the person reads at the end: then old rows give way, not new ones. */
  isReadAtEnd = true;
  /** Where what is new to the person begins, until it is left. */
  firstNew = $state<number | null>(null);

  readonly #api: Api;
  readonly #group: string;
  #changedFrom: number | null = null;
  #refreshing: Promise<void> | null = null;
  #loadingOlder: Promise<void> | null = null;
  #loadingNewer: Promise<void> | null = null;
  /** Counts the jumps; an answer that was asked for before one is thrown away. */
  #jumps = 0;

  constructor(api: Api, group: string) {
    this.#api = api;
    this.#group = group;
  }

  /** Loads the newest page unless it is there. */
  async open(): Promise<void> {
    if (!this.loaded) await this.handleChanged(NEWEST);
  }

  /** Loads what stands around a position, in place of what is loaded. */
  async jumpTo(position: number): Promise<void> {
    if (this.#holds(position)) return;
    const jump = (this.#jumps += 1);
    const [older, newer] = await Promise.all([
      this.#page(position + 1, PAGE),
      this.#page(position + 1 + PAGE, PAGE),
    ]);
    if (jump !== this.#jumps) return;
    const after = newer.messages.filter((row) => row.position > position);
    this.rows = [...older.messages, ...after];
    this.more = older.more;
    this.newer = true;
    this.isReadAtEnd = false;
    this.loaded = true;
    await this.loadNewer();
  }

  /** Loads the newest page in place of what is loaded, unless it reaches there already. */
  async jumpToEnd(): Promise<void> {
    this.isReadAtEnd = true;
    if (!this.newer) return;
    this.#jumps += 1;
    this.rows = [];
    this.newer = false;
    this.more = true;
    await this.handleChanged(NEWEST);
  }

  /** Takes note that rows at `from` and after it are new or changed. */
  handleChanged(from: number): Promise<void> {
    this.#changedFrom = Math.min(from, this.#changedFrom ?? NEWEST);
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  /** Loads one more page at the old end. */
  loadOlder(): Promise<void> {
    const oldest = this.rows[0];
    if (!this.more || oldest === undefined) return Promise.resolve();
    // Whatever came in front would give way at once to the end that is read.
    if (this.isReadAtEnd && this.rows.length >= ROWS_MAX) return Promise.resolve();
    this.#loadingOlder ??= this.#fetchOlder(oldest.position).finally(() => {
      this.#loadingOlder = null;
    });
    return this.#loadingOlder;
  }

  /** Loads one more page at the new end, where that isn't the end. */
  loadNewer(): Promise<void> {
    const newest = this.rows.at(-1);
    if (!this.newer || newest === undefined) return Promise.resolve();
    this.#loadingNewer ??= this.#fetchNewer(newest.position).finally(() => {
      this.#loadingNewer = null;
    });
    return this.#loadingNewer;
  }

  /** Forgets all but the newest page, when nobody looks any more. */
  trim(): void {
    this.firstNew = null;
    if (this.newer) {
      this.#jumps += 1;
      this.rows = [];
      this.newer = false;
      this.loaded = false;
      this.more = true;
    }
    this.isReadAtEnd = true;
    if (this.rows.length <= PAGE * 2) return;
    this.rows = this.rows.slice(-PAGE);
    this.more = true;
  }

  #holds(position: number): boolean {
    const [first, last] = [this.rows[0], this.rows.at(-1)];
    return first !== undefined && last !== undefined && first.position <= position && position <= last.position;
  }

  #page(before: number | null, limit: number): Promise<{ messages: MessageView[]; more: boolean }> {
    return this.#api.messages({ group: this.#group, before, limit });
  }

  async #fetchOlder(before: number): Promise<void> {
    const page = await this.#page(before, PAGE * 2);
    // A trim or a jump may have come between; then the page no longer fits on.
    if (this.rows[0]?.position !== before) return;
    const rows = [...page.messages, ...this.rows];
    this.more = page.more;
    if (rows.length > ROWS_MAX && !this.isReadAtEnd) {
      this.rows = rows.slice(0, ROWS_MAX);
      this.newer = true;
    } else {
      this.rows = this.#bounded(rows);
    }
  }

  async #fetchNewer(after: number): Promise<void> {
    let step = PAGE * 2;
    for (;;) {
      const [page, newest] = await Promise.all([this.#page(after + step + 1, step), this.#page(null, 1)]);
      if (this.rows.at(-1)?.position !== after) return;
      const fresh = page.messages.filter((row) => row.position > after);
      const last = newest.messages.at(-1)?.position ?? after;
      // Where messages were deleted, the next one may stand further on.
      if (fresh.length === 0 && last > after) {
        step *= 4;
        continue;
      }
      this.newer = (fresh.at(-1)?.position ?? after) < last;
      this.rows = this.#bounded([...this.rows, ...fresh]);
      return;
    }
  }

  /** Lets go of the oldest rows beyond the bound. */
  #bounded(rows: MessageView[]): MessageView[] {
    if (rows.length <= ROWS_MAX) return rows;
    this.more = true;
    return rows.slice(-ROWS_MAX);
  }

  async #refresh(): Promise<void> {
    while (this.#changedFrom !== null) {
      const from = this.#changedFrom;
      this.#changedFrom = null;
      if (this.newer) await this.#refreshWithin(from);
      else await this.#fetchFrom(from);
    }
  }

  /** Fetches changed rows of a stretch that doesn't reach to the end; adds none. */
  async #refreshWithin(from: number): Promise<void> {
    const newest = this.rows.at(-1)?.position ?? 0;
    const oldest = this.rows[0]?.position ?? 0;
    if (from > newest) return;
    const limit = Math.min(PAGE_MAX, newest - Math.max(from, oldest) + 1);
    const jump = this.#jumps;
    const page = await this.#page(newest + 1, limit);
    if (jump !== this.#jumps) return;
    const first = page.messages[0]?.position ?? newest;
    const kept = this.rows.filter((row) => row.position < first);
    const after = this.rows.filter((row) => row.position > newest);
    this.rows = [...kept, ...page.messages, ...after];
  }

  /** Fetches backwards from the end until the changed rows are covered. */
  async #fetchFrom(from: number): Promise<void> {
    const jump = this.#jumps;
    const oldest = this.rows[0]?.position;
    const newest = this.rows.at(-1)?.position ?? 0;
    const wanted = oldest === undefined ? from : Math.max(from, oldest);
    let fetched: MessageView[] = [];
    let before: number | null = null;
    let limit = Math.min(PAGE_MAX, Math.max(PAGE, newest - wanted + PAGE));
    let more = true;
    while (more) {
      const page = await this.#page(before, limit);
      if (jump !== this.#jumps) return;
      fetched = [...page.messages, ...fetched];
      more = page.more && page.messages.length > 0;
      before = fetched[0]?.position ?? 0;
      limit = PAGE_MAX;
      // A page also has to reach the loaded rows: no gap may stay between.
      if (before <= wanted && (oldest === undefined || before <= newest + 1)) break;
      if (fetched.length >= ROWS_MAX) break;
    }
    this.#merge(fetched, more);
    this.loaded = true;
  }

  #merge(fetched: MessageView[], more: boolean): void {
    const first = fetched[0]?.position ?? NEWEST;
    const last = this.rows.at(-1)?.position ?? 0;
    if (this.rows.length > 0 && fetched.length > 0 && first > last + 1 && more && fetched.length >= ROWS_MAX && !this.isReadAtEnd) {
      // So much has come that it can't stand beside what is read now.
      this.newer = true;
      return;
    }
    const kept = more && first > last + 1 ? [] : this.rows.filter((row) => row.position < first);
    if (kept.length === 0) this.more = more;
    const rows = [...kept, ...fetched];
    if (rows.length <= ROWS_MAX || this.isReadAtEnd) {
      this.rows = this.#bounded(rows);
      return;
    }
    this.rows = rows.slice(0, Math.max(ROWS_MAX, kept.length));
    this.newer = this.rows.length < rows.length;
  }
}
