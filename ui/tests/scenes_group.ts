// A group: its messages, members, and the ways out of it.

import { at, play } from "./fixture";
import { after, dialog, group, open, press, reach, type Scene } from "./scene";

export const groupScenes: Record<string, Scene> = {
  "group": { address: "" },
  "group-german": { address: "?lang=de" },
  "group-new-messages": { address: "", go: group("family") },
  "group-many-new-messages": { address: "", go: group("full") },
  "group-every-state": { address: "", go: group("states") },
  "group-every-state-german": { address: "?lang=de", go: group("states") },
  "group-10000": { address: "", go: group("many") },
  "group-without-messages": { address: "", go: group("empty") },
  "group-alone": { address: "", go: group("alone") },
  "group-paired": {
    address: "",
    isVariant: true,
    go: async (page) => {
      await press("pair-device")(page);
      await at(page, "qr-code").locator("svg").waitFor();
      await play(page, "request", "devices", "Tablet");
      await press("accept")(page);
      await at(page, "paired").waitFor();
    },
  },
  "group-code-closed": { address: "", isVariant: true, go: press("pair-device", "back") },
  "group-cut-off": { address: "?scene=apart:cutOff", isVariant: true },
  "group-unlisted": { address: "?scene=apart:unlisted", isVariant: true },
  "group-admission-void": { address: "?scene=apart:admissionVoid", isVariant: true },
  "group-admission-dropped": { address: "?scene=dropped:groupFull", isVariant: true },
  "group-destroying": { address: "?scene=status:destroying", isVariant: true },
  "group-was-full": { address: "?scene=status:groupFull", isVariant: true },
  "group-not-admitted": { address: "?scene=status:admissionVoid", isVariant: true },
  "group-store-reset": { address: "?scene=status:storeReset", isVariant: true },
  "group-list": { address: "", isVariant: true, go: async (page) => void (await reach(page, at(page, "search"))) },
  "group-left": { address: "", go: group("left") },
  "group-removed": { address: "", go: group("removed") },
  "group-destroyed": { address: "", go: group("destroyed") },
  "group-leaving": { address: "", go: group("leaving") },
  "group-one-closed": { address: "?scene=one-closed" },
  "group-disk-full-at-start": { address: "?scene=disk-full" },
  "group-disk-full": {
    address: "",
    go: async (page) => {
      await play(page, "refuse", "send_message", "storage", { kind: "full" });
      await at(page, "composer").fill("There is no room for this one");
      await page.keyboard.press("Enter");
      await at(page, "error").waitFor();
    },
  },
  "message-detail": { address: "", go: after(group("states"), async (page) => at(page, "delivery-state").nth(3).click()) },
  "message-delete": { address: "", go: dialog("states", "delete-message") },
  "message-retry-refused": {
    address: "",
    go: async (page) => {
      await group("states")(page);
      await play(page, "refuse", "retry_message", "member-unknown");
      await press("retry")(page);
      await at(page, "error").waitFor();
    },
  },
  "message-too-long": { address: "", go: async (page) => at(page, "composer").fill("x".repeat(61_500)) },
  "members": { address: "", go: press("show-members") },
  "members-german": { address: "?lang=de", go: press("show-members") },
  "members-32-all": { address: "", tall: 2_300, isVariant: true, go: after(group("full"), press("show-members")) },
  "members-32": { address: "", go: after(group("full"), press("show-members")) },
  "member": { address: "", go: after(press("show-members"), async (page) => at(page, "member").nth(1).locator("button").click(), press("compare"), async (page) => at(page, "compare-code").waitFor()) },
  "member-this-device": { address: "", go: after(press("show-members"), async (page) => at(page, "member").first().locator("button").click()) },
  "member-remove": { address: "", go: after(press("show-members"), async (page) => at(page, "member").nth(1).locator("button").click(), press("remove-member")) },
  "membership-history": { address: "", go: after(group("family"), press("show-members", "show-history"), async (page) => at(page, "membership-history").locator("li").first().waitFor()) },
  "membership-history-unreadable": {
    address: "",
    isVariant: true,
    go: async (page) => {
      await play(page, "refuse", "membership_history", "storage", { kind: "damaged" });
      await press("show-members", "show-history")(page);
      await at(page, "error").waitFor();
    },
  },
  "group-rename": { address: "", go: open("show-members", "rename-group") },
  "group-leave": { address: "", go: dialog(null, "show-members", "leave-group") },
  "group-leave-after-admission": { address: "?scene=fresh-member", go: dialog(null, "show-members", "leave-group") },
  "group-destroy": { address: "", go: dialog(null, "show-members", "destroy-group") },
  "group-forget": { address: "", go: dialog("leaving", "forget-group") },
  "group-erase": { address: "", go: dialog("left", "erase-group") },
};
