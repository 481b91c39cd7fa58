// A text, as text only: each paragraph finds its own direction, and an address that is one of
// http or https leads out of the page without telling where from.

import { linkPieces } from "../../../src/links";
import { t } from "../../../src/text";
import { h } from "../dom";

const SIGNS_SHOWN = 2400;
const LINES_SHOWN = 30;

/** `ongrow` is called after somebody asked for all of a long text. */
export function messageText(text: string, ongrow: () => void): HTMLElement {
  const lines = text.split("\n");
  const isCut = text.length > SIGNS_SHOWN || lines.length > LINES_SHOWN;
  if (!isCut) return block(lines);
  // Half of a sign outside the basic plane would show as a damaged one.
  const shown = block(lines.slice(0, LINES_SHOWN).join("\n").slice(0, SIGNS_SHOWN).replace(/[\ud800-\udbff]$/, "").split("\n"));
  const whole = h("button", { type: "button", class: "button quiet", test: "show-all" }, t("message-show-all"));
  const both = h("div", {}, shown, whole);
  whole.onclick = () => {
    both.replaceChildren(block(lines));
    ongrow();
  };
  return both;
}

function block(lines: readonly string[]): HTMLElement {
  return h("div", { class: "text", test: "message-text" }, lines.map((line) => h("p", { dir: "auto" }, linkPieces(line).map(({ text, url }) => (url === null ? text : link(text, url))))));
}

function link(text: string, url: string): HTMLElement {
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
}
