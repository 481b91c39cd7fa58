import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const TOKENS = "styles/tokens.css";
const HERE = new URL("./", import.meta.url);
const files = readdirSync(HERE, { recursive: true, encoding: "utf8" }).filter((path) => /\.(svelte|css)$/.test(path));
const sources = Object.fromEntries(files.map((path) => [path, readFileSync(new URL(path, HERE), "utf8")]));

/** What a style says in colours, without the ids of anchors and snippets of markup. */
function colours(source: string, isStyle: boolean): string[] {
  const style = isStyle ? source : (/<style>([^]*)<\/style>/.exec(source)?.[1] ?? "");
  return style.match(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(/gi) ?? [];
}

describe("the colours of the window", () => {
  it("stand in one file, and everything else uses their names", () => {
    const found = Object.entries(sources).filter(([path, source]) => path !== TOKENS && colours(source, path.endsWith(".css")).length > 0);
    expect(found.map(([path]) => path)).toEqual([]);
    expect(colours(sources[TOKENS] ?? "", true).length).toBeGreaterThan(20);
  });

  it("are all used, and none is used that isn't there", () => {
    const named = (source: string, pattern: RegExp): string[] => [...source.matchAll(pattern)].map(([, name]) => name ?? "");
    const all = Object.values(sources).join("\n");
    const made = new Set(named(all, /(--[a-z0-9-]+):/g));
    const used = new Set(named(all, /var\((--[a-z0-9-]+)/g));
    expect([...used].filter((name) => !made.has(name))).toEqual([]);
    expect([...made].filter((name) => !used.has(name))).toEqual([]);
  });
});
