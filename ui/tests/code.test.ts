// The pairing code as a camera sees it: read off screenshots, with two decoders that have
// nothing to do with each other or with what drew it.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import decode from "jsqr";
import type { Page } from "playwright-core";
import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import type { SampleApp } from "../src/samples/channel";
import type { Look } from "./browser";
import { at, useWindows } from "./fixture";

const open = useWindows();
const QUIET_MODULES = 4;
const PICTURES_MAX = 20;

const looks: [string, Look][] = [
  ["light", {}],
  ["dark", { colorScheme: "dark" }],
  ["forced colours", { forcedColors: "active" }],
  ["forced colours, dark", { forcedColors: "active", colorScheme: "dark" }],
  ["360 wide", { width: 360, height: 720 }],
  ["360 wide, dark", { width: 360, height: 720, colorScheme: "dark" }],
  ["1600 wide", { width: 1600, height: 1000 }],
  ["zoom 150 %", { zoom: 1.5 }],
  ["zoom 200 %, dark", { zoom: 2, colorScheme: "dark" }],
];

async function openCode(look: Look): Promise<{ page: Page; link: string }> {
  const page = await open("", look);
  await at(page, "pair-device").click();
  await at(page, "qr-code").locator("svg").waitFor();
  return { page, link: await at(page, "invitation-link").inputValue() };
}

/** A picture of the card; a busy machine may take it before the code was painted. */
async function pictureOf(page: Page): Promise<PNG> {
  const isBlank = (picture: PNG): boolean => inkWithin(picture, picture.width / 10).right === 0;
  let card = PNG.sync.read(await at(page, "qr-card").screenshot());
  for (let tries = 0; isBlank(card) && tries < PICTURES_MAX; tries += 1) {
    await page.waitForTimeout(100);
    card = PNG.sync.read(await at(page, "qr-card").screenshot());
  }
  return card;
}

function luminance(png: PNG, x: number, y: number): number {
  const at = (Math.floor(y) * png.width + Math.floor(x)) * 4;
  return ((png.data[at] ?? 0) + (png.data[at + 1] ?? 0) + (png.data[at + 2] ?? 0)) / 3;
}

/** Shrinks a picture to `width` by averaging, as a small camera would. */
function shrink(png: PNG, width: number): PNG {
  const scale = png.width / width;
  const small = new PNG({ width, height: Math.floor(png.height / scale) });
  for (let y = 0; y < small.height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let sum = 0;
      for (let part = 0; part < 9; part += 1) sum += luminance(png, (x + (part % 3) / 3) * scale, (y + Math.floor(part / 3) / 3) * scale);
      small.data.fill(Math.round(sum / 9), (y * width + x) * 4, (y * width + x) * 4 + 3);
      small.data[(y * width + x) * 4 + 3] = 255;
    }
  }
  return small;
}

/** Reads a code with zbar, which scans lines where jsQR looks for squares. */
function decodeWithZbar(png: PNG): string {
  const only = ["-Sdisable", "-Sqrcode.enable"];
  const read = execFileSync("zbarimg", ["--quiet", "--nodbus", "--raw", ...only, "png:-"], { input: PNG.sync.write(png), encoding: "utf8" });
  return read.trimEnd();
}

/** Where the dark of the code lies, without the page that shows between the card's teeth. */
function inkWithin(card: PNG, marginPx: number): { left: number; top: number; right: number } {
  const ink = { left: Number.POSITIVE_INFINITY, top: Number.POSITIVE_INFINITY, right: 0 };
  for (let y = Math.ceil(marginPx); y < card.height - marginPx; y += 1) {
    for (let x = Math.ceil(marginPx); x < card.width - marginPx; x += 1) {
      if (luminance(card, x, y) > 60) continue;
      ink.left = Math.min(ink.left, x);
      ink.top = Math.min(ink.top, y);
      ink.right = Math.max(ink.right, x);
    }
  }
  return ink;
}

/** What the app draws for the longest invitation; a test of the drawing keeps it so. */
const sample = (name: string): string => readFileSync(new URL(`./samples/longest_code.${name}`, import.meta.url), "utf8");

describe.each(looks.slice(0, 2))("the code of the longest invitation (%s)", (_, look) => {
  it("is read off a picture of 240 dots by two decoders", async () => {
    const { page } = await openCode(look);
    await page.evaluate((qrSvg) => {
      const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
      const group = sampleApp.view.groups.find(({ pairing }) => pairing !== null);
      if (group?.pairing) sampleApp.change(group.id, { pairing: { ...group.pairing, qrSvg } });
    }, sample("svg"));
    const side = / viewBox="0 0 (\d+) /.exec(sample("svg"))?.[1];
    await at(page, "qr-code").locator(`svg[viewBox="0 0 ${side} ${side}"]`).waitFor();
    const small = shrink(await pictureOf(page), 240);
    expect(decode(new Uint8ClampedArray(small.data), small.width, small.height, { inversionAttempts: "dontInvert" })?.data).toBe(sample("txt"));
    expect(decodeWithZbar(small)).toBe(sample("txt"));
  });
});

describe.each(looks)("the code (%s)", (_, look) => {
  it("is read off the whole page, and off a picture of 240 dots", async () => {
    const { page, link } = await openCode(look);
    const expected = await page.evaluate(() => (globalThis as unknown as { sampleApp: { codeText: string } }).sampleApp.codeText);
    expect(expected.startsWith("trueseal://") && link.startsWith("trueseal://")).toBe(true);
    const card = await pictureOf(page);
    for (const png of [card, shrink(card, 240)]) {
      expect(decode(new Uint8ClampedArray(png.data), png.width, png.height, { inversionAttempts: "dontInvert" })?.data).toBe(expected);
      expect(decodeWithZbar(png)).toBe(expected);
    }
  });

  it("has a white border of four modules all around", async () => {
    const { page } = await openCode(look);
    const card = await pictureOf(page);
    const zoom = look.zoom ?? 1;
    const svg = await at(page, "qr-code").locator("svg").evaluate((drawing) => ({ side: drawing.getBoundingClientRect().width, box: (drawing as SVGSVGElement).viewBox.baseVal.width }));
    const modules = await page.evaluate(() => (globalThis as unknown as { sampleApp: { codeModules: number } }).sampleApp.codeModules);
    const modulePx = (svg.side * zoom) / (modules + 2 * QUIET_MODULES);
    const { left, top, right } = inkWithin(card, 2 * modulePx);
    expect((right - left) / modulePx).toBeCloseTo(modules, 0);
    for (let step = 0; step < 40; step += 1) {
      const along = left + ((right - left) * step) / 39;
      for (const away of [0.7, 1.7, 2.7, 3.7]) {
        expect(luminance(card, along, top - away * modulePx)).toBeGreaterThan(240);
        expect(luminance(card, left - away * modulePx, along - left + top)).toBeGreaterThan(240);
        expect(luminance(card, right + away * modulePx, along - left + top)).toBeGreaterThan(240);
      }
    }
    if (look.width !== 360) expect(modulePx / zoom).toBeGreaterThanOrEqual(3);
  });
});
