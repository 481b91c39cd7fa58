// Where a text is written. Nothing is ever cut: what is too long stays and says so. With a real
// keyboard Enter sends; on a phone's own it breaks the line, as everywhere there.

import { t } from "../../../src/text";
import { h, Part } from "../dom";
import { TEXT_BYTES_MAX } from "../limit";
import { sign } from "./signs";

const COUNTER_FROM = 0.85;
const COMPOSING = 229;
const encoder = new TextEncoder();

/** What was begun and not yet handed over, for as long as the page is open. */
const drafts = new Map<string, string>();

/** Resolves to whether the text is stored: the field is emptied then, and not before. */
export function composer(group: string, onsend: (text: string) => Promise<boolean>): HTMLElement {
  const field = h("textarea", { class: "input", rows: 1, dir: "auto", "aria-label": t("composer-label"), placeholder: t("composer-label"), test: "composer" });
  const go = h("button", { type: "submit", class: "button primary round", "aria-label": t("send"), title: t("send"), test: "send" }, sign("send"));
  const counter = new Part(h("p", { class: "counter", role: "status" }));
  let isBusy = false;
  field.value = drafts.get(group) ?? "";

  const update = (): void => {
    drafts.set(group, field.value);
    const bytes = encoder.encode(field.value).length;
    const over = bytes - TEXT_BYTES_MAX;
    go.disabled = field.value.trim() === "" || over > 0;
    field.setAttribute("aria-invalid", String(over > 0));
    counter.element.classList.toggle("over", over > 0);
    counter.show(bytes > TEXT_BYTES_MAX * COUNTER_FROM ? over : null, () => (bytes <= TEXT_BYTES_MAX * COUNTER_FROM ? null : over > 0 ? t("composer-too-long", { over, max: TEXT_BYTES_MAX }) : t("composer-left", { left: -over })));
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  };
  const submit = async (): Promise<void> => {
    if (go.disabled || isBusy) return;
    isBusy = true;
    const text = field.value;
    field.focus();
    try {
      if ((await onsend(text)) && field.value === text) field.value = "";
    } finally {
      isBusy = false;
      update();
    }
  };
  field.oninput = update;
  field.onkeydown = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.altKey || matchMedia("(pointer: coarse)").matches) return;
    if (event.isComposing || event.keyCode === COMPOSING) return;
    event.preventDefault();
    void submit();
  };
  const form = h("form", { class: "in-column", onsubmit: (event) => { event.preventDefault(); void submit(); } }, counter.element, h("div", { class: "line" }, field, go));
  requestAnimationFrame(update);
  return form;
}
