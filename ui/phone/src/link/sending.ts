// The sending half of a link (6.3, 7.2): which number comes next, one pending envelope, what
// each answer to it means. Pure. Invariants: the floor is stored before the envelope leaves;
// a repeat has the same bytes under the same number; a pending envelope serves its row only.

import type { Answer, LinkRequest, SlotState } from "./answer";
import { seal } from "./envelope";
import { writes } from "./key";
import * as limit from "./limit";
import type { LinkMemory } from "./memory";
import { type Ack, encodePayload, type Kind, newPayloadId, type Payload } from "./payload";
import { verdictOf } from "./retry";
import type { OutboxRow } from "./step";

interface Pending {
  /** The row, or null for what has none: `ack` and `resync`. */
  row: string | null;
  kind: Kind;
  sequence: number;
  bytes: Uint8Array;
  /** What it acknowledges. */
  acks: number | null;
}

/** What the relay said of the own direction. */
interface Own {
  atMs: number;
  last: number;
  count: number;
  createdMs: number | null;
}

/** What the link as a whole does about an answer. */
export type Outcome = "done" | "misbehaves";

export class Sending {
  blockedSinceMs: number | null = null;
  #own: Own | null = null;
  #pending: Pending | null = null;
  #attempts = { row: "", count: 0 };
  #heldUntilMs = 0;
  #ackDueMs: number | null = null;
  /** Where the last own acknowledgement lies, which has no row. */
  #ackStored: Ack | null = null;
  /** There was a sign that the relay may have less than it had. */
  #isDoubted = false;
  #hasHadRoom = false;
  #needsResync = false;
  #jumped = "";

  constructor(private readonly memory: LinkMemory) {
    // A process that ended in between owes it still.
    if (memory.row.owesAck) this.#ackDueMs = 0;
  }

  /** The mailbox may be another one than before: asks again, and seals again. */
  forgetOwn(): void {
    this.#own = null;
    this.#pending = null;
  }

  /** The relay may have been set back in the same incarnation: looks again before anything is
   *  added, or an acknowledgement of the new would pass for one of the lost. */
  recheck(): void {
    this.#own = null;
    this.#isDoubted = true;
  }

