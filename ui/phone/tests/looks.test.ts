// Every screen of the page in every look: axe finds nothing, nothing sticks out sideways, and
// everything that is touched is at least 44 px high and wide. With SCREENSHOTS=folder, each
// is drawn as well.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axeFaults, type AxeScope, bringAxe } from "../../tests/axe";
import { launch } from "../../tests/browser";
import { Desktop } from "./desktop";
import { message } from "./messages";
import { BROWSER_OPTIONS, TestPhone } from "./page";
import { type Relay, startRelay } from "./relay";

interface Look {
  name: string;
  axe: AxeScope | null;
  width: number;
  height: number;
  colorScheme: "light" | "dark";
  forcedColors: "active" | "none";
}

const LOOKS: Look[] = [
  { name: "light", axe: "all", width: 390, height: 780, colorScheme: "light", forcedColors: "none" },
  { name: "dark", axe: "colours", width: 390, height: 780, colorScheme: "dark", forcedColors: "none" },
  { name: "forced", axe: "colours", width: 390, height: 780, colorScheme: "dark", forcedColors: "active" },
  { name: "small", axe: "structure", width: 320, height: 568, colorScheme: "light", forcedColors: "none" },
  { name: "zoom-200", axe: null, width: 195, height: 390, colorScheme: "light", forcedColors: "none" },
  { name: "wide", axe: null, width: 1024, height: 700, colorScheme: "dark", forcedColors: "none" },
];

const TOUCH_PX = 44;
const shots = process.env["SCREENSHOTS"];
let relay: Relay;
let browser: Browser;

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), launch(BROWSER_OPTIONS)]);
});

afterAll(async () => {
  await browser.close();
  await relay.close();
});

