// The built page in Chromium: phone-sized, touched, over plain http under a name that is no
// loopback, so that it is no secure context. The relay serves all of it; only where its program
// was built with an older page, the files of relay/page stand in, under the same headers.

import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { Desktop } from "./desktop";
import type { Relay } from "./relay";

const PAGE = fileURLToPath(new URL("../../../relay/page", import.meta.url));
/** A name that leads to this machine and is not known to be it. */
export const HOST = "phone.test";
export const BROWSER_OPTIONS = [
  `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
  // Files that a test stands in for come from no network, from where none may be reached.
  "--disable-features=LocalNetworkAccessChecks",
];
export const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
};
const TYPES: Record<string, string> = { ".css": "text/css", ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".png": "image/png", ".svg": "image/svg+xml", ".webmanifest": "application/manifest+json" };

export interface PhoneLook {
  width?: number;
  height?: number;
  locale?: string;
  colorScheme?: "light" | "dark";
  forcedColors?: "active" | "none";
}

/** Whether the relay's program contains the page as it is now. */
async function isServed(relay: Relay): Promise<boolean> {
  const served = await fetch(new URL("/p/page.js", relay.base));
  return served.ok && (await served.text()) === readFileSync(join(PAGE, "page.js"), "utf8");
}

/** A phone: its browser's storage, its tabs, and what went wrong in them. */
export class TestPhone {
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly url: string,
  ) {}

  static async open(browser: Browser, relay: Relay, look: PhoneLook = {}): Promise<TestPhone> {
    const { width = 390, height = 780, locale = "en-GB", colorScheme = "light", forcedColors = "none" } = look;
    const context = await browser.newContext({
      viewport: { width, height },
      hasTouch: true,
      isMobile: true,
      locale,
      colorScheme,
      forcedColors,
      reducedMotion: "reduce",
      userAgent: "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36",
    });
    const phone = new TestPhone(context, `http://${HOST}:${relay.port}/p`);
    if (!(await isServed(relay))) await context.route(/\/p(\/[\w.-]+)?$/, (route) => {
      const name = new URL(route.request().url()).pathname.replace(/^\/p\/?/, "") || "index.html";
      return route.fulfill({ body: readFileSync(join(PAGE, name)), headers: { ...HEADERS, "content-type": TYPES[extname(name)] ?? "" } });
    });
    context.on("request", (request) => phone.requests.push(request.url()));
    return phone;
  }

  async tab(address = this.url): Promise<Page> {
    const page = await this.context.newPage();
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (line) => {
      // What the network refuses is said by the browser itself, and by the page in words.
      if ((line.type() === "error" || line.type() === "warning") && !/Failed to load resource|WebSocket connection/.test(line.text())) this.complaints.push(line.text());
    });
    // As in the app, where nobody may change what all objects share.
    await page.addInitScript(() => void Object.freeze(Object.prototype));
    await page.goto(address);
    await page.waitForSelector("main");
    return page;
  }

  /** Through all of a pairing. */
  async pair(desktop: Desktop): Promise<Page> {
    const page = await this.tab(await desktop.show(this.url));
    await desktop.meet();
    await page.getByTestId("same").click();
    await desktop.confirm();
    await desktop.finish();
    await page.waitForSelector('[data-testid="groups"]');
    return page;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
