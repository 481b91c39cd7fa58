// The receiving half of a link (6.4): cursor, page by page, what is accepted, what is pruned.
// Pure. Invariants: the cursor passes what can't be opened; the replay check is against what
// was accepted; no number that was not authenticated is ever stored.

import type { LinkRequest, SlotState, StoredEnvelope } from "./answer";
import { open } from "./envelope";
import { reads } from "./key";
import type { LinkMemory } from "./memory";
import { decodePayload, type Payload } from "./payload";
import type { Outcome, Sending } from "./sending";
import { TRUSTED_SEQUENCE_MAX } from "./limit";

interface Run {
  cursor: number;
  seen: number | null;
  /** What the first page said; null before it. */
  state: SlotState | null;
}

export class Receiving {
  #isWanted = true;
  #run: Run | null = null;
  #through: number | null = null;
  /** The other side has ended the link with a last word. */
  isEnded = false;

  constructor(
    private readonly memory: LinkMemory,
    private readonly sending: Sending,
  ) {}

  /** Something may wait on the relay. */
  want(): void {
    this.#isWanted = true;
  }

  /** The mailbox may be another one than before. */
  restart(): void {
    this.#run = null;
    this.#through = null;
    this.#isWanted = true;
  }

  next(): LinkRequest | null {
    const direction = reads(this.memory.row.role);
    if (this.#through !== null) return { is: "prune", direction, through: this.#through };
    if (this.#run === null) {
      if (!this.#isWanted) return null;
      this.#isWanted = false;
      this.#run = { cursor: this.memory.row.lastReceived ?? 0, seen: null, state: null };
    }
    return { is: "page", direction, after: this.#run.cursor };
  }

  handlePage(state: SlotState, envelopes: readonly StoredEnvelope[], nowMs: number): Outcome {
    const run = this.#run;
    if (run === null) return "done";
    if (state.createdMs === null || (state.last ?? 0) > TRUSTED_SEQUENCE_MAX) return this.#misbehaves();
    this.sending.handleIncarnation(state.createdMs);
    if (run.state === null) {
      const { lastReceived, receivedIn } = this.memory.row;
      const isRestarted = (state.last ?? 0) < (lastReceived ?? 0) || state.createdMs !== receivedIn;
      run.state = state;
      if (isRestarted && run.cursor > 0) {
        run.cursor = 0;
        return "done";
      }
    } else if (run.state.createdMs !== state.createdMs) {
      this.restart();
      return "done";
    }
    return this.#read(run, state, envelopes, nowMs);
  }

  /** The prune is done; losing one is harmless, since the next run prunes too. */
  handlePruned(): void {
    this.#through = null;
  }

  #read(run: Run, state: SlotState, envelopes: readonly StoredEnvelope[], nowMs: number): Outcome {
    const from = run.cursor;
    for (const { slot, bytes } of envelopes) {
      if (slot <= run.cursor || slot > (state.last ?? 0)) return this.#misbehaves();
      run.cursor = slot;
      run.seen = slot;
      this.#open(slot, bytes, state.createdMs ?? 0, nowMs);
      if (this.isEnded) return "done";
    }
    if (run.cursor === from || (state.more ?? 0) === 0) this.#finish(run, state);
    return "done";
  }

  #finish(run: Run, state: SlotState): void {
    this.#run = null;
    const { lastReceived } = this.memory.row;
    const received = lastReceived !== null && lastReceived <= (run.state?.last ?? 0) ? lastReceived : 0;
    const through = Math.max(run.seen ?? 0, received);
    const isLeft = run.seen !== null || (state.oldest !== null && state.oldest <= through);
    if (through > 0 && isLeft) this.#through = through;
  }

  #misbehaves(): Outcome {
    this.#run = null;
    this.#isWanted = true;
    return "misbehaves";
  }

  #open(slot: number, bytes: Uint8Array, createdMs: number, nowMs: number): void {
    const { memory } = this;
    const opened = open(memory.keys, reads(memory.row.role), slot, memory.row.lastReceived, bytes);
    if (opened.is === "ok") {
      memory.set({ lastReceived: opened.sequence, receivedIn: createdMs, lastContactMs: nowMs, unconfirmedSinceMs: null });
      this.sending.unblock();
      this.sending.release();
      const payload = decodePayload(opened.payload);
      if (payload === null) this.#skip("malformed");
      else this.#take(payload, nowMs);
    } else if (opened.is === "stale") {
      const payload = decodePayload(opened.payload);
      const isNews = payload !== null && (payload.kind === "msg" || payload.kind === "state") && !memory.isAccepted(payload.id);
      if (isNews) this.sending.owesResync();
    } else {
      if (opened.is === "version") memory.set({ newerPeer: true });
      this.#skip(opened.is);
    }
  }

  #take(payload: Payload, nowMs: number): void {
    this.#applyAck(payload);
    switch (payload.kind) {
      case "resync":
        this.sending.requeue();
        break;
      case "bye":
        this.isEnded = true;
        break;
      case "ack":
      case "unknown":
        break;
      default:
        if (payload.kind === "msg" || payload.kind === "state") this.sending.owesAck(nowMs);
        if (this.memory.isAccepted(payload.id)) break;
        this.memory.accept(payload.id);
        this.memory.change({ is: "arrived", payload });
        this.memory.tell({ is: "arrived", id: payload.id });
    }
  }

  #applyAck({ ack }: Payload): void {
    if (ack === null || ack.seq > TRUSTED_SEQUENCE_MAX) return;
    if (ack.seq > this.memory.row.floor) {
      // This side was set back to an older copy of itself: what it wrote since then may lie
      // under numbers that the other one has long had, and so isn't covered.
      this.memory.set({ floor: ack.seq });
      this.sending.requeue();
      this.sending.recheck();
      return;
    }
    this.memory.acknowledged = ack;
    this.memory.dropAcknowledged();
  }

  #skip(why: "malformed" | "slotMismatch" | "forged" | "version"): void {
    this.memory.skipped += 1;
    this.memory.tell({ is: "skipped", why });
  }
}
