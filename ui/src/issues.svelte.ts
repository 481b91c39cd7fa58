// The loaded part of the list of delivery issues, newest first.

import type { Api } from "./api";
import { asAppError } from "./api";
import type { AppError } from "./bindings/AppError";
import type { IssueView } from "./bindings/IssueView";

const PAGE = 50;

export class Issues {
  list = $state.raw<IssueView[]>([]);
  loaded = $state(false);
  failure = $state.raw<AppError | null>(null);
  /** Where the next page begins; null where there is none. */
  next = $state<number | null>(null);

  readonly #api: Api;
  #asked = 0;

  constructor(api: Api) {
    this.#api = api;
  }

  /** Loads the list anew, as far as it was loaded. */
  async refresh(): Promise<void> {
    const asked = (this.#asked += 1);
    const limit = Math.max(PAGE, this.list.length);
    await this.#take(asked, () => this.#api.deliveryIssues({ before: null, limit }), []);
  }

  async loadMore(): Promise<void> {
    const { next, list } = this;
    if (next === null) return;
    const asked = (this.#asked += 1);
    await this.#take(asked, () => this.#api.deliveryIssues({ before: next, limit: PAGE }), list);
  }

  /** Takes an issue off the list at once; the app's own list follows. */
  forget(issue: IssueView): void {
    this.list = this.list.filter((one) => one.group !== issue.group || one.id !== issue.id);
  }

  async #take(asked: number, ask: () => ReturnType<Api["deliveryIssues"]>, before: IssueView[]): Promise<void> {
    try {
      const page = await ask();
      if (asked !== this.#asked) return;
      this.list = [...before, ...page.issues];
      this.next = page.next;
      this.failure = null;
      this.loaded = true;
    } catch (thrown) {
      if (asked === this.#asked) this.failure = asAppError(thrown);
    }
  }
}
