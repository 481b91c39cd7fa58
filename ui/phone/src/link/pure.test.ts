// The machine of a link takes the clock, randomness, network and storage as values: none of
// its files reaches for them.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const FORBIDDEN = /\b(Date\.now|new Date|performance|Math\.random|crypto\.|fetch\(|WebSocket|indexedDB|localStorage|document\.|window\.|navigator|location\b|setTimeout|setInterval|console\.)/;
const folder = fileURLToPath(new URL(".", import.meta.url));

it("reaches for nothing of the browser", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  expect(files.length).toBeGreaterThan(12);
  const broken = files.flatMap((name) => {
    const code = readFileSync(`${folder}/${name}`, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    const found = FORBIDDEN.exec(code);
    return found === null ? [] : [`${name}: ${found[0]}`];
  });
  expect(broken).toEqual([]);
});

it("is used by the shell, and uses nothing of it", () => {
  const uses = readdirSync(folder).filter((name) => /from "\.\.\/(?!\.\.\/tests)/.test(readFileSync(`${folder}/${name}`, "utf8")));
  expect(uses).toEqual([]);
});
