// What an answer means for the link as a whole (6.8). Pure. Owns how often a mailbox that was
// claimed wasn't there; what an answer means for its half of the link is that half's.

import type { Answer, LinkRequest } from "./answer";
import * as limit from "./limit";
import type { LinkMemory } from "./memory";
import type { Patience } from "./patience";
import type { Receiving } from "./receiving";
import { retryAfter, type Verdict, verdictOf } from "./retry";
import type { Outcome, Sending } from "./sending";
import type { LinkTrouble } from "./step";

/** After which nothing more is asked: the other side has ended the link, or a trouble has;
 *  null where it goes on. */
export type LinkEnd = "there" | "wrongToken" | "notUnderstood" | null;

export class Judgement {
  #missing = 0;
  #end: LinkEnd = null;

  constructor(
    private readonly memory: LinkMemory,
    private readonly sending: Sending,
    private readonly receiving: Receiving,
    private readonly patience: Patience,
  ) {}

  /** What an answer means for any request (6.8); the rest is for the half that asked. */
  handle(request: LinkRequest, answer: Answer, nowMs: number): LinkEnd {
    this.#end = null;
    this.#judge(request, answer, nowMs);
    return this.#end;
  }

  #judge(request: LinkRequest, answer: Answer, nowMs: number): void {
    if (answer.is === "noAnswer") return this.#backOff("unreachable", nowMs);
    if (answer.is === "unreadable") {
      this.sending.recheck();
      return this.patience.handleUnreadable(nowMs);
    }
    this.patience.understand();
    if (answer.is === "ok") return this.#succeed(request, answer, nowMs);
    const verdict = verdictOf(answer);
    switch (verdict) {
      case "backoff":
        return this.#backOff("unreachable", nowMs);
      case "wait":
        return this.patience.pause("busy", retryAfter(answer.retryAfterMs, this.memory.unit()), nowMs);
      case "configuration":
        return this.patience.pause("refusedAddress", limit.CONFIGURATION_MS, nowMs);
      case "unauthorized":
        return this.#stop("notUnderstood");
      case "wrongToken":
        return this.#stop("wrongToken");
      case "noMailbox":
        return this.#miss(nowMs);
      case "claimsClosed":
        return request.is === "claim" ? this.#lose(nowMs) : this.#misbehaves(nowMs);
      default:
        return this.#refuse(request, answer, verdict, nowMs);
    }
  }

  /** A refusal that depends on what was asked. */
  #refuse(request: LinkRequest, answer: Answer & { is: "refused" }, verdict: Verdict, nowMs: number): void {
    if (request.is === "prune") return this.receiving.handlePruned();
    if (request.is === "put") return this.#apply(this.sending.handlePut(answer, nowMs), nowMs);
    if (verdict === "refused") return this.#stop("notUnderstood");
    this.#misbehaves(nowMs);
  }

  /** The mailbox isn't there: claims it, once; then waits longer and longer. */
  #miss(nowMs: number): void {
    this.#missing += 1;
    this.restart();
    if (this.#missing > 1) this.#backOff("misbehaves", nowMs);
  }

  #succeed(request: LinkRequest, answer: Answer & { is: "ok" }, nowMs: number): void {
    // A claim says nothing about a mailbox that isn't there for anything else.
    if (request.is === "claim" && this.#missing > 0) this.patience.goOn();
    else this.patience.succeed();
    if (request.is !== "claim") this.#missing = 0;
    switch (request.is) {
      case "claim":
        return this.#claimed(answer.status === 201, answer.state.createdMs, nowMs);
      case "head":
        return this.#apply(this.sending.handleHead(answer.state, nowMs), nowMs);
      case "page":
        this.#apply(this.receiving.handlePage(answer.state, answer.envelopes, nowMs), nowMs);
        if (this.receiving.isEnded) this.#end = "there";
        return;
      case "prune":
        return this.receiving.handlePruned();
      case "put":
        return this.#apply(this.sending.handlePut(answer, nowMs), nowMs);
      case "erase":
        return;
    }
  }

  #claimed(isNew: boolean, createdMs: number | null, nowMs: number): void {
    this.memory.claimedAtMs = nowMs;
    if (isNew) this.sending.forgetOwn();
    else this.sending.handleIncarnation(createdMs);
    if (isNew && this.memory.row.established) this.memory.set({ unconfirmedSinceMs: this.memory.row.unconfirmedSinceMs ?? nowMs });
    this.memory.set({ established: true, lost: false });
    this.memory.tell({ is: "claimed", isNew });
  }

  #apply(outcome: Outcome, nowMs: number): void {
    if (outcome === "misbehaves") this.#misbehaves(nowMs);
  }

  /** The relay answers what can't be: it is tried rarely. */
  #misbehaves(nowMs: number): void {
    this.sending.recheck();
    this.patience.pause("misbehaves", limit.CONFIGURATION_MS, nowMs);
  }

  /** The mailbox may be another one than before: it is claimed first. */
  restart(): void {
    this.memory.claimedAtMs = null;
    this.sending.forgetOwn();
    this.receiving.restart();
  }

  #lose(nowMs: number): void {
    this.memory.claimedAtMs = null;
    this.memory.set({ lost: true });
    this.patience.lose(nowMs);
  }

  #backOff(trouble: LinkTrouble, nowMs: number): void {
    this.sending.recheck();
    this.patience.backOff(trouble, nowMs);
  }

  #stop(trouble: "wrongToken" | "notUnderstood"): void {
    this.#end = trouble;
  }
}
