// What stands between this phone and the computer, if something does; and a row of dots for
// what is being waited for.

import { t } from "../../../src/text";
import { button, h, Part } from "../dom";
import type { Phone } from "../phone";
import { desktopName, linkLine } from "../words";
import { sign } from "./signs";

export class LinkLine extends Part {
  constructor(private readonly phone: Phone) {
    super(h("div", { role: "status" }));
  }

  update(): void {
    const { phone } = this;
    const line = linkLine(phone.view, desktopName(phone.desktop), phone.relay, phone.isOnline, Date.now());
    const isElsewhere = phone.place.is !== "phone";
    this.show([line, isElsewhere], () => {
      if (line === null) return null;
      const actions = {
        retry: () => button("", t("try-again"), "retry", () => phone.retry()),
        reload: () => button("", t("page-reload"), "reload", () => location.reload()),
        unpair: () => isElsewhere && button("", t("page-phone-title"), "to-phone", () => phone.go({ is: "phone" })),
      };
      return h("div", { class: `told ${line.tone}`, test: "link-line" }, line.tone !== "quiet" && sign("failed", "small"), h("p", {}, line.text), line.action !== null && actions[line.action]());
    });
  }
}

export function waiting(text: string): HTMLElement {
  return h("p", { class: "notice", role: "status" }, h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), text);
}

/** The bar at the top, with the link's line below it. */
export function bar(line: LinkLine, ...children: Parameters<typeof h>[2][]): HTMLElement {
  return h("header", { class: "bar" }, h("div", { class: "line" }, ...children), line.element);
}
