// Leaves a picture of every screen in both themes, as it is and at 200 %, in a window of 360
// and in forced colours, in the folder that SCREENSHOTS names. Run by `make screenshots`; the chosen ones for the documents with
// PICTURES naming their folder. ONLY is a regular expression for the names of scenes.

import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, it } from "vitest";
import type { Look } from "./browser";
import { settled, useWindows } from "./fixture";
import type { Scene } from "./scene";
import { allScenes } from "./scenes";

const folder = process.env["SCREENSHOTS"] ?? "target/screenshots";
const pictures = process.env["PICTURES"];
const only = new RegExp(process.env["ONLY"] ?? "");
const VARIANT_LOOKS = 4;
const SIZE = { width: 1180, height: 760 };

/** What differs in its words only is taken in the first VARIANT_LOOKS. */
const looks: [string, Look][] = [
  ["light", SIZE],
  ["dark", { ...SIZE, colorScheme: "dark" }],
  ["light-200", { ...SIZE, zoom: 2 }],
  ["dark-200", { ...SIZE, zoom: 2, colorScheme: "dark" }],
  ["narrow", { width: 360, height: 720 }],
  ["forced", { ...SIZE, forcedColors: "active" }],
];

/** The pictures of the documents: a name, a scene and a theme; each with few groups. */
const chosen: [string, string, "light" | "dark"][] = [
  ["window", "members", "light"],
  ["window-dark", "group-new-messages", "dark"],
  ["pairing", "pair-code", "light"],
  ["relay", "relay-test", "dark"],
  ["issues", "issues", "light"],
];

const open = useWindows();

async function take(scene: Scene, look: Look, path: string): Promise<void> {
  const page: Page = await open(scene.address, scene.tall === undefined ? look : { ...look, height: scene.tall * (look.zoom ?? 1) });
  await settled(page);
  await scene.go?.(page);
  await settled(page);
  await settled(page);
  await page.screenshot({ path });
  await page.close();
}

if (pictures === undefined) {
  mkdirSync(folder, { recursive: true });
  describe.each(Object.entries(allScenes).filter(([name]) => only.test(name)))("%s", (name, scene) => {
    it.each(scene.isVariant ? looks.slice(0, VARIANT_LOOKS) : looks)("%s", (look, size) => take(scene, size, `${folder}/${name}-${look}.png`));
  });
} else {
  mkdirSync(pictures, { recursive: true });
  it.each(chosen)("%s", (name, scene, colorScheme) => take({ ...allScenes[scene], address: "?scene=picture" }, { ...SIZE, colorScheme }, `${pictures}/${name}.png`));
}
