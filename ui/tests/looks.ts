// A screen in every look: axe finds nothing, nothing sticks out sideways or is cut off, every
// control has a name and can be hit, and an empty field says legibly what goes into it.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axeFaults, type AxeScope, bringAxe } from "./axe";
import { DEFAULT_SIZE, settled, useWindows } from "./fixture";
import type { Scene } from "./scene";

interface Look {
  name: string;
  /** What axe looks at. */
  axe: AxeScope | null;
  width: number;
  height: number;
  colorScheme: "light" | "dark";
  forcedColors: "active" | "none";
}

const looks: Look[] = [
  { name: "light", axe: "all", width: 1180, height: 760, colorScheme: "light", forcedColors: "none" },
  { name: "dark", axe: "colours", width: 1180, height: 760, colorScheme: "dark", forcedColors: "none" },
  { name: "forced-colours", axe: "colours", width: 1180, height: 760, colorScheme: "light", forcedColors: "active" },
  { name: "default", axe: "structure", ...DEFAULT_SIZE, colorScheme: "dark", forcedColors: "none" },
  { name: "zoom-200", axe: null, width: 590, height: 380, colorScheme: "light", forcedColors: "none" },
  { name: "narrow", axe: "structure", width: 360, height: 720, colorScheme: "light", forcedColors: "none" },
];

const FIRST_SIZE = { width: 1180, height: 760 };

/** What a look breaks, in words; empty when nothing is wrong. */
function faults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const over = document.documentElement.scrollWidth - innerWidth;
    if (over > 0) found.push(`the page sticks out by ${over}px`);
    for (const control of document.querySelectorAll<HTMLElement>("button, input, textarea, [role=tab], [role=switch]")) {
      if (!control.checkVisibility() || control.matches('.visually-hidden, [aria-hidden="true"]')) continue;
      const what = control.dataset["testid"] ?? control.outerHTML.slice(0, 60);
      const labels = control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement ? [...(control.labels ?? [])] : [];
      const name = control.getAttribute("aria-label") ?? (control.innerText || labels.map((label) => label.innerText).join(""));
      if (name.trim() === "") found.push(`${what} has no name`);
      const box = control.getBoundingClientRect();
      if (box.right > innerWidth + 1 || box.left < -1) found.push(`${what} sticks out`);
      const isSmall = box.width < 24 || box.height < 24;
      if (isSmall && !control.matches("[type=radio], [type=checkbox], .more")) found.push(`${what} is too small to hit`);
    }
    for (const part of document.querySelectorAll<HTMLElement>(".card, .letter, .caution, .error, main h1, main h2, main p")) {
      const box = part.getBoundingClientRect();
      const what = `${part.className} ${part.innerText.slice(0, 30)}`;
      if (part.checkVisibility() && !part.matches(".visually-hidden") && (box.right > innerWidth + 1 || box.left < -1)) found.push(`${what} sticks out`);
    }
    for (const sentence of document.querySelectorAll<HTMLElement>('[data-testid="group"] .sentence')) {
      if (sentence.checkVisibility() && sentence.scrollWidth > sentence.clientWidth) found.push(`${sentence.innerText} is cut off`);
    }
    for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("[placeholder]")) {
      const [back, front] = [getComputedStyle(field).backgroundColor, getComputedStyle(field, "::placeholder").color].map((colour) => {
        const parts = (/[\d., ]+/.exec(colour)?.[0] ?? "").split(",").slice(0, 3);
        const [red = 0, green = 0, blue = 0] = parts.map((part) => Number(part) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
      });
      const contrast = Math.max(back ?? 1, front ?? 1) / Math.min(back ?? 1, front ?? 1);
      if (field.checkVisibility() && contrast < 4.5) found.push(`what stands in ${field.dataset["testid"]} while it is empty has a contrast of ${contrast.toFixed(1)}`);
    }
    for (const word of document.querySelectorAll<HTMLElement>('[data-testid="words"] li')) {
      if (word.checkVisibility() && word.scrollWidth > word.clientWidth) found.push(`${word.innerText} sticks out of its frame`);
    }
    return found;
  });
}

/** One test for each scene: it holds in every look. All in one page, which is loaded anew. */
export function holdInEveryLook(scenes: Record<string, Scene>): void {
  const open = useWindows();
  let page: Page | null = null;

  async function load(address: string): Promise<Page> {
    if (page === null) {
      page = await open(address);
    } else {
      await page.emulateMedia({ colorScheme: "light", forcedColors: "none", reducedMotion: "reduce" });
      await page.setViewportSize(FIRST_SIZE);
      await page.goto(new URL(`index.html${address}`, page.url()).href);
      await page.waitForSelector("main");
    }
    await settled(page);
    return page;
  }

  describe.each(Object.entries(scenes))("%s", (_, scene) => {
    it("holds in every look", async () => {
      const page = await load(scene.address);
      await scene.go?.(page);
      await bringAxe(page);
      const hasPanel = (await page.locator(".panel").count()) > 0;
      for (const look of looks) {
        // At the default size, only a panel is arranged in another way; other words have the
        // same colours.
        if (look.name === "default" && !hasPanel) continue;
        const isWords = scene.isVariant || scene.address.includes("lang=");
        if (isWords && look.name !== "light" && look.name !== "narrow") continue;
        const { colorScheme, forcedColors, width, height } = look;
        await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height });
        await settled(page);
        await settled(page);
        const byAxe = look.axe === null ? [] : await axeFaults(page, look.axe);
        expect([look.name, ...byAxe, ...(await faults(page))]).toEqual([look.name]);
      }
    });
  });
}
