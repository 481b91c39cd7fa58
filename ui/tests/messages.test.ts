// The message list with 10,000 messages: few rows drawn, and nothing ever jumps.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { SampleApp } from "../src/samples/channel";
import { at, openGroup, play, settled, useWindows } from "./fixture";

const open = useWindows();
const ROWS_MAX = 120;

function scroll(page: Page, byPx: number): Promise<void> {
  return at(page, "messages").evaluate((list, by) => {
    list.scrollTop += by;
  }, byPx);
}

/** How far the list is from its end. */
function distanceToEnd(page: Page): Promise<number> {
  return at(page, "messages").evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop);
}

/** The row in the middle of the visible part, and where it stands. */
function middle(page: Page): Promise<{ id: string; top: number }> {
  return at(page, "messages").evaluate((list) => {
    const box = list.getBoundingClientRect();
    const rows = [...list.querySelectorAll<HTMLElement>("[data-message-id]")];
    const row = rows.find((one) => one.getBoundingClientRect().bottom > box.top + box.height / 2);
    return { id: row?.dataset["messageId"] ?? "", top: row?.getBoundingClientRect().top ?? 0 };
  });
}

function topOf(page: Page, id: string): Promise<number> {
  return page.locator(`[data-message-id="${id}"]`).evaluate((row) => row.getBoundingClientRect().top);
}

async function openMany(): Promise<Page> {
  const page = await open();
  await openGroup(page, "many");
  await page.locator('[data-position="10000"]').waitFor();
  await settled(page);
  return page;
}

describe("a list of 10,000 messages", () => {
  it("opens at its end with few rows drawn", async () => {
    const page = await openMany();
    expect(await distanceToEnd(page)).toBeLessThan(2);
    expect(await at(page, "message").count()).toBeLessThan(ROWS_MAX);
  });

  it("is read backwards without a jump, a gap or a double", async () => {
    const page = await openMany();
    const seen = new Set<number>();
    for (let step = 0; step < 60; step += 1) {
      await scroll(page, -400);
      const held = await middle(page);
      await settled(page);
      await settled(page);
      expect(Math.abs((await topOf(page, held.id)) - held.top)).toBeLessThan(3);
      const drawn = await at(page, "message").evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset["position"])));
      expect(drawn.length).toBeLessThan(ROWS_MAX);
      expect(drawn).toEqual(drawn.map((_, index) => (drawn[0] ?? 0) + index));
      for (const position of drawn) seen.add(position);
    }
    const oldest = Math.min(...seen);
    expect(seen.size).toBe(10_000 - oldest + 1);
    expect(oldest).toBeLessThan(9_850);
  });

  it("holds the row that is read while 2,000 arrive, and offers the way to them", async () => {
    const page = await openMany();
    await scroll(page, -3_000);
    await settled(page);
    const held = await middle(page);
    await play(page, "receive", "many", "Fresh", 2_000);
    await at(page, "jump-to-end").getByText("2,000 new messages").waitFor();
    await settled(page);
    expect(Math.abs((await topOf(page, held.id)) - held.top)).toBeLessThan(3);
    await at(page, "jump-to-end").click();
    await page.locator('[data-position="12000"]').waitFor();
    await settled(page);
    expect(await distanceToEnd(page)).toBeLessThan(2);
    await at(page, "jump-to-end").waitFor({ state: "detached" });
  });

  it("stays at its end while messages arrive and the window changes its size", async () => {
    const page = await openMany();
    for (let index = 1; index <= 5; index += 1) await play(page, "receive", "many", `A longer one\n${"word ".repeat(80)}`, 3);
    await page.locator('[data-position="10015"]').waitFor();
    for (const width of [700, 360, 1180]) {
      await page.setViewportSize({ width, height: 640 });
      await settled(page);
      await settled(page);
      expect(await distanceToEnd(page)).toBeLessThan(2);
    }
  });

  it("takes keys within 100 ms while 2,000 messages arrive", async () => {
    const page = await openMany();
    await at(page, "composer").focus();
    await play(page, "receive", "many", "Flood", 2_000);
    const tookMs = await at(page, "composer").evaluate(async (field) => {
      const begun = performance.now();
      (field as HTMLTextAreaElement).value = "x";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now() - begun;
    });
    expect(tookMs).toBeLessThan(100);
  });
});

describe("a group of 50,000 messages", () => {
  it("opens with as few rows as a small one, also far from its end, and jumps there and back", async () => {
    const page = await open("?size=50000");
    const small = await page.locator("*").count();
    await openGroup(page, "many");
    await page.locator('[data-position="50000"]').waitFor();
    await settled(page);
    expect(await at(page, "message").count()).toBeLessThan(ROWS_MAX);
    expect(await page.locator("*").count()).toBeLessThan(small + ROWS_MAX * 15);
    await scroll(page, -2_000_000);
    await settled(page);
    await at(page, "jump-to-end").click();
    await page.locator('[data-position="50000"]').waitFor();
    await settled(page);
    expect(await distanceToEnd(page)).toBeLessThan(2);
  });

  it("is searched, and what stands around a hit long ago can be read in both directions", async () => {
    const page = await open("?size=50000");
    await page.evaluate(() => {
      const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
      const row = sampleApp.rows("many")[12_344];
      if (row !== undefined) row.text = "the only needle";
    });
    await at(page, "search").click();
    await at(page, "search-field").fill("only needle");
    await at(page, "search-hit").click();
    await page.locator('.found[data-position="12345"]').waitFor();
    await settled(page);
    const box = await at(page, "messages").boundingBox();
    const hit = await page.locator(".found").boundingBox();
    expect(hit !== null && box !== null && hit.y >= box.y && hit.y < box.y + box.height).toBe(true);
    for (const direction of [-1, 1]) {
      for (let step = 0; step < 12; step += 1) {
        await scroll(page, direction * 900);
        await settled(page);
        await settled(page);
        const drawn = await at(page, "message").evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset["position"])));
        expect(drawn).toEqual(drawn.map((_, index) => (drawn[0] ?? 0) + index));
        expect(drawn.length).toBeLessThan(ROWS_MAX);
      }
    }
    await at(page, "jump-to-end").click();
    await page.locator('[data-position="50000"]').waitFor();
  });
});

