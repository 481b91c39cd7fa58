// For the build of the page: the texts that its sources name, out of the one catalogue, parsed
// beforehand. Stands in for ui/src/catalogues.ts, so that the page carries no other text and
// no parser.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { FluentResource } from "@fluent/bundle";
import type { Plugin } from "vite";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const REPLACED = join(ROOT, "ui/src/catalogues.ts");
const MADE = "\0phone-catalogues";
const LANGUAGES = ["de", "en"];
/** Kept wherever the sources come together at run time. */
const IMPORT = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

/** All modules of the page, found by following its imports. */
export function sourcesOf(entry: string): string[] {
  const found = new Set<string>();
  const follow = (path: string): void => {
    if (found.has(path) || !/\.(ts|svelte)$/.test(path)) return;
    found.add(path);
    for (const [, target = ""] of readFileSync(path, "utf8").matchAll(IMPORT)) {
      const at = join(dirname(path), target);
      const file = [at, `${at}.ts`, `${at}.svelte.ts`].find(isFile);
      if (file !== undefined && file !== REPLACED) follow(file);
    }
  };
  follow(entry);
  return [...found].sort();
}

/** The parsed texts that these sources name, by language. */
export function textsOf(sources: readonly string[]): Record<string, { body: FluentResource["body"] }> {
  const code = sources.map((path) => readFileSync(path, "utf8")).join("\n");
  const words = new Set([...code.matchAll(/["'`]([a-z][a-z0-9-]*)(?:\.[a-z]+)?["'`]/g)].map((hit) => hit[1] ?? ""));
  return Object.fromEntries(
    LANGUAGES.map((language) => {
      const { body } = new FluentResource(readFileSync(join(ROOT, `locales/${language}.ftl`), "utf8"));
      return [language, { body: body.filter(({ id }) => words.has(id)) }];
    }),
  );
}

export function phoneTexts(entry: string): Plugin {
  return {
    name: "phone-texts",
    enforce: "pre",
    resolveId(source, importer) {
      if (importer === undefined || !source.startsWith(".")) return null;
      return relative(REPLACED, `${join(dirname(importer), source)}.ts`) === "" ? MADE : null;
    },
    load(id) {
      if (id !== MADE) return null;
      const sources = sourcesOf(entry);
      for (const path of [...sources, ...LANGUAGES.map((language) => join(ROOT, `locales/${language}.ftl`))]) this.addWatchFile(path);
      return `export const catalogues = JSON.parse(${JSON.stringify(JSON.stringify(textsOf(sources)))});`;
    },
  };
}

function isFile(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
