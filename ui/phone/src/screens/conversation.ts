// The messages of one group, and where to write.

import { firstNewAfter } from "../../../src/list/rows";
import { cleanName } from "../../../src/names";
import { t } from "../../../src/text";
import { bdi, h, iconButton, Part, type Screen } from "../dom";
import type { Group } from "../feed";
import { RowList } from "../list";
import { composer } from "../parts/composer";
import { bar, LinkLine } from "../parts/line";
import { messageRow } from "../parts/message";
import { sign } from "../parts/signs";
import type { Phone } from "../phone";
import { buildConversation, type ConversationRow } from "../rows";
import { desktopName } from "../words";

export function conversationScreen(phone: Phone, id: string): Screen {
  return new ConversationScreen(phone, id);
}

class ConversationScreen implements Screen {
  readonly element: HTMLElement;
  readonly #line: LinkLine;
  readonly #head = new Part(h("div", { class: "head" }));
  readonly #empty = new Part(h("div", { class: "scroll empty" }));
  readonly #write = new Part(h("div", { class: "write" }));
  readonly #list: RowList<ConversationRow>;
  readonly #jump: HTMLButtonElement;
  readonly #spoken = h("p", { class: "visually-hidden", role: "status", test: "spoken" });
  /** The newest message that was there, or was told. */
  #toldUpTo: number | null = null;
  /** Where the new messages began when the group was opened. */
  #firstNew: number | null = null;
  #isOpened = false;
  #shown = "";

  constructor(
    private readonly phone: Phone,
    private readonly id: string,
  ) {
    this.#line = new LinkLine(phone);
    this.#list = new RowList(t("messages-label"), (row, place, count) => this.#draw(row, place, count), (row, isAtEnd) => this.#handlePlace(row, isAtEnd));
    this.#jump = iconButton(sign("down"), t("jump-end"), "jump-to-end", () => this.#list.goToEnd());
    this.#jump.classList.add("jump");
    const back = iconButton(sign("back"), t("back"), "back", () => phone.back());
    this.element = h("main", { class: "page talk", test: "conversation" }, bar(this.#line, back, this.#head.element), this.#empty.element, h("div", { class: "frame" }, this.#list.element, this.#jump), this.#write.element, this.#spoken);
  }

  update(): void {
    const { phone, id } = this;
    const group = phone.groups?.groups.find((one) => one.id === id) ?? null;
    this.#line.update();
    const name = cleanName(group?.name ?? "") || t("group-unnamed");
    this.element.setAttribute("aria-label", name);
    this.#head.show([name, group?.members], () => [h("h1", { class: "one-line" }, bdi(name)), group !== null && h("p", { class: "count" }, t("group-devices", { count: group.members }))]);
    this.#write.show(group === null ? "gone" : group.trouble === "ended", () => this.#foot(group));
    if (phone.messagesOf === id) this.#showMessages(group);
  }

  left(): void {
    this.#list.close();
  }

  #showMessages(group: Group | null): void {
    const { phone, id } = this;
    this.#findNew(group);
    this.#speak();
    const texts = phone.texts.filter((text) => text.group === id);
    const rows = buildConversation(phone.messages, texts, this.#firstNew);
    this.#empty.element.hidden = rows.length > 0;
    this.#list.element.hidden = rows.length === 0;
    const desktop = desktopName(phone.desktop);
    this.#empty.show(desktop, () => [h("h2", {}, t("empty-group")), h("p", { class: "hint" }, t("page-empty", { desktop }))]);
    const isReached = phone.view.status?.isConnected === true && phone.view.status.trouble === null;
    const shown = `${isReached} ${desktop} ${rows.map((row) => row.id + row.state).join()}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    // A gap says whether somebody answers; everything else is in the state of its row.
    this.#list.show(rows.map((row) => (row.kept?.afterGap === true ? { ...row, state: `${row.state}${isReached}` } : row)));
  }

  /** Tells who can't see it that something has come. */
  #speak(): void {
    const { messages } = this.phone;
    const before = this.#toldUpTo;
    this.#toldUpTo = messages.at(-1)?.position ?? before;
    const fresh = before === null ? [] : messages.filter(({ position, own }) => position > before && !own);
    const [first] = fresh;
    if (first === undefined) return;
    this.#spoken.textContent = fresh.length === 1 ? t("message-spoken", { name: cleanName(first.author), text: first.text ?? t("message-unknown") }) : t("messages-spoken", { count: fresh.length });
  }

  /** Once, when the first messages are there. */
  #findNew(group: Group | null): void {
    const { messages } = this.phone;
    if (this.#isOpened || messages.length === 0) return;
    this.#isOpened = true;
    const unread = group === null ? 0 : this.phone.unread(group);
    if (unread === 0) return;
    const before = messages.filter(({ own }) => !own).at(-unread - 1)?.position ?? 0;
    const views = buildConversation(messages, [], null).map(({ message }) => message);
    this.#firstNew = firstNewAfter(views, before)?.position ?? null;
  }

  #foot(group: Group | null): HTMLElement {
    if (group === null) return h("p", { class: "hint in-column ended" }, t("page-group-gone"));
    if (group.trouble === "ended") return h("p", { class: "hint in-column ended" }, t("page-group-ended"));
    return composer(this.id, (text) => this.#send(text));
  }

  #draw(row: ConversationRow, place: number, count: number): HTMLElement {
    const { kept } = row;
    // What isn't here is asked for when somebody comes near it.
    if (kept?.afterGap === true) this.phone.askOlder(kept.group, kept.position);
    return messageRow(row, place, count, this.phone, () => this.#list.refresh());
  }

  #handlePlace(row: ConversationRow, isAtEnd: boolean): void {
    this.#jump.hidden = isAtEnd;
    if (document.visibilityState !== "visible") return;
    const last = this.phone.messages.at(-1)?.position ?? 0;
    this.phone.markRead(this.id, Math.min(row.message.position, last));
  }

  async #send(text: string): Promise<boolean> {
    const isStored = await this.phone.write(this.id, text);
    if (isStored) {
      this.#firstNew = null;
      this.#list.goToEnd();
    }
    return isStored;
  }
}
