// Builds the page for phones into relay/page, where the relay takes it into its own binary.
// The names carry no hash and nothing depends on the machine, so that the same sources give
// the same bytes; ui/phone/tests/build.test.ts compares them.

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { phoneTexts } from "./texts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig(({ mode }) => ({
  root: here("."),
  base: "./",
  publicDir: here("./public"),
  plugins: [phoneTexts(here("./src/main.ts"))],
  define: { __SAMPLES__: "false" },
  // The page itself is served without a slash at its end, its files below it.
  experimental: { renderBuiltUrl: (file, { hostType }) => (hostType === "html" ? `p/${file}` : { relative: true }) },
  build: {
    outDir: mode === "check" ? here("../../target/phone-page") : here("../../relay/page"),
    emptyOutDir: true,
    target: ["safari16", "chrome108", "firefox115"],
    // No data: URLs and no inline scripts, so that the strictest policy holds.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { entryFileNames: "page.js", chunkFileNames: "[name].js", assetFileNames: (asset) => (asset.names.some((name) => name.endsWith(".css")) ? "page.css" : "[name][extname]") } },
  },
}));
