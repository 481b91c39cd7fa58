// The joining side of a pairing (8.3, 8.4, amendment 18), on a link of its own that lives for
// minutes. Pure. Owns what is said in which order, and what ends it.
//
// Invariants: exactly one challenge counts; the ephemeral key and the accepted challenge are
// stored together or not at all; a link exists only after the proof in `welcome` and a tap on
// "codes match".

import type { Answer, WatchEvent } from "./answer";
import { fixedFromBase64url, isEqual, toBase64url, utf8 } from "./bytes";
import type { PairingCode } from "./code";
import { deriveKeys, type Random } from "./key";
import { PAIRING_MS } from "./limit";
import { Link } from "./link";
import { newPayloadId, type Payload, readObject } from "./payload";
import { CONFIRM_BYTES, commitment, isConfirmed, newExchange, PUBLIC_BYTES, rotate, type ExchangeSecret, type Rotation } from "./rotation";
import type { Erasure, LinkEffect, LinkRow, LinkSnapshot, LinkStatus, OutboxRow } from "./step";

/** Why a pairing came to nothing. */
export type PairingFailure = "expired" | "ended" | "cancelled" | "different" | "otherDevice" | "forged" | "wrongToken" | "refused";

/** What has to be told to who holds the phone. */
export type ToldFailure = Exclude<PairingFailure, "cancelled">;

export type PairingPhase = "connecting" | "waiting" | "compare" | "confirming";

/** What is kept of a pairing across a reload. */
export interface PairingRecord {
  linkKey: Uint8Array;
  linkId: Uint8Array;
  exchange: ExchangeSecret;
  helloId: string;
  /** A's public value, once it was accepted. */
  publicA: Uint8Array | null;
  /** The person has said that the codes match. */
  isMatched: boolean;
  /** What the desktop calls itself. */
  desktop: string;
  /** The desktop has confirmed, and proved it. */
  isWelcome: boolean;
  begunMs: number;
  link: LinkSnapshot;
}

/** Where a pairing stands after a step; `record` is committed before the effects run. */
export type PairingStep =
  | { is: "going"; record: PairingRecord; effects: LinkEffect[] }
  | { is: "paired"; row: LinkRow; first: OutboxRow }
  | { is: "failed"; why: PairingFailure; erasure: Erasure | null };

/** The collapse key of the first state that B sends in the new link. */
const PHONE_KEY = "phone";

export class LinkPairing {
  #record: PairingRecord;
  readonly #link: Link;
  #rotation: Rotation | null = null;
  #failure: PairingFailure | null = null;
  #isClaimed = false;

  constructor(
    record: PairingRecord,
    private readonly random: Random,
  ) {
    this.#record = record;
    this.#link = new Link(record.link, random);
    this.#rotation = this.#rotate();
  }

  /** A pairing that begins: `hello` waits to be sent. */
  static begin(code: PairingCode, phone: { name: string; platform: string }, random: Random, nowMs: number): LinkPairing {
    const { linkKey, linkId, desktop } = code;
    const exchange = newExchange(random);
    const row: LinkRow = { ...newLinkRow(linkKey, linkId, desktop), established: false };
    const hello = { ...phone, versions: [1], commit_b: toBase64url(commitment(exchange.public)) };
    const pairing = new LinkPairing(
      { linkKey, linkId, exchange, helloId: newPayloadId(random), publicA: null, isMatched: false, desktop, isWelcome: false, begunMs: nowMs, link: { row, outbox: [], accepted: [] } },
      random,
    );
    pairing.#link.queue({ kind: "hello", id: pairing.#record.helloId, body: encodeObject(hello) }, nowMs);
    return pairing;
  }

  get address(): { mailbox: string; token: string } {
    return this.#link.address;
  }

  get desktop(): string {
    return this.#record.desktop;
  }

