// From the first start to the first message: start, keys, pairing; and made-up languages.

import { at, play, sample } from "./fixture";
import { after, enter, group, LINK, LONG, press, type Scene } from "./scene";

export const startScenes: Record<string, Scene> = {
  starting: { address: "?scene=starting" },
  "first-start": { address: "?scene=first" },
  "first-start-address": { address: "?scene=first", go: press("relay-elsewhere") },
  "first-start-without-name": { address: "?scene=first", isVariant: true, go: async (page) => at(page, "device-name").fill("") },
  "first-start-refused": {
    address: "?scene=first",
    isVariant: true,
    go: async (page) => {
      await play(page, "refuse", "start_group", "relay-address-invalid", { part: "key" });
      await press("relay-elsewhere")(page);
      await at(page, "relay-address").fill("trueseal://damaged@192.168.178.24:7700");
      await press("start-group")(page);
      await at(page, "error").waitFor();
    },
  },
  "first-start-german": { address: "?scene=first&lang=de" },
  "keychain-missing": { address: "?scene=keychain:missing" },
  "keychain-locked": { address: "?scene=keychain:locked" },
  "keychain-dismissed": { address: "?scene=keychain:dismissed" },
  "keychain-damaged": { address: "?scene=keychain:damaged", go: press("try-keychain-again") },
  "keychain-other-profile": { address: "?scene=keychain:otherProfile" },
  "passphrase-choose": { address: "?scene=keychain:missing", go: press("use-passphrase") },
  "passphrase": { address: "?scene=passphrase" },
  "passphrase-wrong": {
    address: "?scene=passphrase",
    isVariant: true,
    go: async (page) => {
      await play(page, "refuse", "unlock", "passphrase-wrong");
      await page.locator("input[type=password]").fill("not the one");
      await page.keyboard.press("Enter");
      await at(page, "error").waitFor();
    },
  },
  "keychain-missing-german": { address: "?scene=keychain:missing&lang=de" },
  "failed": { address: "?scene=failed:profile-in-use" },
  "failed-storage": { address: "?scene=failed:storage" },
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
  "pair-closed": { address: "", isVariant: true, go: press("pair-device", "close-code") },
  "pair-careful": {
    address: "",
    isVariant: true,
    go: async (page) => {
      await press("pair-device")(page);
      await at(page, "qr-code").locator("svg").waitFor();
      await sample(page, (app) => {
        const { pairing } = app.group("devices");
        const request = { id: "one", name: "Pixe1 9", words: ["zebra", "outside", "language", "mushroom"], looksLike: "Pixel 9" };
        const soon = Date.now() + 70_000;
        app.change("devices", { staleRequest: { name: "Tablet", spent: "closed" }, pairing: pairing && { ...pairing, expiresAtMs: soon, requests: [request] } });
      });
      await at(page, "accept").waitFor();
    },
  },
  "pair-refused": {
    address: "",
    isVariant: true,
    go: async (page) => {
      await play(page, "refuse", "start_pairing", "storage", { kind: "full" });
      await press("pair-device")(page);
      await at(page, "error").waitFor();
    },
  },
  "pair-without-group": { address: "?scene=first", go: press("join-with-code", "tab-show") },
  "pair-german": { address: "?lang=de", go: press("pair-device") },
  "pair-enter-german": { address: "?lang=de", go: press("pair-device", "tab-enter") },
  "pair-enter": { address: "", go: press("pair-device", "tab-enter") },
  "pair-preview": { address: "", go: enter(LINK) },
  "pair-bare-code": { address: "", go: enter("tsp1_e06Qm75") },
  "pair-wrong-code": { address: "", go: enter("https://example.org") },
  "join-preparing": { address: "?scene=join:preparing", isVariant: true },
  "join-words": { address: "?scene=join" },
  "join-words-german": { address: "?scene=join&lang=de" },
  "join-queued": { address: "?scene=join-wait:queued", isVariant: true },
  "join-waiting": { address: "?scene=join-wait" },
  "join-admitted": { address: "?scene=join-wait:admitted", isVariant: true },
  "join-refused": { address: "?scene=join-wait:refused", isVariant: true },
  "add-group": { address: "", go: press("add-group") },
  "about": { address: "", go: press("settings", "about") },
  "about-german": { address: "?lang=de", go: press("settings", "about") },
  "pseudo": { address: "?lang=pseudo", go: press("show-members") },
  "pseudo-settings": { address: "?lang=pseudo", go: press("settings") },
  "rtl": { address: "?lang=pseudo-rtl", go: press("show-members") },
  "rtl-relay": { address: "?lang=pseudo-rtl", go: press("show-relay") },
  "rtl-every-state": { address: "?lang=pseudo-rtl", go: group("states") },
  "rtl-issues": { address: "?lang=pseudo-rtl", go: after(press("issues"), async (page) => at(page, "issue").first().waitFor()) },
  "rtl-first-start": { address: "?scene=first&lang=pseudo-rtl" },
};
