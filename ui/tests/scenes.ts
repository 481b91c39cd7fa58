// Every screen and state of the window, and how to get there on sample data.

import type { Locator, Page } from "playwright-core";
import { at, play, settled } from "./fixture";

export interface Scene {
  address: string;
  go?: (page: Page) => Promise<void>;
}

const LONG = "Grandmother’s kitchen tablet with the cracked corner and blue case";
const LINK = "trueseal://38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67@192.168.178.24:7700?push=7701\n#tsp1_e06Qm75";

/** In a narrow window the list of groups stands behind a button. */
const reach = async (page: Page, control: Locator) => {
  if (!(await control.isVisible()) && (await at(page, "show-groups").isVisible())) await at(page, "show-groups").click();
  return control;
};
const group = (id: string) => async (page: Page) => {
  await (await reach(page, page.locator(`[data-group="${id}"]`))).click();
  await page.locator(`[data-testid="messages"], [data-testid="empty-group"]`).waitFor();
  await settled(page);
};
const press = (...testids: string[]) => async (page: Page) => {
  for (const testid of testids) await (await reach(page, at(page, testid).first())).click();
  await settled(page);
};
const enter = (text: string) => async (page: Page) => {
  await press("pair-device", "tab-enter")(page);
  await at(page, "invitation-input").fill(text);
  await page.locator('[data-testid="invitation-preview"], [data-testid="error"]').waitFor();
};
const after = (...steps: ((page: Page) => Promise<void>)[]) => async (page: Page) => {
  for (const step of steps) await step(page);
};

const open = (...testids: string[]) => after(press(...testids));
const dialog = (group_: string | null, ...testids: string[]) => after(...(group_ === null ? [] : [group(group_)]), press(...testids), async (page) => page.locator("dialog[open]").waitFor());
const search = (text: string) => async (page: Page) => {
  await press("search")(page);
  await at(page, "search-field").fill(text);
  await page.locator('[data-testid="search-hits"], [data-testid="search-nothing"]').waitFor();
};
const tested = (failing: string | null) => async (page: Page) => {
  await press("show-relay")(page);
  await page.evaluate((step) => Object.assign((globalThis as unknown as { sampleApp: object }).sampleApp, { failingStep: step }), failing);
  await at(page, "test-relay").first().click();
  await page.locator('[data-testid="test-relay"]:not([disabled])').first().waitFor();
};
const settings = (...testids: string[]) => after(press("settings"), press(...testids));

/** From the first start to the first message: start, keys, pairing; and made-up languages. */
export const startScenes: Record<string, Scene> = {
  starting: { address: "?scene=starting" },
  "first-start": { address: "?scene=first" },
  "first-start-address": { address: "?scene=first", go: press("relay-elsewhere") },
  "first-start-german": { address: "?scene=first&lang=de" },
  "keychain-missing": { address: "?scene=keychain:missing" },
  "keychain-locked": { address: "?scene=keychain:locked" },
  "keychain-dismissed": { address: "?scene=keychain:dismissed" },
  "keychain-damaged": { address: "?scene=keychain:damaged", go: press("try-keychain-again") },
  "keychain-other-profile": { address: "?scene=keychain:otherProfile" },
  "passphrase-choose": { address: "?scene=keychain:missing", go: press("use-passphrase") },
  "passphrase": { address: "?scene=passphrase" },
  "failed": { address: "?scene=failed:profile-in-use" },
  "failed-newer-data": { address: "?scene=failed:profile-too-new" },
  "pair-code": { address: "", go: press("pair-device") },
  "pair-requests": {
    address: "",
    go: async (page) => {
      await press("pair-device")(page);
      await at(page, "qr-code").locator("svg").waitFor();
      await play(page, "request", "devices", "Pixel 9");
      await play(page, "request", "devices", LONG, ["zebra", "outside", "language", "mushroom"]);
      await at(page, "accept").nth(1).waitFor();
    },
  },
  "pair-expired": {
    address: "",
    go: async (page) => {
      await press("pair-device")(page);
      await at(page, "qr-code").locator("svg").waitFor();
      await play(page, "change", "devices", { pairing: null, pairingClosed: "expired" });
    },
  },
  "pair-enter": { address: "", go: press("pair-device", "tab-enter") },
  "pair-preview": { address: "", go: enter(LINK) },
  "pair-bare-code": { address: "", go: enter("tsp1_e06Qm75") },
  "pair-wrong-code": { address: "", go: enter("https://example.org") },
  "join-words": { address: "?scene=join" },
  "join-waiting": { address: "?scene=join-wait" },
  "add-group": { address: "", go: press("add-group") },
  "about": { address: "", go: press("settings", "about") },
  "pseudo": { address: "?lang=pseudo", go: press("show-members") },
  "pseudo-settings": { address: "?lang=pseudo", go: press("settings") },
  "rtl": { address: "?lang=pseudo-rtl", go: press("show-members") },
  "rtl-relay": { address: "?lang=pseudo-rtl", go: press("show-relay") },
  "rtl-every-state": { address: "?lang=pseudo-rtl", go: group("states") },
  "rtl-issues": { address: "?lang=pseudo-rtl", go: after(press("issues"), async (page) => at(page, "issue").first().waitFor()) },
  "rtl-first-start": { address: "?scene=first&lang=pseudo-rtl" },
};

