// The machine of one link (6): claim, send, fetch, watch, unpair. Pure: the clock and the
// randomness are arguments, requests and answers are values. Owns the order of requests and
// what a refusal means for the whole link; its halves own the rest.
//
// Invariants: one request is under way at a time; what a step writes is committed before
// what it does; a stopped link asks nothing more.

import type { Answer, LinkRequest, WatchEvent } from "./answer";
import { Judgement } from "./judgement";
import { type Direction, type Random, reads, writes } from "./key";
import * as limit from "./limit";
import { LinkMemory } from "./memory";
import { newPayloadId } from "./payload";
import { Patience } from "./patience";
import { Receiving } from "./receiving";
import { Sending } from "./sending";
import type { LinkRow, LinkSnapshot, LinkStatus, LinkStep, LinkTrouble, NewRow, OutboxRow } from "./step";
import { Watching } from "./watching";

export class Link {
  readonly #memory: LinkMemory;
  readonly #sending: Sending;
  readonly #receiving: Receiving;
  readonly #watching: Watching;
  readonly #patience: Patience;
  readonly #judgement: Judgement;
  #underWay: { id: number; request: LinkRequest } | null = null;
  #requests = 0;
  #isVisible = true;
  #isStopped = false;
  /** The time of the last look. */
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(snapshot: LinkSnapshot, random: Random) {
    this.#memory = new LinkMemory(snapshot, random);
    this.#sending = new Sending(this.#memory);
    this.#receiving = new Receiving(this.#memory, this.#sending);
    this.#watching = new Watching(this.#memory);
    this.#patience = new Patience(this.#memory);
    this.#judgement = new Judgement(this.#memory, this.#sending, this.#receiving, this.#patience);
  }