  /** The watch named an incarnation of the mailbox. */
  handleIncarnation(createdMs: number | null): void {
    if (this.#own !== null && createdMs !== null && this.#own.createdMs !== createdMs) this.forgetOwn();
  }

  unblock(): void {
    this.blockedSinceMs = null;
    this.#hasHadRoom = false;
  }

  /** The relay counts room. Where it refuses all the same, that isn't believed twice. */
  tryRoom(): void {
    if (!this.#hasHadRoom) this.blockedSinceMs = null;
    this.#hasHadRoom = true;
  }

  /** Retries at once what waits because of a number. */
  release(): void {
    this.#heldUntilMs = 0;
  }

  /** Something was accepted that the other side waits to hear of. */
  owesAck(nowMs: number): void {
    this.#ackDueMs ??= nowMs + limit.ACK_DELAY_MS;
    this.memory.set({ owesAck: true });
  }

  owesResync(): void {
    this.#needsResync = true;
  }

  #dropAck(): void {
    this.#ackDueMs = null;
    this.memory.set({ owesAck: false });
  }

  /** Whether the greeting of a pairing still waits. */
  get isGreeting(): boolean {
    return [...this.memory.outbox.values()].some(({ kind, seq }) => kind === "hello" && seq === null);
  }

  /** The clock was set back to this. */
  rebase(nowMs: number): void {
    this.unblock();
    if (this.#ackDueMs !== null) this.#ackDueMs = nowMs;
    if (this.#own !== null) this.#own = { ...this.#own, atMs: nowMs };
    this.#heldUntilMs = 0;
    for (const row of this.memory.outbox.values()) if (row.queuedMs > nowMs) this.memory.putRow({ ...row, queuedMs: nowMs });
  }

  /** Nothing that waits grew older by this; what came after it has the new time already. */
  postpone(byMs: number, nowMs: number): void {
    for (const row of this.memory.outbox.values()) this.memory.putRow({ ...row, queuedMs: Math.min(nowMs, row.queuedMs + byMs) });
  }

  /** Gives up what nobody took for too long. */
  expire(nowMs: number): void {
    for (const row of this.memory.outbox.values()) {
      if (nowMs - row.queuedMs >= limit.ROW_LIFE_MS) this.memory.dropRow(row.id, "expired");
    }
  }

  next(nowMs: number): LinkRequest | null {
    if (this.blockedSinceMs !== null && nowMs >= this.blockedSinceMs + limit.BLOCKED_MS) this.unblock();
    if (this.blockedSinceMs !== null || nowMs < this.#heldUntilMs) return null;
    if (this.#own !== null && nowMs - this.#own.atMs >= limit.SILENCE_MS) this.#own = null;
    const direction = writes(this.memory.row.role);
    for (;;) {
      const mayBeLost = this.memory.outbox.size > 0 || (this.#ackStored !== null && this.#isDoubted);
      if (mayBeLost && this.#own === null) return { is: "head", direction };
      const wanted = this.#wanted(nowMs);
      if (wanted === null) return null;
      if (this.#own === null) return { is: "head", direction };
      if (wanted.kind === "ack" && this.#own.count >= limit.ACK_SLOTS_MAX) {
        this.#ackDueMs = nowMs + limit.BLOCKED_MS;
        return null;
      }
      const pending = this.#seal(wanted, this.#own, nowMs);
      if (pending !== null) return { is: "put", direction, sequence: pending.sequence, bytes: pending.bytes };
    }
  }

  handleHead(state: SlotState, nowMs: number): Outcome {
    const last = state.last ?? 0;
    if (last > limit.TRUSTED_SEQUENCE_MAX) return "misbehaves";
    this.#own = { atMs: nowMs, last, count: state.count ?? 0, createdMs: state.createdMs };
    for (const row of this.memory.outbox.values()) {
      if (row.seq !== null && (row.createdMs !== state.createdMs || row.seq > last)) this.memory.putRow({ ...row, seq: null, createdMs: null });
    }
    this.#isDoubted = false;
    const ack = this.#ackStored;
    if (ack !== null && (ack.createdMs !== state.createdMs || ack.seq > last)) {
      this.#ackStored = null;
      this.owesAck(nowMs);
    }
    return "done";
  }

  handlePut(answer: Answer & { is: "ok" | "refused" }, nowMs: number): Outcome {
    const pending = this.#pending;
    if (pending === null) return "done";
    if (answer.is === "ok") return this.#stored(pending, answer.state, nowMs);
    this.#pending = null;
    switch (verdictOf(answer)) {
      case "taken":
        return this.#taken(pending, answer.state, nowMs);
      case "full":
        this.blockedSinceMs = nowMs;
        return "done";
      case "tooLarge":
        return this.#fail(pending, "tooLarge");
      case "jump":
        return this.#jump(pending);
      default:
        return this.#fail(pending, "malformed");
    }
  }

  /** Requeues all rows: the other side has none of them. */
  requeue(): void {
    for (const row of this.memory.outbox.values()) {
      if (row.seq !== null) this.memory.putRow({ ...row, seq: null, createdMs: null });
    }
  }

  nextTimer(nowMs: number): number[] {
    const times: number[] = [];
    if (this.blockedSinceMs !== null) times.push(this.blockedSinceMs + limit.BLOCKED_MS);
    if (this.#heldUntilMs > nowMs) times.push(this.#heldUntilMs);
    if (this.#ackDueMs !== null) times.push(this.#ackDueMs);
    if (this.#needsResync) times.push(this.#resyncAtMs(nowMs));
    for (const row of this.memory.outbox.values()) times.push(row.queuedMs + limit.ROW_LIFE_MS);
    return times;
  }

  /** A last word, sealed for the number that is probably free. */
  sealBye(nowMs: number): { sequence: number; bytes: Uint8Array } | null {
    const sequence = Math.max(this.#own?.last ?? 0, this.memory.row.floor) + 1;
    const bytes = this.#sealPayload("bye", newPayloadId(this.memory.random), null, new Uint8Array(), sequence, nowMs);
    return bytes === null ? null : { sequence, bytes };
  }

  #wanted(nowMs: number): { row: OutboxRow | null; kind: Kind } | null {
    if (this.#needsResync && nowMs >= this.#resyncAtMs(nowMs)) return { row: null, kind: "resync" };
    for (const row of this.memory.outbox.values()) if (row.seq === null) return { row, kind: row.kind };
    if (this.#ackDueMs !== null && nowMs >= this.#ackDueMs) return { row: null, kind: "ack" };
    return null;
  }

  /** What was stored under a clock that was fast says nothing. */
  #resyncAtMs(nowMs: number): number {
    const at = this.memory.row.resyncAtMs;
    return at === null || at > nowMs ? 0 : at + limit.RESYNC_MS;
  }

  /** The pending envelope of what is wanted; null where its row failed on the way. */
  #seal(wanted: { row: OutboxRow | null; kind: Kind }, own: Own, nowMs: number): Pending | null {
    const id = wanted.row?.id ?? null;
    if (this.#pending !== null && this.#pending.row === id && this.#pending.kind === wanted.kind) return this.#pending;
    this.#pending = null;
    const sequence = Math.max(own.last, this.memory.row.floor) + 1;
    const { row, kind } = wanted;
    const bytes = this.#sealPayload(kind, id ?? newPayloadId(this.memory.random), row?.collapse ?? null, row?.body ?? new Uint8Array(), sequence, row?.queuedMs ?? nowMs);
    if (bytes === null) {
      if (id !== null) this.memory.dropRow(id, "tooLarge");
      return null;
    }
    this.memory.set({ floor: sequence });
    this.#pending = { row: id, kind, sequence, bytes, acks: this.memory.row.lastReceived };
    return this.#pending;
  }

  #sealPayload(kind: Kind, id: string, collapse: string | null, body: Uint8Array, sequence: number, tsMs: number): Uint8Array | null {
    const { lastReceived, receivedIn, role } = this.memory.row;
    const ack = lastReceived === null || receivedIn === null ? null : { seq: lastReceived, createdMs: receivedIn };
    const payload: Payload = { kind, id, ack, tsMs, collapse, body };
    const bytes = encodePayload(payload);
    return bytes === null ? null : seal(this.memory.keys, writes(role), sequence, bytes, this.memory.random);
  }

  #stored(pending: Pending, state: SlotState, nowMs: number): Outcome {
    this.#pending = null;
    this.#hasHadRoom = false;
    const createdMs = state.createdMs ?? this.#own?.createdMs ?? null;
    const row = pending.row === null ? undefined : this.memory.outbox.get(pending.row);
    if (row !== undefined) {
      this.memory.putRow({ ...row, seq: pending.sequence, createdMs });
      this.memory.tell({ is: "stored", id: row.id });
      this.memory.dropAcknowledged();
    }
    if (pending.acks === this.memory.row.lastReceived) {
      this.#dropAck();
      if (pending.acks !== null && createdMs !== null) this.#ackStored = { seq: pending.sequence, createdMs };
    }
    if (pending.kind === "resync") {
      this.#needsResync = false;
      this.memory.set({ resyncAtMs: nowMs });
    }
    if (this.#own !== null && this.#own.createdMs === createdMs) {
      this.#own = { ...this.#own, last: Math.max(this.#own.last, pending.sequence), count: state.count ?? this.#own.count + 1 };
    } else {
      this.#own = null;
    }
    return "done";
  }

  /** Another instance of this side wrote meanwhile: continues after it, a few times. */
  #taken(pending: Pending, state: SlotState, nowMs: number): Outcome {
    this.#own = null;
    if ((state.last ?? 0) > limit.TRUSTED_SEQUENCE_MAX) return "misbehaves";
    const row = pending.row ?? pending.kind;
    this.#attempts = this.#attempts.row === row ? { row, count: this.#attempts.count + 1 } : { row, count: 1 };
    if (this.#attempts.count < limit.PUT_ATTEMPTS_MAX) return "done";
    this.#attempts = { row: "", count: 0 };
    this.#heldUntilMs = nowMs + limit.ATTEMPTS_PAUSE_MS;
    return "done";
  }

  #jump(pending: Pending): Outcome {
    const row = pending.row ?? pending.kind;
    if (this.#jumped === row) return this.#fail(pending, "malformed");
    this.#jumped = row;
    this.#own = null;
    return "done";
  }

  #fail(pending: Pending, reason: "malformed" | "tooLarge"): Outcome {
    if (pending.row !== null) this.memory.dropRow(pending.row, reason);
    else if (pending.kind === "ack") this.#dropAck();
    else this.#needsResync = false;
    return "done";
  }
}