/** What a look breaks, in words. */
function faults(page: Page): Promise<string[]> {
  return page.evaluate((touch) => {
    const found: string[] = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the page sticks out by ${document.documentElement.scrollWidth - innerWidth}px`);
    for (const control of document.querySelectorAll<HTMLElement>("button, textarea, select, summary")) {
      if (!control.checkVisibility()) continue;
      const { width, height, left, right } = control.getBoundingClientRect();
      const what = control.dataset["testid"] ?? control.outerHTML.slice(0, 60);
      if (width < touch - 0.5 || height < touch - 0.5) found.push(`${what} is ${Math.round(width)} × ${Math.round(height)}`);
      if (left < -1 || right > innerWidth + 1) found.push(`${what} sticks out`);
    }
    for (const part of document.querySelectorAll<HTMLElement>("h1, h2, p, dd, dt, .card, .slip, .told")) {
      const { left, right } = part.getBoundingClientRect();
      if (part.checkVisibility() && !part.matches(".visually-hidden, .visually-hidden *") && (left < -1 || right > innerWidth + 1)) found.push(`${part.className} ${part.innerText.slice(0, 30)} sticks out`);
    }
    return found;
  }, TOUCH_PX);
}

async function holds(page: Page, name: string, isWords = false): Promise<void> {
  await bringAxe(page);
  const found: string[] = [];
  for (const look of LOOKS) {
    if (isWords && look.name !== "light" && look.name !== "small") continue;
    await page.emulateMedia({ colorScheme: look.colorScheme, forcedColors: look.forcedColors });
    await page.setViewportSize({ width: look.width, height: look.height });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    if (shots !== undefined) {
      mkdirSync(shots, { recursive: true });
      await page.screenshot({ path: join(shots, `${name}-${look.name}.png`) });
    }
    const byAxe = look.axe === null ? [] : await axeFaults(page, look.axe);
    found.push(...[...byAxe, ...(await faults(page))].map((fault) => `${name} ${look.name}: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
  await page.setViewportSize({ width: 390, height: 780 });
  expect(found).toEqual([]);
}

const LONG = "Überaus-langer-Gruppenname-ohne-jede-Lücke-der-niemals-aufhört-und-weitergeht";

async function shared(locale = "en-GB"): Promise<{ page: Page; desktop: Desktop; phone: TestPhone }> {
  const phone = await TestPhone.open(browser, relay, { locale });
  const desktop = new Desktop(relay.base);
  const page = await phone.pair(desktop);
  const day = 86_400_000;
  const own = { own: true, author: "Study" };
  desktop.messages.push(
    message(1, "Did anybody water the tomatoes? They looked sad this morning, and it is going to be over thirty degrees until Thursday.", { at: Date.now() - day - 9e6 }),
    message(2, "Milk, eggs, and the good bread if they have it.", { ...own, delivery: { state: "onRelay", onRelay: 2, total: 2, reason: null } }),
    message(3, "Yes, twice.", { author: "Jonas", via: "Pixel 9" }),
    message(4, "נתראה בשש ליד הספרייה", { author: "أميرة" }),
    message(5, "https://example.org/trains — the 8:14 still runs on Sundays.", { author: LONG }),
    message(6, "I'll bring it along.", { ...own, via: "Pocket", delivery: { state: "waiting", onRelay: 0, total: 2, reason: null } }),
    message(7, "x".repeat(90), { ...own, delivery: { state: "failed", onRelay: 0, total: 2, reason: "tooLarge" } }),
    message(8, "", { author: "Anna" }),
  );
  const unknown = desktop.messages.at(-1);
  if (unknown !== undefined) unknown.text = null;
  const group = { members: 3, unread: 0, last: 8, trouble: null };
  await desktop.tell({
    type: "groups",
    desktop: "Study",
    phone: "Pocket",
    language: "en",
    groups: [
      { ...group, id: "home", name: "Family" },
      { ...group, id: "work", name: "Allotment", trouble: "notConnected" },
      { ...group, id: "long", name: LONG, unread: 128, last: 900 },
      { ...group, id: "arab", name: "العائلة", members: 1, last: null },
    ],
  });
  await desktop.tellTail("home");
  await desktop.tell({ type: "tail", group: "long", from: null, messages: [message(900, "A preview that is longer than the line it stands in, as they are", { author: "Jonas" })] });
  await page.getByTestId("group").nth(3).waitFor();
  await expect.poll(() => page.locator("main").innerText()).toContain("Jonas");
  return { page, desktop, phone };
}

describe("every look holds", () => {
  it("of the dead ends", async () => {
    const phone = await TestPhone.open(browser, relay);
    await holds(await phone.tab(), "start");
    const page = await phone.tab(`${phone.url}#v=9`);
    await holds(page, "code-version", true);
    await phone.close();
  });

  it("of a pairing, step by step", async () => {
    const phone = await TestPhone.open(browser, relay);
    const desktop = new Desktop(relay.base, "Anna’s laptop in the study");
    const page = await phone.tab(await desktop.show(phone.url));
    await page.locator('[data-phase="waiting"]').waitFor();
    await holds(page, "pairing-waiting");
    await desktop.meet();
    await page.getByTestId("digits").waitFor();
    await holds(page, "pairing-digits");
    await page.getByTestId("same").click();
    await page.locator('[data-phase="confirming"]').waitFor();
    await holds(page, "pairing-confirm", true);
    await desktop.cancel();
    await page.getByTestId("dead-end").waitFor();
    await holds(page, "pairing-ended", true);
    await phone.close();
  });

  it("of the groups and a conversation", async () => {
    const { page, phone } = await shared();
    await holds(page, "groups");
    await page.getByTestId("group").first().click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(8);
    await page.getByTestId("composer").fill("Back at six");
    await page.getByTestId("send").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(9);
    await holds(page, "conversation");
    await phone.context.route(/\/v1\//, (route) => route.abort());
    await page.getByTestId("composer").fill("a text that waits");
    await page.getByTestId("send").click();
    await expect.poll(() => page.getByTestId("link-line").count()).toBe(1);
    await holds(page, "conversation-unreachable", true);
    await phone.close();
  });

  it("of this phone, and of a link that was lost", async () => {
    const { page, phone } = await shared();
    await page.getByTestId("this-phone").click();
    await holds(page, "phone");
    await page.getByTestId("unpair").click();
    await holds(page, "unpair");
    await page.getByTestId("unpair-cancel").click();
    await relay.stop();
    relay.lose();
    await relay.start();
    // The next attempt finds the mailbox gone and makes a new one.
    await expect.poll(() => page.locator("main header").innerText(), { timeout: 20_000 }).toContain("had lost");
    await holds(page, "unconfirmed", true);
    await phone.close();
  });

  it("in German, and where there is nothing yet", async () => {
    const { page, phone, desktop } = await shared("de-DE");
    await holds(page, "groups-de", true);
    await page.getByTestId("group").nth(3).click();
    await page.getByTestId("conversation").waitFor();
    await holds(page, "empty-de", true);
    await page.getByTestId("back").click();
    await page.getByTestId("this-phone").click();
    await holds(page, "phone-de", true);
    await desktop.tell({ type: "groups", desktop: "Study", phone: "Pocket", language: "de", groups: [] });
    await page.getByTestId("back").click();
    await page.getByTestId("no-groups").waitFor();
    await holds(page, "no-groups-de", true);
    await desktop.erase();
    await page.getByTestId("dead-end").waitFor();
    await holds(page, "farewell-de", true);
    await phone.close();
  });
});
