// One message or text, with the day, the gap or the line that stands above it.

import { cleanName } from "../../../src/names";
import { currentLanguage, formatDay, isoTime, t, timeFormat } from "../../../src/text";
import { bdi, button, type Child, h } from "../dom";
import type { Phone } from "../phone";
import type { ConversationRow } from "../rows";
import { deliveryLine, desktopName, textLine } from "../words";
import { sign, type Sign } from "./signs";
import { messageText } from "./text";

/** To make a format takes as long as to draw a row, and many rows are drawn in one go. */
const FORMAT_LIFE_MS = 1_000;
let format: { atMs: number; language: string; write: (ms: number) => string } | null = null;

function timeOf(ms: number): string {
  const nowMs = Date.now();
  const language = currentLanguage();
  if (format === null || format.language !== language || Math.abs(nowMs - format.atMs) > FORMAT_LIFE_MS) format = { atMs: nowMs, language, write: timeFormat() };
  return format.write(ms);
}

export function messageRow(row: ConversationRow, place: number, count: number, phone: Phone, ongrow: () => void): HTMLElement {
  const { message, kept, own, isFirstOfRun, isFirstNew, dayMs } = row;
  return h(
    "li",
    { "data-message-id": row.id, "aria-posinset": place, "aria-setsize": count, class: `${message.own ? "own" : ""}${isFirstOfRun ? " first" : ""}`, test: "message" },
    kept?.afterGap === true && gap(phone),
    dayMs !== null && h("h2", { class: "day" }, h("span", {}, formatDay(dayMs, Date.now()))),
    isFirstNew && h("p", { class: "new" }, h("span", {}, t("new-messages"))),
    h(
      "article",
      { class: "slip" },
      author(row, phone),
      message.text === null ? h("p", { class: "unknown" }, t("message-unknown")) : messageText(message.text, ongrow),
      kept?.cut === true && h("p", { class: "unknown", test: "cut" }, t("page-cut", { desktop: desktopName(phone.desktop) })),
      h("footer", {}, h("time", { datetime: isoTime(message.storedAtMs) }, timeOf(message.storedAtMs)), state(row, phone)),
      own?.state === "failed" && h("p", { class: "row" }, button("", t("page-text-retry"), "rewrite", () => void phone.rewrite(own)), button("quiet", t("message-delete"), "drop", () => void phone.drop(own.id))),
    ),
  );
}

function gap(phone: Phone): HTMLElement {
  const desktop = desktopName(phone.desktop);
  const isReached = phone.view.status?.isConnected === true && phone.view.status.trouble === null;
  return h("p", { class: "gap", test: "gap" }, t(isReached ? "page-older-asked" : "page-older-waiting", { desktop }));
}

/** Who wrote it, and on which phone; said again only where another one begins. */
function author({ message, kept, own, isFirstOfRun }: ConversationRow, phone: Phone): HTMLElement {
  const via = cleanName(kept?.via ?? "");
  const isFromHere = own !== null || (message.own && via !== "" && via === cleanName(phone.groups?.phone ?? ""));
  const name = isFromHere ? t("page-by-this-phone") : message.own ? desktopName(phone.desktop) : cleanName(message.authorName);
  if (isFromHere || !isFirstOfRun) return h("header", { class: "visually-hidden" }, name);
  return h("header", {}, bdi(name), via !== "" && h("span", { class: "via" }, t("message-via", { phone: via })));
}

function state({ message, kept, own }: ConversationRow, phone: Phone): Child {
  if (own !== null) {
    const signs: Record<typeof own.state, Sign> = { failed: "failed", received: "check", stored: "onRelay", waiting: "waiting" };
    return stateWords(signs[own.state], textLine(own, desktopName(phone.desktop)), own.state === "failed" ? "bad" : "");
  }
  const delivery = message.own ? (kept?.delivery ?? null) : null;
  if (delivery === null) return null;
  if (delivery.state === "failed") return stateWords("failed", deliveryLine(delivery), "bad");
  return delivery.onRelay > 0 ? stateWords("onRelay", deliveryLine(delivery), "good") : stateWords("waiting", deliveryLine(delivery), "");
}

function stateWords(name: Sign, text: string, tone: string): HTMLElement {
  return h("span", { class: `state ${tone}`, test: "state" }, sign(name, "small"), text);
}
