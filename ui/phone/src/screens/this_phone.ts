// This phone's link: with whom, how it stands, and how to end it.

import { cleanName } from "../../../src/names";
import { formatAgo, t } from "../../../src/text";
import { bdi, button, h, iconButton, Part, type Screen } from "../dom";
import { bar, LinkLine } from "../parts/line";
import { sign } from "../parts/signs";
import type { Phone } from "../phone";
import { desktopName } from "../words";

const LANGUAGES = [["en", "English"], ["de", "Deutsch"]] as const;

export function thisPhoneScreen(phone: Phone, language: string, onlanguage: (language: string) => void): Screen {
  const line = new LinkLine(phone);
  const facts = new Part(h("dl", { class: "card" }));
  const dialog = h("dialog", { "aria-labelledby": "unpair-title" });
  const unpair = h("button", { type: "button", class: "button wide danger", test: "unpair", onclick: () => dialog.showModal() }, sign("leave"), t("page-unpair"));
  const element = h(
    "main",
    { class: "page", test: "phone" },
    bar(line, iconButton(sign("back"), t("back"), "back", () => phone.back()), h("h1", {}, t("page-phone-title"))),
    h("div", { class: "scroll" }, h("div", { class: "column" }, facts.element, languages(language, onlanguage), note("page-home-title"), note("page-network-title"), unpair)),
    dialog,
  );
  fill(dialog, phone);
  return {
    element,
    update: () => {
      line.update();
      const words = factsOf(phone);
      facts.show(words, () => words.map(([what, value]) => h("div", {}, h("dt", {}, what), h("dd", {}, bdi(value)))));
    },
  };
}

function factsOf(phone: Phone): [string, string][] {
  const contactMs = phone.view.status?.lastContactMs ?? null;
  const count = phone.texts.filter(({ state }) => state === "waiting").length;
  return [
    [t("page-phone-with"), desktopName(phone.desktop)],
    ...(phone.groups === null ? [] : [[t("page-phone-name"), cleanName(phone.groups.phone)] satisfies [string, string]]),
    [t("page-phone-relay"), phone.relay],
    [t("page-phone-contact"), contactMs === null ? t("page-phone-no-contact") : formatAgo(contactMs, Math.max(Date.now(), contactMs))],
    [t("page-phone-waiting"), count === 0 ? t("page-phone-waiting-none") : t("page-group-waiting", { count })],
  ];
}

function languages(language: string, onlanguage: (language: string) => void): HTMLElement {
  const select = h("select", { class: "select", test: "language", onchange: () => onlanguage(select.value) });
  select.append(h("option", { value: "" }, t("page-language-phone")), ...LANGUAGES.map(([tag, name]) => h("option", { value: tag, lang: tag }, name)));
  select.value = language;
  return h("label", { class: "card" }, h("span", { class: "what" }, t("page-language")), select);
}

function note(key: string): HTMLElement {
  return h("section", { class: "card" }, h("h2", {}, t(key)), h("p", { class: "hint" }, t(`${key}.about`)));
}

function fill(dialog: HTMLDialogElement, phone: Phone): void {
  const go = button("wide danger", t("page-unpair"), "unpair-confirm", () => {
    dialog.close();
    phone.unpair();
  });
  dialog.append(
    h("h2", { id: "unpair-title" }, t("page-unpair-title", { desktop: desktopName(phone.desktop) })),
    h("h3", {}, t("confirm-does")),
    h("p", {}, t("page-unpair-does")),
    h("h3", {}, t("confirm-does-not")),
    h("p", {}, t("page-unpair-not")),
    go,
    button("wide", t("cancel"), "unpair-cancel", () => dialog.close()),
  );
}
