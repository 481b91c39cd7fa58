// A screen or state of the window, and the steps that lead there on sample data.

import type { Locator, Page } from "playwright-core";
import { at, settled } from "./fixture";

export interface Scene {
  address: string;
  go?: (page: Page) => Promise<void>;
  /** How high a window shows all of it, for its picture. */
  tall?: number;
  /** Whether it differs from another scene in its words only. */
  isVariant?: boolean;
}

export const LONG = "Grandmother’s kitchen tablet with the cracked corner and blue case";
export const LINK = "trueseal://38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67@192.168.178.24:7700?push=7701\n#tsp1_e06Qm75";

/** In a narrow window the list of groups stands behind a button, and that behind the way back. */
export const reach = async (page: Page, control: Locator) => {
  for (const way of ["show-groups", "back", "show-groups"]) {
    if (await control.isVisible()) break;
    if (await at(page, way).isVisible()) await at(page, way).click();
  }
  return control;
};
export const group = (id: string) => async (page: Page) => {
  await (await reach(page, page.locator(`[data-group="${id}"]`))).click();
  await page.locator(`[data-testid="messages"], [data-testid="empty-group"]`).waitFor();
  await settled(page);
};
export const press = (...testids: string[]) => async (page: Page) => {
  for (const testid of testids) await (await reach(page, at(page, testid).first())).click();
  await settled(page);
};
export const enter = (text: string) => async (page: Page) => {
  await press("pair-device", "tab-enter")(page);
  await at(page, "invitation-input").fill(text);
  await page.locator('[data-testid="invitation-preview"], [data-testid="error"]').waitFor();
};
export const after = (...steps: ((page: Page) => Promise<void>)[]) => async (page: Page) => {
  for (const step of steps) await step(page);
};

export const open = (...testids: string[]) => after(press(...testids));
export const dialog = (group_: string | null, ...testids: string[]) => after(...(group_ === null ? [] : [group(group_)]), press(...testids), async (page) => page.locator("dialog[open]").waitFor());
export const search = (text: string) => async (page: Page) => {
  await press("search")(page);
  await at(page, "search-field").fill(text);
  await page.locator('[data-testid="search-hits"], [data-testid="search-nothing"]').waitFor();
};
export const tested = (failing: string | null) => async (page: Page) => {
  await press("show-relay")(page);
  await page.evaluate((step) => Object.assign((globalThis as unknown as { sampleApp: object }).sampleApp, { failingStep: step }), failing);
  await at(page, "test-relay").first().click();
  await page.locator('[data-testid="test-relay"]:not([disabled])').first().waitFor();
};
export const settings = (...testids: string[]) => after(press("settings"), press(...testids));
