// What the relay carries is what the sources make, and no more than a phone loads in a moment.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { describe, expect, it } from "vitest";
import { FluentResource } from "@fluent/bundle";
import { sourcesOf, textsOf } from "../texts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PAGE = here("../../../relay/page");
const BYTES_MAX = 60 * 1024;
const files = readdirSync(PAGE, { recursive: true, encoding: "utf8" }).sort();
const read = (name: string): Buffer => readFileSync(join(PAGE, name));

describe("the page in relay/page", () => {
  it("is what npm run build:phone makes, byte for byte", async () => {
    await build({ configFile: here("../vite.config.ts"), mode: "check", logLevel: "error" });
    const made = here("../../../target/phone-page");
    expect(readdirSync(made, { recursive: true, encoding: "utf8" }).sort()).toEqual(files);
    for (const name of files) expect([name, readFileSync(join(made, name)).equals(read(name))]).toEqual([name, true]);
  });

  it("is at most 60 KiB of gzip, with everything in it", () => {
    const sizes = files.map((name) => gzipSync(read(name), { level: 9 }).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(BYTES_MAX);
  });

  it("takes the key out of the address before it does anything else", () => {
    const script = read("page.js").toString("utf8");
    expect(script.slice(0, 200)).toMatch(/^(\(function\(\)\{)?(const|let|var) \w+=location\.hash;/);
  });

  it("loads nothing from elsewhere and runs nothing that is not in its file", () => {
    const html = read("index.html").toString("utf8");
    expect([...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target).filter((target) => !/^p\/[\w.-]+$/.test(target ?? ""))).toEqual([]);
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/);
    const script = read("page.js").toString("utf8");
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    expect(read("page.css").toString("utf8")).not.toMatch(/url\((?!["']?\.\/)|@import/);
  });

  it("has every text that it names, in every language, and no other", () => {
    const sources = sourcesOf(here("../src/main.ts"));
    const texts = textsOf(sources);
    const ids = Object.values(texts).map(({ body }) => body.map(({ id }) => id).sort());
    expect(ids[0]).toEqual(ids[1]);
    const all = new FluentResource(readFileSync(here("../../../locales/en.ftl"), "utf8")).body.map(({ id }) => id);
    expect(all.filter((id) => id.startsWith("page-") && id !== "page-lost" && !ids[0]?.includes(id))).toEqual([]);
    expect(ids[0]?.length).toBeLessThan(all.length / 3);
  });
});