  get phase(): PairingPhase {
    if (this.#rotation !== null) return this.#record.isMatched ? "confirming" : "compare";
    return this.#isClaimed ? "waiting" : "connecting";
  }

  /** The six digits, once both sides can show them. */
  get digits(): string | null {
    return this.#rotation?.digits ?? null;
  }

  status(): LinkStatus {
    return this.#link.status();
  }

  start(nowMs: number): void {
    this.#link.start(nowMs);
  }

  handleAnswer(id: number, answer: Answer, nowMs: number): void {
    this.#link.handleAnswer(id, answer, nowMs);
  }

  handleWatch(event: WatchEvent, nowMs: number): void {
    this.#link.handleWatch(event, nowMs);
  }

  handleTimer(nowMs: number): void {
    if (Math.abs(nowMs - this.#record.begunMs) >= PAIRING_MS) this.#failure ??= "expired";
    this.#link.handleTimer(nowMs);
  }

  handleVisible(isVisible: boolean, nowMs: number): void {
    this.#link.handleVisible(isVisible, nowMs);
  }

  handleOnline(nowMs: number): void {
    this.#link.handleOnline(nowMs);
  }

  /** The person has compared the codes. */
  answerDigits(isSame: boolean): void {
    if (this.#rotation === null) return;
    if (isSame) this.#record = { ...this.#record, isMatched: true };
    else this.#failure ??= "different";
  }

  /** The person ends it here, and knows. */
  cancel(): void {
    this.#failure ??= "cancelled";
  }

  nextTimer(nowMs: number): number | null {
    const end = this.#record.begunMs + PAIRING_MS;
    const next = this.#link.nextTimer(nowMs) ?? end;
    return Math.max(nowMs + 1, Math.min(next, end));
  }

  drain(nowMs: number): PairingStep {
    const effects: LinkEffect[] = [];
    for (;;) {
      const step = this.#link.drain();
      if (step.changes.length + step.effects.length === 0) break;
      effects.push(...step.effects);
      for (const change of step.changes) {
        if (change.is === "arrived") this.#handlePayload(change.payload, nowMs);
        if (change.is === "forgotten") this.#failure ??= "ended";
        if (change.is === "outboxGone" && change.why !== "received" && change.why !== "replaced") this.#failure ??= "refused";
      }
      for (const effect of step.effects) {
        if (effect.is === "tell" && effect.event.is === "claimed") this.#handleClaimed(effect.event.isNew);
      }
    }
    const { trouble, lost } = this.#link.status();
    if (lost) this.#failure ??= "expired";
    if (trouble === "wrongToken") this.#failure ??= "wrongToken";
    if (trouble === "notUnderstood") this.#failure ??= "refused";
    return this.#conclude(effects, nowMs);
  }

  #conclude(effects: LinkEffect[], nowMs: number): PairingStep {
    if (this.#failure !== null) {
      // What the other side has erased, or never made, needs no erase. And where another device
      // used the code, A has to read this one's greeting first: it erases then.
      const isThere = this.#failure !== "wrongToken" && this.#failure !== "otherDevice" && !this.#link.isGone && !this.#link.status().lost;
      const keys = deriveKeys(this.#record.linkKey, this.#record.linkId);
      const erasure = isThere ? { mailbox: keys.mailbox, token: keys.token, sinceMs: nowMs, bye: null } : null;
      return { is: "failed", why: this.#failure, erasure };
    }
    if (this.#rotation !== null && this.#record.isMatched && this.#record.isWelcome) return this.#paired(this.#rotation, nowMs);
    this.#record = { ...this.#record, link: this.#link.snapshot() };
    return { is: "going", record: this.#record, effects };
  }

  #paired(rotation: Rotation, nowMs: number): PairingStep {
    const row = newLinkRow(rotation.linkKey, rotation.linkId, this.#record.desktop);
    const first: OutboxRow = {
      id: newPayloadId(this.random),
      order: 1,
      kind: "state",
      collapse: PHONE_KEY,
      body: encodeObject({ type: PHONE_KEY, versions: [1] }),
      queuedMs: nowMs,
      seq: null,
      createdMs: null,
    };
    return { is: "paired", row, first };
  }

  /** A makes the mailbox before it shows the code: one that is new belongs to an old code. */
  #handleClaimed(isNew: boolean): void {
    this.#isClaimed = true;
    if (isNew) this.#failure ??= "expired";
  }

  #handlePayload(payload: Payload, nowMs: number): void {
    if (payload.kind === "challenge") this.#handleChallenge(payload, nowMs);
    if (payload.kind === "welcome") this.#handleWelcome(payload);
  }

  #handleChallenge({ body }: Payload, nowMs: number): void {
    const fields = readObject(body);
    const publicA = fixedFromBase64url(fields?.["pub_a"], PUBLIC_BYTES);
    const { publicA: accepted } = this.#record;
    if (fields?.["to"] !== this.#record.helloId) this.#failure ??= "otherDevice";
    else if (publicA === null || (accepted !== null && !isEqual(accepted, publicA))) this.#failure ??= "forged";
    else if (accepted === null) {
      this.#record = { ...this.#record, publicA };
      this.#rotation = this.#rotate();
      if (this.#rotation === null) this.#failure ??= "forged";
      else this.#link.queue({ kind: "reveal", body: encodeObject({ pub_b: toBase64url(this.#record.exchange.public) }) }, nowMs);
    }
  }

  #handleWelcome({ body }: Payload): void {
    const fields = readObject(body);
    const name = fields?.["name"];
    const proof = fixedFromBase64url(fields?.["confirm"], CONFIRM_BYTES);
    const isRight = typeof name === "string" && proof !== null && this.#rotation !== null && isConfirmed(this.#rotation, name, proof);
    if (isRight) this.#record = { ...this.#record, isWelcome: true, desktop: name };
    else this.#failure ??= "forged";
  }

  #rotate(): Rotation | null {
    const { linkKey, linkId, exchange, publicA } = this.#record;
    return publicA === null ? null : rotate({ linkKey, linkId }, exchange.secret, { a: publicA, b: exchange.public }, publicA);
  }
}

/** The row of a link that was just joined. */
export function newLinkRow(linkKey: Uint8Array, linkId: Uint8Array, peerName: string): LinkRow {
  return {
    linkKey: linkKey.slice(),
    linkId: linkId.slice(),
    role: "b",
    peerName,
    established: true,
    lastReceived: null,
    receivedIn: null,
    floor: 0,
    unconfirmedSinceMs: null,
    lost: false,
    lastContactMs: null,
    resyncAtMs: null,
    owesAck: false,
    newerPeer: false,
  };
}

export function encodeObject(value: object): Uint8Array {
  return utf8(JSON.stringify(value));
}

