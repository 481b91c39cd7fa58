// A desktop for tests: the other end of a link, which speaks to a real relay. It pairs as role
// A and says what a test wants said.

import { randomBytes } from "node:crypto";
import type { FromDesktop, FromPhone, Message } from "../src/feed";
import { fixedFromBase64url, toBase64url, utf8 } from "../src/link/bytes";
import { Link } from "../src/link/link";
import { newLinkRow } from "../src/link/pairing";
import { type Kind, type Payload, readObject } from "../src/link/payload";
import { commitment, confirmation, newExchange, rotate, type Rotation } from "../src/link/rotation";
import { HttpTransport } from "../src/shell/http";

const random = (count: number): Uint8Array => new Uint8Array(randomBytes(count));

/** One end of one link, kept in memory only. */
class End {
  readonly link: Link;
  readonly arrived: Payload[] = [];
  isGone = false;
  #last: Promise<void> = Promise.resolve();

  constructor(
    readonly linkKey: Uint8Array,
    readonly linkId: Uint8Array,
    private readonly transport: HttpTransport,
  ) {
    this.link = new Link({ row: { ...newLinkRow(linkKey, linkId, "phone"), role: "a", established: false }, outbox: [], accepted: [] }, random);
  }

  say(kind: Kind, body: object, collapse?: string): Promise<void> {
    return this.#then(() => this.link.queue({ kind, body: utf8(JSON.stringify(body)), ...(collapse === undefined ? {} : { collapse }) }, Date.now()));
  }

  /** Fetches and sends what there is. */
  poll(): Promise<void> {
    return this.#then(() => this.link.handleOnline(Date.now()));
  }

  erase(): Promise<unknown> {
    return this.transport.perform(this.link.address, { is: "erase" });
  }

  #then(work: () => unknown): Promise<void> {
    this.#last = this.#last.then(async () => {
      work();
      for (;;) {
        const { changes, effects } = this.link.drain();
        if (changes.length + effects.length === 0) return;
        for (const change of changes) {
          if (change.is === "arrived") this.arrived.push(change.payload);
          if (change.is === "forgotten") this.isGone = true;
        }
        for (const effect of effects) {
          if (effect.is === "request") this.link.handleAnswer(effect.id, await this.transport.perform(this.link.address, effect.request), Date.now());
        }
      }
    });
    return this.#last;
  }
}

export class Desktop {
  readonly #transport: HttpTransport;
  readonly #pairing: End;
  readonly #exchange = newExchange(random);
  #rotation: Rotation | null = null;
  #link: End | null = null;
  /** What the desktop says of its messages, by group. */
  readonly messages: Message[] = [];

  constructor(
    base: URL,
    readonly name = "Study",
  ) {
    this.#transport = new HttpTransport(base);
    this.#pairing = new End(random(32), random(16), this.#transport);
  }

  /** Makes the mailbox of the code, and the code. */
  async show(page: string, fields = ""): Promise<string> {
    await this.#pairing.poll();
    return this.code(page, fields);
  }

  /** The code, whether there is a mailbox or not. */
  code(page: string, fields = ""): string {
    const expires = Math.floor(Date.now() / 1000) + 300;
    return `${page}#v=1&i=${toBase64url(this.#pairing.linkId)}&k=${toBase64url(this.#pairing.linkKey)}&x=${expires}&n=${encodeURIComponent(this.name)}${fields}`;
  }

  get digits(): string {
    return this.#rotation?.digits ?? "";
  }

  /** Answers the phone's greeting, up to the digits. */
  async meet(): Promise<void> {
    const hello = await this.#next("hello");
    const committed = readObject(hello.body)?.["commit_b"];
    await this.#pairing.say("challenge", { to: hello.id, pub_a: toBase64url(this.#exchange.public) });
    const publicB = fixedFromBase64url(readObject((await this.#next("reveal")).body)?.["pub_b"], 32);
    if (publicB === null || toBase64url(commitment(publicB)) !== committed) throw new Error("the phone revealed something else than it committed to");
    const { linkKey, linkId } = this.#pairing;
    this.#rotation = rotate({ linkKey, linkId }, this.#exchange.secret, { a: this.#exchange.public, b: publicB }, publicB);
  }

  /** Confirms; the phone is linked when it has said its first word in the new link. */
  async confirm(): Promise<void> {
    if (this.#rotation === null) throw new Error("there are no digits yet");
    const { linkKey, linkId } = this.#rotation;
    this.#link = new End(linkKey, linkId, this.#transport);
    await this.#link.poll();
    await this.#pairing.say("welcome", { name: this.name, confirm: toBase64url(confirmation(this.#rotation, this.name)) });
  }

  async finish(): Promise<void> {
    await this.hear(({ kind }) => kind === "state");
    await this.#pairing.erase();
  }

  /** The next greeting of a phone, unanswered. */
  greeting(): Promise<Payload> {
    return this.#next("hello");
  }

  /** How many greetings came besides. */
  async greetings(): Promise<number> {
    await this.#pairing.poll();
    return this.#pairing.arrived.filter(({ kind }) => kind === "hello").length;
  }

  /** Ends the pairing as a cancel does. */
  cancel(): Promise<unknown> {
    return this.#pairing.erase();
  }

  async tell(body: FromDesktop): Promise<void> {
    const collapse = body.type === "groups" ? "groups" : body.type === "tail" || body.type === "changed" ? `${body.type}:${body.group}` : undefined;
    await this.link.say(collapse === undefined ? "msg" : "state", body, collapse);
  }

  /** The newest twenty of what was written so far. */
  async tellTail(group: string): Promise<void> {
    const messages = this.messages.slice(-20);
    const from = this.messages.at(-21)?.position ?? null;
    await this.tell({ type: "tail", group, from, messages });
  }

  /** Answers a question for older messages. */
  async answer(group: string, request: { id: string; before: number }, count = 40): Promise<void> {
    const older = this.messages.filter(({ position }) => position < request.before);
    await this.tell({ type: "page", group, request: request.id, messages: older.slice(-count), more: older.length > count });
  }

  /** The next payload of the phone that is looked for. */
  async hear(isIt: (payload: Payload) => boolean): Promise<Payload> {
    return until(this.link, isIt);
  }

  /** The next body of a type, with the id of its payload. */
  async hearBody<Type extends FromPhone["type"]>(type: Type): Promise<Extract<FromPhone, { type: Type }> & { id: string }> {
    const payload = await this.hear(({ body }) => readObject(body)?.["type"] === type);
    return { ...(readObject(payload.body) as Extract<FromPhone, { type: Type }>), id: payload.id };
  }

  poll(): Promise<void> {
    return this.link.poll();
  }

  erase(): Promise<unknown> {
    return this.link.erase();
  }

  get isGone(): boolean {
    return this.link.isGone;
  }

  get address(): { mailbox: string; token: string } {
    return this.link.link.address;
  }

  private get link(): End {
    if (this.#link === null) throw new Error("the phone isn't linked yet");
    return this.#link;
  }

  #next(kind: Kind): Promise<Payload> {
    return until(this.#pairing, (payload) => payload.kind === kind);
  }
}

async function until(end: End, isIt: (payload: Payload) => boolean): Promise<Payload> {
  for (let round = 0; round < 400; round += 1) {
    const index = end.arrived.findIndex(isIt);
    const found = end.arrived[index];
    if (found !== undefined) {
      end.arrived.splice(index, 1);
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
    await end.poll();
  }
  throw new Error("the phone said nothing of the kind");
}
