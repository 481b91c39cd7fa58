// The groups that the desktop shares with this phone.

import { cleanName } from "../../../src/names";
import { formatDay, formatTime, startOfDay, t } from "../../../src/text";
import { bdi, h, iconButton, Part, type Screen, spoken } from "../dom";
import type { Group, GroupTrouble } from "../feed";
import { bar, LinkLine } from "../parts/line";
import { avatar, seal, sign } from "../parts/signs";
import type { Phone } from "../phone";
import { desktopName } from "../words";

const PREVIEW_SIGNS_MAX = 120;

const troubleKeys: Record<GroupTrouble, string> = { ended: "page-group-ended", needsYou: "page-group-needs-you", notConnected: "page-group-not-connected", other: "page-group-needs-you" };

/** What a line of the list says. */
interface GroupLine {
  id: string;
  name: string;
  about: string;
  isTrouble: boolean;
  when: string;
  unread: number;
}

export function groupsScreen(phone: Phone): Screen {
  const line = new LinkLine(phone);
  const list = new Part(h("div", { class: "column" }));
  const settings = iconButton(sign("settings"), t("page-phone-title"), "this-phone", () => phone.go({ is: "phone" }));
  const element = h("main", { class: "page", test: "groups" }, bar(line, seal(), h("h1", {}, t("groups-label")), settings), h("div", { class: "scroll" }, list.element));
  return {
    element,
    update: () => {
      line.update();
      const desktop = desktopName(phone.desktop);
      const lines = phone.groups?.groups.map((group) => lineOf(phone, group, desktop)) ?? null;
      list.show([lines, desktop, phone.isWelcome], () => [phone.isWelcome && welcome(desktop), lines === null || lines.length === 0 ? none(lines === null, desktop) : h("ul", {}, lines.map((one) => entry(phone, one)))]);
    },
  };
}

function lineOf(phone: Phone, group: Group, desktop: string): GroupLine {
  const newest = phone.newest.get(group.id);
  const today = Date.now();
  const when = newest === undefined ? "" : startOfDay(newest.at) === startOfDay(today) ? formatTime(newest.at) : formatDay(newest.at, today);
  return { id: group.id, name: cleanName(group.name) || t("group-unnamed"), about: about(phone, group, desktop), isTrouble: group.trouble !== null, when, unread: phone.unread(group) };
}

/** What is wrong, what waits, or what was said last. */
function about(phone: Phone, group: Group, desktop: string): string {
  if (group.trouble !== null) return t(troubleKeys[group.trouble], { desktop });
  const count = phone.texts.filter((text) => text.group === group.id && text.state === "waiting").length;
  if (count > 0) return t("page-group-waiting", { count });
  const newest = phone.newest.get(group.id);
  if (newest === undefined) return t("group-devices", { count: group.members });
  const text = (newest.text ?? t("message-unknown")).slice(0, PREVIEW_SIGNS_MAX).replace(/\s+/gu, " ");
  return newest.own ? text : t("message-spoken", { name: cleanName(newest.author), text });
}

function entry(phone: Phone, { id, name, about: second, isTrouble, when, unread }: GroupLine): HTMLElement {
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "bare entry", test: "group", onclick: () => phone.go({ is: "group", group: id }) },
      avatar(id, name),
      h(
        "span",
        { class: "words" },
        h("span", { class: "top" }, bdi(name, "name one-line"), h("span", { class: "when" }, when)),
        h("span", { class: "top" }, bdi(second, `about one-line${isTrouble ? " trouble" : ""}`), unread > 0 && h("span", { class: "badge" }, h("span", { "aria-hidden": "true" }, String(unread)), spoken(t("unread", { count: unread })))),
      ),
    ),
  );
}

function welcome(desktop: string): HTMLElement {
  return h("p", { class: "notice", role: "status", test: "paired" }, sign("check"), t("page-paired", { desktop }));
}

function none(isWaiting: boolean, desktop: string): HTMLElement {
  const key = isWaiting ? "page-groups-waiting" : "page-groups-none";
  return h("section", { class: "card", test: "no-groups" }, h("h2", {}, t(key, { desktop })), h("p", {}, t(`${key}.about`, { desktop })));
}
