// The relay itself, as built by cargo, for tests of the page in a browser.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export interface Relay {
  port: number;
  /** Where node reaches it. */
  base: URL;
  /** Ends it as a power cut would. */
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>;
  /** Loses all its data, as a disk may; it has to be stopped. */
  lose(): void;
  close(): Promise<void>;
}

/** Where cargo puts a program. */
export function built(name: string): string {
  const folder = process.env["SEALPOST_PROGRAMS"] ?? join(process.env["CARGO_TARGET_DIR"] ?? join(ROOT, "target"), "debug");
  return join(folder, name);
}

/** The relay, or a sentence about how to get it. */
function program(): string {
  const path = built("sealpost-relay");
  if (!existsSync(path)) throw new Error("the relay isn't built: run cargo build -p sealpost-relay -p sealpost-cli first");
  return path;
}

export async function startRelay(): Promise<Relay> {
  const data = mkdtempSync(join(tmpdir(), "sealpost-phone-"));
  let running = await run(data, 0);
  const { port } = running;
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => running.child.once("exit", resolve));
    running.child.kill("SIGKILL");
    await ended;
  };
  return {
    port,
    base: new URL(`http://127.0.0.1:${port}/v1/`),
    stop,
    start: async () => {
      running = await run(data, port);
    },
    lose: () => {
      for (const name of readdirSync(data)) if (name.startsWith("inbox")) rmSync(join(data, name));
    },
    close: async () => {
      await stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

async function run(data: string, port: number): Promise<{ child: ChildProcess; port: number }> {
  const options = ["run", "--data-dir", data, "--listen-health", "off", "--listen-receive", "127.0.0.1:0", "--listen-push", "127.0.0.1:0"];
  const settings = { TRUESEAL_RELAY_LISTEN_WEB: `127.0.0.1:${port}`, TRUESEAL_RELAY_WEB_PAGE: "on", TRUESEAL_RELAY_WEB_REQUEST_RATE: "10000", TRUESEAL_RELAY_WEB_REQUEST_BURST: "10000", TRUESEAL_RELAY_WEB_PUT_RATE: "100000", TRUESEAL_RELAY_WEB_CREATION_RATE: "10000", TRUESEAL_RELAY_WEB_FAILURE_RATE: "10000" };
  const child = spawn(program(), options, { env: { ...process.env, ...settings }, stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /Web port:\s+(\d+)/.exec(line);
    if (found !== null) {
      child.stdout.resume();
      return { child, port: Number(found[1]) };
    }
  }
  throw new Error("the relay has not started");
}
