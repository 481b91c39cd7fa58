// The phones: the list, a pairing step by step, and what can be wrong.

import { at } from "./fixture";
import { after, dialog, group, press, type Scene } from "./scene";

const phones = press("phones-open");

export const phoneScenes: Record<string, Scene> = {
  "phones": { address: "?scene=phones:list", tall: 1_700, go: phones },
  "phones-german": { address: "?scene=phones:list&lang=de", tall: 1_800, go: phones },
  "phones-none": { address: "", go: phones },
  "phones-none-german": { address: "?lang=de", go: phones },
  "phones-code": { address: "?scene=phones:code", tall: 1_200, go: after(phones, async (page) => at(page, "qr-code").locator("svg").waitFor()) },
  "phones-code-german": { address: "?scene=phones:code&lang=de", tall: 1_300, go: after(phones, async (page) => at(page, "qr-code").locator("svg").waitFor()) },
  "phones-contacted": { address: "?scene=phones:contacted", tall: 1_200, go: phones },
  "phones-compare": { address: "?scene=phones:compare", tall: 1_000, go: phones },
  "phones-compare-german": { address: "?scene=phones:compare&lang=de", go: phones },
  "phones-finishing": { address: "?scene=phones:finishing", go: phones },
  "phones-declined": { address: "?scene=phones:compare", go: after(phones, press("phone-different"), async (page) => at(page, "pairing-ended").waitFor()) },
  "phones-paired": { address: "?scene=phones:compare", isVariant: true, go: after(phones, press("phone-same"), async (page) => at(page, "phone-paired").waitFor()) },
  "phones-sees": { address: "?scene=phones:list", tall: 2_000, go: after(phones, async (page) => page.locator("summary").first().click()) },
  "phones-sees-before": { address: "?scene=phones:alone", tall: 1_200, go: after(phones, async (page) => page.locator("summary").first().click(), async (page) => at(page, "phone-group-before").waitFor()) },
  "phones-sees-before-german": { address: "?scene=phones:alone&lang=de", go: after(phones, async (page) => page.locator("summary").first().click()) },
  "phones-cut-short": { address: "?scene=phones:cut-short", isVariant: true, go: phones },
  "phones-rename": { address: "?scene=phones:list", go: after(phones, press("rename-phone")) },
  "phones-unpair": { address: "?scene=phones:list", go: dialog(null, "phones-open", "unpair-phone") },
  "phones-relay-off": { address: "?scene=phones:relay-off", go: phones },
  "phones-off": { address: "?scene=phones:off", isVariant: true, go: phones },
  "phones-port": { address: "?scene=phones:port", go: phones },
  "phones-port-ask": { address: "?scene=phones:port", isVariant: true, go: dialog(null, "phones-open", "phones-new-port") },
  "phones-unusable": { address: "?scene=phones:unusable", isVariant: true, go: phones },
  "phones-no-network": { address: "?scene=phones:no-network", isVariant: true, go: phones },
  "message-via": { address: "", go: group("states") },
};
