// A place where nothing goes on by itself: what happened, why, and the way on.

import { t } from "../../../src/text";
import { button, type Child, h, type Screen } from "../dom";
import { messageText } from "../parts/text";
import { seal, sign, type Sign } from "../parts/signs";
import type { Phone } from "../phone";

export interface DeadEnd {
  sign: Sign;
  title: string;
  about: string;
  /** What to do elsewhere. */
  next?: string | undefined;
  /** Whether loading the page again may help. */
  reload?: boolean;
  /** More to read or to press. */
  more?: Child;
  /** Goes back to where it was, where there is something to go back to. */
  done?: (() => void) | undefined;
}

export function deadEnd({ sign: name, title, about, next, reload = false, more = null, done }: DeadEnd): Screen {
  const element = h(
    "main",
    { class: "page", test: "dead-end" },
    h("header", { class: "bar" }, h("div", { class: "line" }, seal(), h("p", { class: "title" }, "Sealpost"))),
    h(
      "div",
      { class: "scroll" },
      h(
        "div",
        { class: "column" },
        h("span", { class: "round-sign" }, sign(name)),
        h("h1", {}, title),
        h("p", {}, about),
        next !== undefined && h("p", { class: "next" }, next),
        more,
        reload && button("wide primary", t("page-reload"), "reload", () => location.reload()),
        done !== undefined && button("wide", t("back"), "done", done),
      ),
    ),
  );
  return { element, update: () => {} };
}

/** After the link has ended: who ended it, and what had not left this phone. */
export function farewell(phone: Phone, by: "here" | "there"): Screen {
  const key = by === "here" ? "page-farewell-here" : "page-farewell-there";
  const left = phone.texts.filter(({ state }) => state !== "received");
  const more = [
    left.length > 0 && h("h2", {}, t("page-farewell-texts")),
    left.map(({ text }) => h("div", { class: "card", test: "left-text" }, messageText(text, () => {}))),
    button("wide", t("page-understood"), "understood", () => void phone.dismiss()),
  ];
  return deadEnd({ sign: "leave", title: t(key), about: t(`${key}.about`), next: t("page-scan-again"), more });
}
