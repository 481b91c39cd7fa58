// One browser and one server for the tests of a file.

import type { Server } from "node:http";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { SampleApp } from "../src/samples/channel";
import { launch, type Look, serve, Window } from "./browser";

/** As the app opens it for the first time; src-tauri/src/window_frame.rs. */
export const DEFAULT_SIZE = { width: 960, height: 680 };

export type Open = (address?: string, look?: Look) => Promise<Page>;

/** Opens windows for the tests of this file; what a window complained about fails them. */
export function useWindows(): Open {
  let browser: Browser;
  let server: Server;
  let base: string;
  const windows: Window[] = [];

  beforeAll(async () => {
    browser = await launch();
    ({ base, server } = await serve());
  });

  afterAll(async () => {
    await browser.close();
    server.close();
    expect(windows.flatMap((window) => window.complaints)).toEqual([]);
  });

  return async (address = "", look = {}) => {
    const window = await Window.open(browser, base, address, look);
    windows.push(window);
    return window.page;
  };
}

export function at(page: Page, testid: string): Locator {
  return page.locator(`[data-testid="${testid}"]`);
}

/** Lets the other devices of the sample data do something. */
export function play<Method extends "receive" | "request" | "change" | "refuse">(page: Page, method: Method, ...args: Parameters<SampleApp[Method]>): Promise<void> {
  return page.evaluate(
    ([name, values]) => {
      const app = (globalThis as unknown as { sampleApp: Record<string, (...args: unknown[]) => void> }).sampleApp;
      app[name]?.(...values);
    },
    [method as string, args as unknown[]] as const,
  );
}

/** Reads or changes something in the sample app. What is read runs in the window. */
export function sample<Answer>(page: Page, read: (app: SampleApp) => Answer): Promise<Answer> {
  return page.evaluate(`(${read.toString()})(globalThis.sampleApp)`) as Promise<Answer>;
}

export async function openGroup(page: Page, group: string): Promise<void> {
  await page.locator(`[data-group="${group}"]`).click();
  await page.locator(`[data-group="${group}"][aria-current]`).waitFor();
}

/** Waits until the window has drawn twice, when heights have settled. */
export function settled(page: Page): Promise<void> {
  return page.evaluate(() => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
}
