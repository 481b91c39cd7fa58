// Every screen and state of the window, and how to get there on sample data.

import type { Page } from "playwright-core";
import { at, play, settled } from "./fixture";

export interface Scene {
  address: string;
  go?: (page: Page) => Promise<void>;
}

const LONG = "Grandmother’s kitchen tablet with the cracked corner and blue case";
const LINK = "trueseal://38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67@192.168.178.24:7700?push=7701\n#tsp1_e06Qm75";

const group = (id: string) => async (page: Page) => {
  await page.locator(`[data-group="${id}"]`).click();
  await page.locator(`[data-testid="messages"], [data-testid="empty-group"]`).waitFor();
  await settled(page);
};
const press = (...testids: string[]) => async (page: Page) => {
  for (const testid of testids) await at(page, testid).first().click();
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

export const scenes: Record<string, Scene> = {
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
  "group": { address: "" },
  "group-german": { address: "?lang=de" },
  "group-new-messages": { address: "", go: group("family") },
  "group-every-state": { address: "", go: group("states") },
  "group-every-state-german": { address: "?lang=de", go: group("states") },
  "group-10000": { address: "", go: group("many") },
  "group-long-names": { address: "", go: group("full") },
  "group-without-messages": { address: "", go: group("empty") },
  "group-alone": { address: "", go: group("alone") },
  "group-left": { address: "", go: group("left") },
  "group-one-closed": { address: "?scene=one-closed" },
  "message-detail": { address: "", go: after(group("states"), async (page) => at(page, "delivery-state").nth(3).click()) },
  "message-too-long": { address: "", go: async (page) => at(page, "composer").fill("x".repeat(61_500)) },
  "members": { address: "", go: press("show-members") },
  "members-32": { address: "", go: after(group("full"), press("show-members")) },
  "relay": { address: "", go: press("show-relay") },
  "relay-off": { address: "?scene=relay-off", go: press("show-relay") },
  "relay-failed": { address: "?scene=relay-failed", go: press("show-relay") },
  "relay-not-reached": { address: "", go: after(group("many"), press("show-relay")) },
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
  "about": { address: "", go: press("about") },
};
