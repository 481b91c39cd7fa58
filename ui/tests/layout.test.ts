// Where things stand: what people look for is in sight, and beside what it belongs to.

import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { at, play, useWindows } from "./fixture";

const open = useWindows();
const LARGE = { width: 1180, height: 760, zoom: 2 };

/** Whether all of it stands within the window. */
function isInSight(one: Locator): Promise<boolean> {
  return one.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

describe("a page", () => {
  it("begins at its top, however far the one before was scrolled", async () => {
    const page = await open("", LARGE);
    await at(page, "show-groups").click();
    await at(page, "settings").click();
    await at(page, "about").click();
    await at(page, "about").waitFor({ state: "detached" });
    expect(await isInSight(page.locator("#page-title"))).toBe(true);
  });
});

describe("a refusal", () => {
  it("is in sight of the button that it answers, at 200 %", async () => {
    const page = await open("?scene=first", LARGE);
    await play(page, "refuse", "start_group", "relay-address-invalid", { part: "key" });
    await at(page, "relay-elsewhere").click();
    await at(page, "relay-address").fill("trueseal://damaged@192.168.178.24:7700");
    await at(page, "start-group").click();
    await at(page, "error").waitFor();
    expect(await isInSight(at(page, "error"))).toBe(true);
    expect(await isInSight(at(page, "start-group"))).toBe(true);
  });

  it("is in sight in a dialog with a passphrase, at 200 %", async () => {
    const page = await open("", LARGE);
    await play(page, "refuse", "back_up", "backup-no-room");
    await at(page, "show-groups").click();
    await at(page, "settings").click();
    await at(page, "backup").click();
    await at(page, "passphrase").fill("four plain words");
    await at(page, "passphrase-again").fill("four plain words");
    await at(page, "passphrase-submit").click();
    await at(page, "error").waitFor();
    expect(await isInSight(at(page, "error"))).toBe(true);
    expect(await isInSight(at(page, "passphrase-submit"))).toBe(true);
  });
});

describe("a name in another direction than the language", () => {
  /** Where the writing of each of them begins, counted from the right. */
  function starts(page: Page, selector: string): Promise<number[]> {
    return page.locator(selector).evaluateAll((elements) =>
      elements.map((element) => {
        const text = document.createRange();
        text.selectNodeContents(element);
        return Math.round(Math.min(text.getBoundingClientRect().right, element.getBoundingClientRect().right));
      }),
    );
  }

  it("stands where the words below it stand", async () => {
    const page = await open("?lang=pseudo-rtl");
    const names = await starts(page, '[data-testid="group"] .name');
    expect(names.length).toBeGreaterThan(5);
    expect(names).toEqual(await starts(page, '[data-testid="group"] .sentence'));
  });
});
