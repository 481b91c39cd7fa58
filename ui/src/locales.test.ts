// The catalogues against each other, against the code that uses them, and against the
// vocabulary of the interface.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FluentResource } from "@fluent/bundle";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(`${root}/${path}`, "utf8");
const languages = ["en", "de"];

/** All texts of a language: `key` and `key.attribute`, each with its parsed pattern. */
function texts(language: string): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const entry of new FluentResource(read(`locales/${language}.ftl`)).body) {
    if (entry.value !== null) found.set(entry.id, entry.value);
    for (const [name, pattern] of Object.entries(entry.attributes)) found.set(`${entry.id}.${name}`, pattern);
  }
  return found;
}

function sources(folder: string, ending: RegExp): string {
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: "utf8" })
    .filter((path) => ending.test(path) && !path.includes(".test."))
    .map((path) => read(`${folder}/${path}`))
    .join("\n");
}

function variables(pattern: unknown): string[] {
  const names = [...JSON.stringify(pattern).matchAll(/"type":"var","name":"(\w+)"/g)].map((hit) => hit[1] ?? "");
  return [...new Set(names)].sort();
}

const english = texts("en");
const windowCode = [sources("ui/src", /\.(svelte|ts)$/), sources("ui/phone/src", /\.ts$/)].join("\n");
const errorCodes = [...read("ui/src/bindings/AppErrorCode.ts").matchAll(/"([a-z-]+)"/g)].map((hit) => hit[1] ?? "");

describe("the catalogues", () => {
  it.each(languages)("have no broken entry (%s)", (language) => {
    const written = read(`locales/${language}.ftl`).match(/^[a-z][\w-]* =|^ {4}\.\w+ =/gm) ?? [];
    expect(texts(language).size).toBe(written.length);
  });

  it("have no key twice", () => {
    for (const language of languages) {
      const keys = read(`locales/${language}.ftl`).match(/^[a-z][\w-]*(?= =)/gm) ?? [];
      expect(keys.length).toBe(new Set(keys).size);
    }
  });

  it("have the same keys and attributes in every language", () => {
    for (const language of languages) expect([...texts(language).keys()].sort()).toEqual([...english.keys()].sort());
  });

  it("use the same variables in every language", () => {
    const german = texts("de");
    for (const [key, pattern] of english) expect([key, variables(german.get(key))]).toEqual([key, variables(pattern)]);
  });
});

describe("the keys that the window uses", () => {
  const used = [...windowCode.matchAll(/\bt\(\s*["`]([\w.-]+)["`]/g)].map((hit) => hit[1] ?? "");
  const chosen = [...windowCode.matchAll(/\bt\(([^()]*\?[^()]*)\)/g)].flatMap((hit) => [...(hit[1] ?? "").matchAll(/"([\w.-]+)"/g)].map((one) => one[1] ?? ""));
  const tables = [...windowCode.matchAll(/const \w*[kK]eys\b[^=]*= \{([^}]*)\}/g)].flatMap((hit) => [...(hit[1] ?? "").matchAll(/: "([\w-]+)"/g)].map((one) => one[1] ?? ""));
  const keys = [...used, ...tables, ...chosen.filter((word) => word.includes("-"))];

  it("are found by this test", () => {
    expect(used).toContain("way-start");
    expect(tables).toContain("keychain-other-profile");
    expect(chosen).toContain("connection-short-unsupported");
  });

  it("exist", () => {
    expect(keys.filter((key) => !english.has(key))).toEqual([]);
  });

  // Delivery issues are compared with the engine's codes by tests/tests/delivery_issues.rs.
  it("are all there is, but for what has a code, and what Rust shows", () => {
    const rust = sources("src-tauri/src", /\.rs$/);
    const idle = [...english.keys()].filter((key) => {
      const [id = ""] = key.split(".");
      return !/^(error|issue|relay-test)-/.test(id) && !windowCode.includes(`"${id}"`) && !rust.includes(`"${id}"`);
    });
    expect(idle).toEqual([]);
  });
});

describe("the errors", () => {
  it("have three parts each, in every language", () => {
    for (const language of languages) {
      const all = texts(language);
      for (const code of errorCodes) {
        for (const part of ["", ".why", ".action"]) expect([...all.keys()]).toContain(`error-${code}${part}`);
      }
    }
  });

  it("have three parts in their variants too, and none without a code", () => {
    const ids = new Set([...english.keys()].filter((key) => key.startsWith("error-")).map((key) => key.split(".")[0] ?? ""));
    ids.delete("error-code");
    for (const id of ids) {
      expect(errorCodes.some((code) => id === `error-${code}` || id.startsWith(`error-${code}-`)), id).toBe(true);
      expect(english.has(`${id}.why`) && english.has(`${id}.action`), id).toBe(true);
    }
  });
});

describe("the words", () => {
  const forbidden = /\b(peers?|hosts?|sessions?|envelopes?|blobs?|handshakes?|inbox|mailbox|sent|gesendet)\b/i;

  it.each(languages)("keep to the vocabulary of the interface (%s)", (language) => {
    const hits = [...texts(language)].filter(([, pattern]) => forbidden.test(JSON.stringify(pattern).replace(/"name":"\w+"/g, "")));
    expect(hits.map(([key]) => key)).toEqual([]);
  });
});
