// The built window in a real browser, under a policy as strict as the app's own: whatever
// the policy or the window complains about ends the test.

import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

const BUILT = fileURLToPath(new URL("../../target/ui-samples", import.meta.url));
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'";
const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

export interface Look {
  colorScheme?: "light" | "dark";
  forcedColors?: "active" | "none";
  reducedMotion?: "reduce" | "no-preference";
  width?: number;
  height?: number;
  /** 2 for a zoom of 200 %: half the room, twice the dots. */
  zoom?: number;
}

export class Window {
  private constructor(
    readonly page: Page,
    readonly complaints: string[],
  ) {}

  static async open(browser: Browser, base: string, address: string, look: Look = {}): Promise<Window> {
    const { colorScheme = "light", forcedColors = "none", reducedMotion = "reduce" } = look;
    const { width = 1180, height = 760, zoom = 1 } = look;
    const page = await browser.newPage({
      viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
      deviceScaleFactor: zoom,
      colorScheme,
      forcedColors,
      reducedMotion,
      locale: "en-GB",
    });
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (line) => {
      if (line.type() === "error" || line.type() === "warning") complaints.push(line.text());
    });
    // As in the app, where nobody may change what all objects share.
    await page.addInitScript(() => void Object.freeze(Object.prototype));
    await page.goto(`${base}/index.html${address}`);
    await page.waitForSelector("main");
    return new Window(page, complaints);
  }
}

/** Chromium, with whatever else one test needs of it. */
export function launch(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", ...more],
  });
}

export async function serve(): Promise<{ base: string; server: Server }> {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://window").pathname);
    readFile(join(BUILT, path)).then(
      (bytes) => {
        response.writeHead(200, {
          "content-type": TYPES[extname(path)] ?? "application/octet-stream",
          "content-security-policy": POLICY,
        });
        response.end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
