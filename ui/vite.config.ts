import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What each mode of vitest runs, besides the plain tests. */
const tests: Record<string, string[]> = {
  // In Chromium; see ui/tests/browser.ts and ui/phone/tests/page.ts.
  browser: ["tests/**/*.test.ts"],
  phone: ["phone/tests/**/*.test.ts"],
  screenshots: ["tests/screenshots.ts"],
  bench: ["phone/tests/bench.ts"],
};

// `--mode samples` builds the same window on sample data instead of the app, for
// looking at it in a browser; such a build never lands in ui/dist.
export default defineConfig(({ command, mode }) => {
  const samples = mode === "samples" || (command === "serve" && mode !== "test");
  return {
    root: here("."),
    base: "./",
    publicDir: false,
    plugins: [svelte({ configFile: here("./svelte.config.js") })],
    define: { __SAMPLES__: JSON.stringify(samples) },
    server: { port: 5173, strictPort: true, fs: { allow: [here("..")] } },
    build: {
      outDir: mode === "samples" ? here("../target/ui-samples") : here("./dist"),
      emptyOutDir: true,
      target: ["safari16", "chrome108"],
      // No data: URLs and no inline scripts, so that the strictest policy holds.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    test: {
      include: tests[mode] ?? ["src/**/*.test.ts", "phone/src/**/*.test.ts"],
      // The windows of one file are drawn while another file waits for its own.
      ...(mode === "test" ? {} : { maxWorkers: 2 }),
      environment: "node",
      env: { TZ: "Europe/Berlin" },
      testTimeout: mode === "test" ? 5_000 : 60_000,
    },
  };
});