/** A group: its messages, members, and the ways out of it. */
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
  "members-32": { address: "", go: after(group("full"), press("show-members")) },
  "member": { address: "", go: after(press("show-members"), async (page) => at(page, "member").nth(1).locator("button").click(), press("compare"), async (page) => at(page, "compare-code").waitFor()) },
  "member-this-device": { address: "", go: after(press("show-members"), async (page) => at(page, "member").first().locator("button").click()) },
  "member-remove": { address: "", go: after(press("show-members"), async (page) => at(page, "member").nth(1).locator("button").click(), press("remove-member")) },
  "membership-history": { address: "", go: after(group("family"), press("show-members", "show-history"), async (page) => at(page, "membership-history").locator("li").first().waitFor()) },
  "group-rename": { address: "", go: open("show-members", "rename-group") },
  "group-leave": { address: "", go: dialog(null, "show-members", "leave-group") },
  "group-leave-after-admission": { address: "?scene=fresh-member", go: dialog(null, "show-members", "leave-group") },
  "group-destroy": { address: "", go: dialog(null, "show-members", "destroy-group") },
  "group-forget": { address: "", go: dialog("leaving", "forget-group") },
  "group-erase": { address: "", go: dialog("left", "erase-group") },
};

/** What belongs to the app as a whole: relay, issues, search, settings, keys. */
export const appScenes: Record<string, Scene> = {
  "issues": { address: "", go: after(press("issues"), async (page) => at(page, "issue").first().waitFor()) },
  "issues-german": { address: "?lang=de", go: after(press("issues"), async (page) => at(page, "issue").first().waitFor()) },
  "issues-none": { address: "?scene=quiet", go: after(press("issues"), async (page) => at(page, "no-issues").waitFor()) },
  "issues-unreadable": {
    address: "",
    go: async (page) => {
      await play(page, "refuse", "delivery_issues", "storage", { kind: "damaged" });
      await press("issues")(page);
      await at(page, "error").waitFor();
    },
  },
  "search": { address: "", go: press("search") },
  "search-hits": { address: "", go: search("the") },
  "search-nothing": { address: "", go: search("zebra") },
  "search-jump": { address: "", go: after(search("serial"), async (page) => at(page, "search-hit").last().click(), async (page) => page.locator(".found").waitFor()) },
  "relay": { address: "", go: press("show-relay") },
  "relay-german": { address: "?lang=de", go: press("show-relay") },
  "relay-off": { address: "?scene=relay-off", go: press("show-relay") },
  "relay-failed": { address: "?scene=relay-failed", go: press("show-relay") },
  "relay-not-reached": { address: "", go: after(group("many"), press("show-relay")) },
  "relay-test": { address: "", go: tested(null) },
  "relay-test-failed": { address: "", go: tested("connect") },
  "relay-change": { address: "", go: dialog(null, "show-relay", "change-relay") },
  "relay-share": { address: "", go: after(dialog(null, "show-relay", "share-relay"), async (page) => at(page, "qr-code").locator("svg").waitFor()) },
  "relay-ports": { address: "", go: press("show-relay", "edit-ports") },
  "settings": { address: "", go: press("settings") },
  "settings-german": { address: "?lang=de", go: press("settings") },
  "settings-passphrase": { address: "?scene=passphrase-kept", go: press("settings") },
  "settings-change-passphrase": { address: "?scene=passphrase-kept", go: settings("change-passphrase") },
  "locked": { address: "", go: after(press("settings", "lock-now"), async (page) => at(page, "locked").waitFor()) },
  "settings-bundle": { address: "", go: after(settings("support-bundle"), async (page) => at(page, "bundle-text").waitFor()) },
  "shortcuts": { address: "", go: async (page) => page.keyboard.press("Control+/") },
};

export const allScenes: Record<string, Scene> = { ...startScenes, ...groupScenes, ...appScenes };