describe("the days", () => {
  it("are told anew in another time zone and at midnight, in the same order", async () => {
    const page = await open();
    const devtools = await page.context().newCDPSession(page);
    const seen = (): Promise<{ days: string[]; times: string[]; order: string[] }> => page.evaluate(() => {
      const texts = (selector: string): string[] => [...document.querySelectorAll<HTMLElement>(selector)].map((one) => one.innerText);
      return { days: texts('[data-testid="day"]'), times: texts("article time"), order: [...document.querySelectorAll<HTMLElement>("[data-position]")].map((one) => one.dataset["position"] ?? "") };
    });
    await devtools.send("Emulation.setTimezoneOverride", { timezoneId: "Europe/Berlin" });
    await page.waitForTimeout(1200);
    const before = await seen();
    await devtools.send("Emulation.setTimezoneOverride", { timezoneId: "Pacific/Kiritimati" });
    await page.waitForFunction((time) => [...document.querySelectorAll<HTMLElement>("article time")].at(-1)?.innerText !== time, before.times.at(-1));
    const after = await seen();
    expect(after.order.at(-1)).toBe(before.order.at(-1));
    expect(after.order).toEqual([...after.order].sort((one, other) => Number(one) - Number(other)));
    expect(new Set(after.days).size).toBe(after.days.length);
    expect(after.times).not.toEqual(before.times);
  });
});

describe("a draft", () => {
  it("is what the app has kept, and what is typed is kept by the app", async () => {
    const page = await open();
    await openGroup(page, "states");
    expect(await at(page, "composer").inputValue()).toBe("A thought that was begun yesterday");
    await at(page, "composer").fill("Another one");
    await page.waitForFunction(() => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.group("states").draft === "Another one");
  });
});

describe("what is new", () => {
  it("is read only as far as it was seen, however much there is", async () => {
    const page = await open();
    await openGroup(page, "full");
    await at(page, "new-messages").waitFor();
    await settled(page);
    const unread = await page.evaluate(() => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.group("full").unread);
    expect(unread).toBeGreaterThan(1_150);
    expect(unread).toBeLessThanOrEqual(1_204);
  });

  it("begins under a line, near the top of the view, and is read by being seen", async () => {
    const page = await open();
    await openGroup(page, "family");
    await at(page, "new-messages").waitFor();
    await settled(page);
    const box = await at(page, "messages").boundingBox();
    const line = await at(page, "new-messages").boundingBox();
    expect((line?.y ?? 0) - (box?.y ?? 0)).toBeLessThan((box?.height ?? 0) / 2);
    await at(page, "messages").evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.waitForFunction(() => document.querySelector('[data-group="family"] .unread') === null);
    expect(await at(page, "new-messages").count()).toBe(1);
  });

  it("is read at once where it arrives under the eyes", async () => {
    const page = await open();
    await settled(page);
    await play(page, "receive", "devices", "Seen at once", 2);
    await at(page, "message-text").getByText("Seen at once 2").waitFor();
    await page.waitForFunction(() => document.querySelector('[data-group="devices"] .unread') === null);
  });

  it("waits under a line while the window is not looked at", async () => {
    const page = await open();
    await settled(page);
    await page.evaluate(() => {
      document.hasFocus = () => false;
    });
    await play(page, "receive", "devices", "Come and eat", 2);
    await at(page, "new-messages").waitFor();
    await settled(page);
    expect(await page.locator('[data-group="devices"] .unread').innerText()).toContain("2");
    await page.evaluate(() => {
      document.hasFocus = () => true;
      dispatchEvent(new Event("focus"));
    });
    await page.waitForFunction(() => document.querySelector('[data-group="devices"] .unread') === null);
    expect(await at(page, "new-messages").count()).toBe(1);
  });

  it("is spoken once", async () => {
    const page = await open();
    await settled(page);
    await play(page, "receive", "devices", "Dinner is ready");
    await page.waitForFunction(() => /Pixel 9.*Dinner is ready/.test(document.querySelector('[data-testid="spoken"]')?.textContent ?? ""));
  });
});

describe("a message", () => {
  it("is text only, whatever it holds", async () => {
    const page = await open();
    await play(page, "receive", "devices", '<img src=x onerror="document.title=1"><b>bold</b>');
    await at(page, "message-text").getByText("<b>bold</b>").waitFor();
    expect(await at(page, "messages").locator("img, b").count()).toBe(0);
  });

  it("finds the direction of each paragraph by itself", async () => {
    const page = await open();
    await play(page, "receive", "devices", "مرحبا room 4B\nHello");
    const paragraphs = at(page, "message-text").last().locator("p");
    await paragraphs.getByText("مرحبا room 4B").waitFor();
    expect(await paragraphs.evaluateAll((all) => all.map((one) => getComputedStyle(one).direction))).toEqual(["rtl", "ltr"]);
  });

  it("of great length is folded, and opens whole", async () => {
    const page = await open();
    const long = Array.from({ length: 400 }, (_, index) => `line ${index}`).join("\n");
    await play(page, "receive", "devices", long);
    const row = at(page, "message").last();
    await row.getByRole("button", { name: "Show all of it" }).click();
    expect(await row.locator("p").count()).toBeGreaterThanOrEqual(400);
  });
});
