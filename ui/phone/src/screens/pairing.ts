// From the scanned code to the link, step by step.

import { t } from "../../../src/text";
import { button, type Child, h, type Screen, spoken } from "../dom";
import { bar, LinkLine, waiting } from "../parts/line";
import { sign } from "../parts/signs";
import type { Phone } from "../phone";
import { desktopName } from "../words";

const PHASES = ["connecting", "waiting", "compare", "confirming"] as const;

export function pairingScreen(phone: Phone): Screen {
  const pairing = phone.view.pairing;
  const phase = pairing?.phase ?? "connecting";
  const desktop = desktopName(pairing?.desktop ?? "");
  const line = new LinkLine(phone);
  const heading = h("h2", { tabindex: "-1" }, phase === "compare" ? t("page-digits-title", { desktop }) : t("page-confirm-title", { desktop }));
  const hold = h("div", {}, waiting(phase === "waiting" ? t("page-pairing-waiting", { desktop }) : t("page-pairing-connecting")));
  const element = h(
    "main",
    { class: "page", test: "pairing", "data-phase": phase },
    bar(line, h("h1", { class: "title" }, t("page-pairing-title", { desktop })), button("quiet", t("cancel"), "cancel", () => phone.cancelPairing())),
    h(
      "div",
      { class: "scroll" },
      h(
        "div",
        { class: "column" },
        steps(PHASES.indexOf(phase), desktop),
        phase === "compare" ? [heading, ...compare(phone, pairing?.digits ?? "")] : phase === "confirming" ? [heading, code(pairing?.digits ?? ""), h("p", {}, t("page-confirm-title.about"))] : hold,
        h("p", { class: "hint trust" }, sign("info", "small"), t("page-trust")),
      ),
    ),
  );
  return {
    element,
    update: () => {
      line.update();
      // What is in the way is said above; nothing is being waited for besides it.
      hold.hidden = (phone.view.status?.trouble ?? null) !== null;
    },
    shown: () => (heading.isConnected ? heading.focus() : undefined),
  };
}

function steps(at: number, desktop: string): HTMLElement {
  const words = [t("page-step-relay"), t("page-step-answer", { desktop }), t("page-step-compare"), t("page-step-confirm", { desktop })];
  return h(
    "ol",
    { class: "steps" },
    words.map((step, index) =>
      h(
        "li",
        { class: index < at ? "done" : index === at ? "now" : null, "aria-current": index === at ? "step" : null },
        h("span", { class: "number", "aria-hidden": "true" }, index < at ? sign("check", "small") : String(index + 1)),
        h("span", {}, step),
      ),
    ),
  );
}

function compare(phone: Phone, digits: string): Child[] {
  return [
    code(digits),
    h("p", { class: "hint" }, t("page-digits-about")),
    button("wide primary", t("page-digits-same"), "same", () => phone.answerDigits(true)),
    button("wide danger", t("page-digits-different"), "different", () => phone.answerDigits(false)),
  ];
}

function code(digits: string): HTMLElement {
  const half = (text: string): HTMLElement => h("span", { "aria-hidden": "true" }, text);
  return h("p", { class: "digits", test: "digits" }, spoken(t("page-digits-label", { digits: [...digits].join(" ") })), half(digits.slice(0, 3)), half(digits.slice(3)));
}
