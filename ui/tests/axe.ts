// What axe finds wrong with a page. Nothing is excused: each rule that axe has for WCAG
// 2.2 A and AA and its best practices counts.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

interface Violation {
  id: string;
  help: string;
  nodes: { html: string; any: { message: string }[] }[];
}

const source = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** What depends on colours, and so is looked at again in each of them. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Makes axe known to a page; once for each page. */
export async function bringAxe(page: Page): Promise<void> {
  await page.evaluate(await source);
}

export type AxeScope = "all" | "colours" | "structure";

/** What is wrong, in words; empty when nothing is. Colours and structure make up all. */
export function axeFaults(page: Page, scope: AxeScope): Promise<string[]> {
  return page.evaluate(async ({ colours, wanted }) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run({
      resultTypes: ["violations"],
      ...(wanted === "colours" ? { runOnly: { type: "rule", values: colours } } : {}),
      ...(wanted === "structure" ? { rules: Object.fromEntries(colours.map((id) => [id, { enabled: false }])) } : {}),
    });
    return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`));
  }, { colours: COLOUR_RULES, wanted: scope });
}
