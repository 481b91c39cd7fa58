// What belongs to the app as a whole: relay, issues, search, settings, keys.

import { at, play } from "./fixture";
import { after, dialog, group, press, search, settings, tested, type Scene } from "./scene";

export const appScenes: Record<string, Scene> = {
  "issues": { address: "", go: after(press("issues"), async (page) => at(page, "issue").first().waitFor()) },
  "issues-all": { address: "", tall: 4_400, isVariant: true, go: after(press("issues"), async (page) => at(page, "issue").first().waitFor()) },
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
  "search-unreadable": {
    address: "",
    isVariant: true,
    go: async (page) => {
      await play(page, "refuse", "search", "storage", { kind: "damaged" });
      await press("search")(page);
      await at(page, "search-field").fill("the");
      await at(page, "error").waitFor();
    },
  },
  "search-jump": { address: "", go: after(search("serial"), async (page) => at(page, "search-hit").last().click(), async (page) => page.locator(".found").waitFor()) },
  "relay": { address: "", go: press("show-relay") },
  "relay-german": { address: "?lang=de", go: press("show-relay") },
  "relay-off": { address: "?scene=relay-off", go: press("show-relay") },
  "relay-failed": { address: "?scene=relay-failed", go: press("show-relay") },
  "relay-starting": { address: "?scene=relay-starting", isVariant: true, go: press("show-relay") },
  "relay-without-network": { address: "?scene=no-network", isVariant: true, tall: 1_300, go: press("show-relay") },
  "relay-all": { address: "", isVariant: true, tall: 1_500, go: press("show-relay") },
  "relay-all-german": { address: "?lang=de", tall: 1_500, go: press("show-relay") },
  "relay-wrong-key": { address: "?scene=connection:wrongKey", isVariant: true, go: press("show-relay") },
  "relay-none": { address: "?scene=connection:noRelay", isVariant: true, go: press("show-relay") },
  "relay-name-not-found": { address: "?scene=connection:nameNotFound", isVariant: true, go: after(group("many"), press("show-relay")) },
  "relay-something-else": { address: "?scene=connection:somethingElse", isVariant: true, go: after(group("many"), press("show-relay")) },
  "relay-unavailable": { address: "?scene=connection:unavailable", isVariant: true, go: after(group("many"), press("show-relay")) },
  "relay-lost": { address: "?scene=connection:lost", isVariant: true, go: after(group("many"), press("show-relay")) },
  "relay-unsupported": { address: "?scene=connection:unsupported", isVariant: true, go: after(group("many"), press("show-relay")) },
  "relay-firewall": { address: "", isVariant: true, tall: 2_200, go: after(press("show-relay"), async (page) => page.locator("summary").click()) },
  "relay-not-reached": { address: "", go: after(group("many"), press("show-relay")) },
  "relay-test": { address: "", go: tested(null) },
  "relay-test-failed": { address: "", go: tested("connect") },
  "relay-change": { address: "", go: dialog(null, "show-relay", "change-relay") },
  "relay-share": { address: "", go: after(dialog(null, "show-relay", "share-relay"), async (page) => at(page, "qr-code").locator("svg").waitFor()) },
  "relay-ports": { address: "", go: press("show-relay", "edit-ports") },
  "settings": { address: "", go: press("settings") },
  "settings-german": { address: "?lang=de", go: press("settings") },
  "settings-all": { address: "", isVariant: true, tall: 1_900, go: press("settings") },
  "settings-all-german": { address: "?lang=de", tall: 1_900, go: press("settings") },
  "settings-refused": {
    address: "",
    isVariant: true,
    go: async (page) => {
      await play(page, "refuse", "set_settings", "start-at-login-unavailable");
      await press("settings", "start-at-login")(page);
      await at(page, "error").waitFor();
    },
  },
  "settings-passphrase": { address: "?scene=passphrase-kept", go: press("settings") },
  "settings-change-passphrase": { address: "?scene=passphrase-kept", go: settings("change-passphrase") },
  "locked": { address: "", go: after(press("settings", "lock-now"), async (page) => at(page, "locked").waitFor()) },
  "settings-bundle": { address: "", go: after(settings("support-bundle"), async (page) => at(page, "bundle-text").waitFor()) },
  "shortcuts": { address: "", go: async (page) => page.keyboard.press("Control+/") },
};
