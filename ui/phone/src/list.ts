// A long list of rows: only those near the visible part are drawn, and the list holds on to
// its end, or to the row that is being read, whatever comes, goes or changes its height.

import { indexAt, offsetsOf, spanBetween } from "../../src/list/offsets";
import { h } from "./dom";

export interface ListRow {
  id: string;
  /** What it shows; a row whose state is another is drawn anew. */
  state: string;
  /** How high it probably is. */
  guessPx: number;
}

const SPARE_PX = 700;
const NEAR_END_PX = 40;

export class RowList<Row extends ListRow> {
  readonly element: HTMLElement;
  readonly #list: HTMLElement;
  #rows: readonly Row[] = [];
  #offsets = offsetsOf(0, () => 0);
  readonly #heights = new Map<string, number>();
  readonly #drawn = new Map<string, { state: string; element: HTMLElement }>();
  /** What stays where it is: the end, or a row with its distance from the top edge. */
  #anchor: { id: string; distance: number } | null = null;
  readonly #observer = new ResizeObserver(() => this.#settle());
  #isAtEnd = true;

  constructor(
    label: string,
    private readonly draw: (row: Row, place: number, count: number) => HTMLElement,
    private readonly onplace: (lastVisible: Row, isAtEnd: boolean) => void,
  ) {
    this.#list = h("ol", {});
    this.element = h("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": label, test: "messages", onscroll: () => this.#handleScroll() }, this.#list);
    this.#observer.observe(this.element);
  }

  show(rows: readonly Row[]): void {
    this.#rows = rows;
    if (rows.length === 0) this.#clear();
    this.#settle();
  }

  goToEnd(): void {
    this.#anchor = null;
    this.#settle();
  }

  /** A row has changed its height by itself. */
  refresh(): void {
    this.#settle();
  }

  close(): void {
    this.#observer.disconnect();
  }

  /** Nothing stays in the page of what isn't there any more. */
  #clear(): void {
    this.#list.replaceChildren();
    this.#drawn.clear();
    this.#heights.clear();
    this.#anchor = null;
  }

  /** Draws, measures, and holds what was held, until the heights are the true ones. */
  #settle(): void {
    if (this.element.clientHeight === 0) return;
    // What has grown by itself would otherwise be taken for out of sight, and drawn anew.
    this.#measure();
    for (let round = 0; round < 4; round += 1) {
      this.#offsets = offsetsOf(this.#rows.length, (index) => this.#heightOf(this.#rows[index]));
      this.#hold();
      this.#drawSpan();
      if (!this.#measure()) break;
    }
    this.#hold();
    this.#tellPlace();
  }

  #heightOf(row: Row | undefined): number {
    return row === undefined ? 0 : (this.#heights.get(row.id) ?? row.guessPx);
  }

  #hold(): void {
    const { element } = this;
    const total = this.#offsets[this.#rows.length] ?? 0;
    this.#pad(total);
    let wanted = element.scrollHeight - element.clientHeight;
    if (this.#anchor !== null) {
      const { id, distance } = this.#anchor;
      const index = this.#rows.findLastIndex((row) => row.id === id);
      if (index >= 0) wanted = Math.max(0, (this.#offsets[index] ?? 0) - distance);
    }
    if (Math.abs(element.scrollTop - wanted) > 1) element.scrollTop = wanted;
  }

  #span(): { from: number; to: number } {
    const { scrollTop, clientHeight } = this.element;
    return spanBetween(this.#offsets, scrollTop - SPARE_PX, scrollTop + clientHeight + SPARE_PX);
  }

  #pad(total: number): void {
    const first = this.#list.firstElementChild as HTMLElement | null;
    const last = this.#list.lastElementChild as HTMLElement | null;
    const from = this.#rows.findIndex(({ id }) => id === first?.dataset["messageId"]);
    const to = this.#rows.findLastIndex(({ id }) => id === last?.dataset["messageId"]);
    const above = from < 0 ? 0 : (this.#offsets[from] ?? 0);
    this.#list.style.paddingTop = `${above}px`;
    this.#list.style.paddingBottom = `${Math.max(0, total - (to < 0 ? 0 : (this.#offsets[to + 1] ?? 0)))}px`;
  }

  #drawSpan(): void {
    const { from, to } = this.#span();
    const wanted = this.#rows.slice(from, to);
    const ids = new Set(wanted.map(({ id }) => id));
    for (const [id, { element }] of this.#drawn) {
      if (ids.has(id)) continue;
      element.remove();
      this.#drawn.delete(id);
    }
    let before: Element | null = null;
    for (const [index, row] of wanted.entries()) {
      const element = this.#elementOf(row, from + index + 1);
      const place: Element | null = before === null ? this.#list.firstElementChild : before.nextElementSibling;
      if (place !== element) this.#list.insertBefore(element, place);
      before = element;
    }
    this.#pad(this.#offsets[this.#rows.length] ?? 0);
  }

  #elementOf(row: Row, place: number): HTMLElement {
    const known = this.#drawn.get(row.id);
    if (known?.state === row.state) return known.element;
    const element = this.draw(row, place, this.#rows.length);
    known?.element.replaceWith(element);
    this.#drawn.set(row.id, { state: row.state, element });
    return element;
  }

  /** Whether a height was another than known. */
  #measure(): boolean {
    let changed = false;
    for (const [id, { element }] of this.#drawn) {
      const height = element.getBoundingClientRect().height;
      if (height === 0 || Math.abs((this.#heights.get(id) ?? -1) - height) < 0.5) continue;
      this.#heights.set(id, height);
      changed = true;
    }
    return changed;
  }

  #handleScroll(): void {
    const { element } = this;
    if (element.clientHeight === 0) return;
    this.#isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX;
    const index = indexAt(this.#offsets, element.scrollTop);
    const top = this.#rows[index];
    this.#anchor = this.#isAtEnd || top === undefined ? null : { id: top.id, distance: (this.#offsets[index] ?? 0) - element.scrollTop };
    this.#drawSpan();
    if (this.#measure()) this.#settle();
    else this.#tellPlace();
  }

  #tellPlace(): void {
    const { element } = this;
    const last = this.#rows[indexAt(this.#offsets, element.scrollTop + element.clientHeight - 1)];
    if (last !== undefined) this.onplace(last, element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END_PX);
  }
}