  /** Where the requests go. */
  get address(): { mailbox: string; token: string } {
    return { mailbox: this.#memory.keys.mailbox, token: this.#memory.keys.token };
  }

  get row(): LinkRow {
    return this.#memory.row;
  }

  get isGone(): boolean {
    return this.#memory.isGone;
  }

  get outbox(): readonly OutboxRow[] {
    return [...this.#memory.outbox.values()];
  }

  status(): LinkStatus {
    const { row, trouble, isConnected, skipped } = this.#memory;
    const { unconfirmedSinceMs, lost, newerPeer, lastContactMs } = row;
    const retryAtMs = this.#patience.isWaiting ? this.#patience.retryAtMs : null;
    return { isConnected, trouble, blockedSinceMs: this.#sending.blockedSinceMs, retryAtMs, unconfirmedSinceMs, lost, newerPeer, lastContactMs, skipped };
  }

  /** Takes a message for the other device; a state replaces what waits under its key. */
  queue(fresh: NewRow, nowMs: number): string {
    this.#enter(nowMs);
    const { kind, body, collapse = null, id = newPayloadId(this.#memory.random) } = fresh;
    this.#memory.replace(kind, collapse);
    this.#memory.putRow({ id, order: this.#memory.nextOrder(), kind, collapse, body, queuedMs: nowMs, seq: null, createdMs: null });
    this.#advance(nowMs);
    return id;
  }

  /** Takes rows that another tab has stored. */
  adopt(rows: readonly OutboxRow[], nowMs: number): void {
    this.#enter(nowMs);
    for (const row of rows) {
      if (!this.#memory.outbox.has(row.id)) this.#memory.replace(row.kind, row.collapse);
      this.#memory.adoptRow(row);
    }
    this.#advance(nowMs);
  }

  /** The first step, after the snapshot was read. */
  start(nowMs: number): void {
    this.#enter(nowMs);
    this.#advance(nowMs);
  }

  handleAnswer(id: number, answer: Answer, nowMs: number): void {
    this.#enter(nowMs);
    if (this.#underWay?.id !== id) return;
    const { request } = this.#underWay;
    this.#underWay = null;
    const end = this.isGone ? null : this.#judgement.handle(request, answer, nowMs);
    if (end === "there") this.#end("there", nowMs);
    else if (end !== null) this.#stop(end);
    this.#advance(nowMs);
  }

  handleWatch(event: WatchEvent, nowMs: number): void {
    this.#enter(nowMs);
    if (this.isGone) return;
    const hint = this.#watching.handle(event, nowMs);
    if (event.is !== "frame") this.#sending.recheck();
    if (event.is === "frame") this.#sending.handleIncarnation(event.createdMs);
    switch (hint) {
      case "erased":
        this.#end("there", nowMs);
        return;
      case "expired":
        this.#judgement.restart();
        break;
      case "pruned":
        if (event.direction === writes(this.row.role)) this.#sending.unblock();
        break;
      case "room":
        this.#sending.tryRoom();
        break;
      case "fetch":
        this.#receiving.want();
        break;
      case null:
        break;
    }
    this.#advance(nowMs);
  }

  handleTimer(nowMs: number): void {
    this.#enter(nowMs);
    this.#advance(nowMs);
  }

  /** The clock was set forward by so much, or the phone slept: nothing grew older by that. */
  handleClockStep(byMs: number, nowMs: number): void {
    this.#enter(nowMs);
    this.#sending.postpone(byMs, nowMs);
    this.#advance(nowMs);
  }

  /** The page is in sight, or not any more. */
  handleVisible(isVisible: boolean, nowMs: number): void {
    this.#enter(nowMs);
    this.#isVisible = isVisible;
    if (isVisible) this.#wake(nowMs);
    this.#advance(nowMs);
  }

  /** The network is back, or somebody asks to try again. */
  handleOnline(nowMs: number): void {
    this.#enter(nowMs);
    this.#wake(nowMs);
    this.#advance(nowMs);
  }

  unpair(nowMs: number): void {
    if (!this.isGone) this.#end("here", nowMs);
  }

  snapshot(): LinkSnapshot {
    return this.#memory.snapshot();
  }

  drain(): LinkStep {
    return this.#memory.drain();
  }

  /** When to call `handleTimer` next; null if nothing waits for a time. */
  nextTimer(nowMs: number): number | null {
    if (this.isGone || this.#isStopped) return null;
    const { claimedAtMs } = this.#memory;
    const times = [...this.#sending.nextTimer(nowMs), ...this.#watching.nextTimer(this.#watched()), this.#patience.retryAtMs];
    if (claimedAtMs !== null) times.push(claimedAtMs + limit.RECLAIM_MS);
    // What was due before has been done, or waits for something else than a time.
    const ahead = times.filter((time) => time > nowMs);
    return ahead.length === 0 ? null : Math.min(...ahead);
  }

  #advance(nowMs: number): void {
    if (this.isGone || this.#isStopped) return;
    this.#sending.expire(nowMs);
    if (this.#underWay === null && nowMs >= this.#patience.retryAtMs) {
      const request = this.#next(nowMs);
      if (request !== null) {
        this.#requests += 1;
        this.#underWay = { id: this.#requests, request };
        this.#memory.effect({ is: "request", ...this.#underWay });
      }
    }
    this.#watching.advance(this.#watched(), nowMs);
  }

  #next(nowMs: number): LinkRequest | null {
    const { claimedAtMs } = this.#memory;
    if (claimedAtMs === null || nowMs >= claimedAtMs + limit.RECLAIM_MS) return { is: "claim" };
    // The other side has to hear of this device, whatever it answered to another one (8.3).
    const greeting = this.#sending.isGreeting ? this.#sending.next(nowMs) : null;
    return greeting ?? this.#receiving.next() ?? this.#sending.next(nowMs);
  }

  /** Every input passes here first. Where the clock was set back, nothing may wait for the time
   *  that it showed. */
  #enter(nowMs: number): void {
    const isBack = nowMs + limit.CLOCK_STEP_MS < this.#nowMs;
    this.#nowMs = nowMs;
    if (!isBack || this.isGone) return;
    this.#patience.rebase();
    this.#sending.rebase(nowMs);
    this.#watching.rebase(nowMs);
    if (this.#memory.claimedAtMs !== null) this.#memory.claimedAtMs = nowMs;
  }

  #watched(): Direction[] {
    if (!this.#isVisible || this.#isStopped || this.#memory.claimedAtMs === null) return [];
    const own = this.#sending.blockedSinceMs === null ? [] : [writes(this.row.role)];
    return [reads(this.row.role), ...own];
  }

  #wake(nowMs: number): void {
    this.#patience.wake(nowMs);
    this.#watching.wake(nowMs);
    this.#sending.release();
    this.#sending.recheck();
    this.#receiving.want();
  }

  #stop(trouble: LinkTrouble): void {
    this.#isStopped = true;
    this.#memory.isConnected = true;
    this.#memory.trouble = trouble;
    this.#watching.advance([], 0);
  }

  #end(by: "here" | "there", nowMs: number): void {
    const last = by === "here" ? this.#sending.sealBye(nowMs) : null;
    this.#watching.advance([], nowMs);
    this.#memory.forget(by, last === null ? null : { direction: writes(this.row.role), ...last }, nowMs);
  }
}
