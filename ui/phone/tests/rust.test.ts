// This client and the engine's, over a real relay: the command line shows the code and talks,
// the page's machines join and answer.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromUtf8, utf8 } from "../src/link/bytes";
import { parseCode } from "../src/link/code";
import { Link } from "../src/link/link";
import { LinkPairing } from "../src/link/pairing";
import type { LinkEffect } from "../src/link/step";
import { HttpTransport } from "../src/shell/http";
import { built, type Relay, startRelay } from "./relay";

const random = (count: number): Uint8Array => new Uint8Array(randomBytes(count));
const PATIENCE_MS = 25;
const folder = mkdtempSync(join(tmpdir(), "sealpost-rust-"));
const running: ChildProcess[] = [];
let relay: Relay;
let transport: HttpTransport;

beforeAll(async () => {
  relay = await startRelay();
  transport = new HttpTransport(relay.base);
});

afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await relay.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The command line, which says a JSON object a line. */
class Command {
  readonly child: ChildProcess;
  readonly said: Record<string, unknown>[] = [];
  readonly ended: Promise<number | null>;

  constructor(...options: string[]) {
    const child = spawn(built("sealpost"), ["--data-dir", folder, "--json", "--profile", "desk", ...options], { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, DBUS_SESSION_BUS_ADDRESS: "" } });
    this.child = child;
    running.push(child);
    createInterface({ input: child.stdout }).on("line", (line) => this.said.push(JSON.parse(line) as Record<string, unknown>));
    this.ended = new Promise((resolve) => child.once("exit", resolve));
  }

  async next(type: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<Record<string, unknown>> {
    for (let round = 0; round < 800; round += 1) {
      const index = this.said.findIndex((object) => object["type"] === type);
      const found = this.said[index];
      if (found !== undefined) {
        this.said.splice(index, 1);
        return found;
      }
      await meanwhile();
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
    }
    throw new Error(`the command said no ${type}`);
  }

  answer(line: string): void {
    this.child.stdin?.write(line);
  }
}

async function perform(effects: readonly LinkEffect[], on: Link | LinkPairing): Promise<void> {
  for (const effect of effects) {
    if (effect.is === "request") on.handleAnswer(effect.id, await transport.perform(on.address, effect.request), Date.now());
  }
}

/** Joins as far as it goes now; the link, once there is one. */
async function step(pairing: LinkPairing): Promise<Link | null> {
  pairing.handleOnline(Date.now());
  for (;;) {
    const made = pairing.drain(Date.now());
    if (made.is === "failed") throw new Error(`the pairing failed: ${made.why}`);
    if (made.is === "paired") return new Link({ row: made.row, outbox: [made.first], accepted: [] }, random);
    if (made.effects.length === 0) return null;
    await perform(made.effects, pairing);
  }
}

/** Fetches and sends; the texts that came. */
async function poll(link: Link): Promise<string[]> {
  const texts: string[] = [];
  if (!link.isGone) link.handleOnline(Date.now());
  for (;;) {
    const { changes, effects } = link.drain();
    if (changes.length + effects.length === 0) return texts;
    for (const change of changes) if (change.is === "arrived") texts.push(fromUtf8(change.payload.body) ?? "");
    await perform(effects, link);
  }
}

it("pair, talk both ways, and part", async () => {
  if (!existsSync(built("sealpost"))) throw new Error("the command line isn't built");
  expect(await new Command("init", "--name", "Desk", "--key-store", "file").ended).toBe(0);
  const base = `http://127.0.0.1:${relay.port}`;
  const command = new Command("link", "new", "--relay", base);
  const url = String((await command.next("link_code"))["url"]);
  expect(url.startsWith(`${base}/p#`)).toBe(true);
  const code = parseCode(new URL(url).hash);
  if (typeof code === "string") throw new Error(`the code is no code: ${code}`);
  expect(code.desktop).toBe("Desk");
  const pairing = LinkPairing.begin(code, { name: "Phone", platform: "Android" }, random, Date.now());
  const digits = (await command.next("link_digits", () => step(pairing)))["digits"];
  await command.next("question");
  for (let round = 0; round < 200 && pairing.digits === null; round += 1) await step(pairing);
  expect(pairing.digits).toBe(digits);
  pairing.answerDigits(true);
  command.answer("yes\n");
  let link: Link | null = null;
  for (let round = 0; round < 400 && link === null; round += 1) {
    link = await step(pairing);
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  }
  if (link === null) throw new Error("there was no welcome");
  const made = link;
  expect((await command.next("link_paired", () => poll(made)))["name"]).toBe("Phone");
  expect(await command.ended).toBe(0);

  const tail = new Command("link", "tail", "--stdin");
  const said = Array.from({ length: 40 }, (_, index) => `line ${index} ⁂`);
  for (const text of said) tail.answer(`${text}\n`);
  const heard: string[] = [];
  for (let round = 0; round < 400 && heard.length < said.length; round += 1) {
    heard.push(...(await poll(made)));
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  }
  expect(heard).toEqual(said);
  for (const text of said) made.queue({ kind: "msg", body: utf8(text) }, Date.now());
  // Before them, the first word in the new link.
  const expected = ['{"type":"phone","versions":[1]}', ...said];
  const printed: unknown[] = [];
  while (printed.length < expected.length) printed.push((await tail.next("link_message", () => poll(made)))["text"]);
  expect(printed).toEqual(expected);
  // What the engine has accepted leaves this outbox by its acknowledgement.
  for (let round = 0; round < 400 && made.outbox.length > 0; round += 1) {
    await poll(made);
    await new Promise((resolve) => setTimeout(resolve, PATIENCE_MS));
  }
  expect(made.outbox).toEqual([]);

  made.unpair(Date.now());
  const forgotten = made.drain().changes.find((change) => change.is === "forgotten");
  const erasure = forgotten?.is === "forgotten" ? forgotten.erasure : null;
  if (erasure === null || erasure.bye === null) throw new Error("there is nothing to erase");
  expect((await transport.perform(erasure, { is: "put", ...erasure.bye })).is).toBe("ok");
  expect((await transport.perform(erasure, { is: "erase" })).is).toBe("ok");
  expect((await tail.next("link_ended"))["reason"]).toBe("byPeer");
});
