// Every screen in every look: nothing sticks out sideways, every control has a name and
// can be seen. With SCREENS=folder it also leaves a picture of each.

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { settled, useWindows } from "./fixture";
import { scenes } from "./scenes";

const open = useWindows();
const folder = process.env["SCREENS"];
if (folder !== undefined) mkdirSync(folder, { recursive: true });

interface Look {
  name: string;
  width: number;
  height: number;
  colorScheme: "light" | "dark";
  forcedColors: "active" | "none";
}

const looks: Look[] = [
  { name: "light", width: 1180, height: 760, colorScheme: "light", forcedColors: "none" },
  { name: "dark", width: 1180, height: 760, colorScheme: "dark", forcedColors: "none" },
  { name: "forced-colours", width: 1180, height: 760, colorScheme: "light", forcedColors: "active" },
  { name: "middle", width: 860, height: 640, colorScheme: "dark", forcedColors: "none" },
  { name: "zoom-200", width: 590, height: 380, colorScheme: "light", forcedColors: "none" },
  { name: "narrow", width: 360, height: 720, colorScheme: "light", forcedColors: "none" },
];

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
    return found;
  });
}

describe.each(Object.entries(scenes))("%s", (name, scene) => {
  it("holds in every look", async () => {
    const page = await open(scene.address);
    await settled(page);
    await scene.go?.(page);
    for (const look of looks) {
      const { colorScheme, forcedColors, width, height } = look;
      await page.emulateMedia({ colorScheme, forcedColors, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height });
      await settled(page);
      await settled(page);
      expect([look.name, ...(await faults(page))]).toEqual([look.name]);
      if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}-${look.name}.png` });
    }
    await page.close();
  });
});
