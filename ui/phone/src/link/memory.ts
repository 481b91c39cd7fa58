// The state of one link that its parts share: what is durable, what this process knows, and
// the step that is being made. Owns no rule of its own.

import { deriveKeys, type LinkKeys, type Random, wipe } from "./key";
import { ACCEPTED_IDS_MAX } from "./limit";
import type { Ack, Kind } from "./payload";
import type { Erasure, FailureReason, LinkChange, LinkEffect, LinkEvent, LinkRow, LinkSnapshot, LinkStep, LinkTrouble, OutboxRow } from "./step";

export class LinkMemory {
  readonly keys: LinkKeys;
  row: LinkRow;
  /** In the order in which the rows go out. */
  readonly outbox: Map<string, OutboxRow>;
  readonly #accepted: Map<string, number>;
  #acceptedOrder: number;
  #lastOrder: number;
  #changes: LinkChange[] = [];
  #effects: LinkEffect[] = [];
  /** Process only: when the mailbox was claimed. */
  claimedAtMs: number | null = null;
  /** Process only: what the other side has last acknowledged. It may come before the answer
   *  to the very request that it acknowledges. */
  acknowledged: Ack | null = null;
  isConnected = false;
  trouble: LinkTrouble | null = null;
  skipped = 0;
  isGone = false;

  constructor(
    snapshot: LinkSnapshot,
    readonly random: Random,
  ) {
    this.row = snapshot.row;
    this.keys = deriveKeys(snapshot.row.linkKey, snapshot.row.linkId);
    const rows = [...snapshot.outbox].sort((one, other) => one.order - other.order || (one.id < other.id ? -1 : 1));
    this.outbox = new Map(rows.map((row) => [row.id, row]));
    this.#accepted = new Map(snapshot.accepted.map(({ id, order }) => [id, order]));
    this.#acceptedOrder = snapshot.accepted.at(-1)?.order ?? 0;
    this.#lastOrder = rows.at(-1)?.order ?? 0;
  }

  /** Changes fields of the link's row. */
  set(fields: Partial<LinkRow>): void {
    const isSame = Object.entries(fields).every(([name, value]) => this.row[name as keyof LinkRow] === value);
    if (isSame) return;
    this.row = { ...this.row, ...fields };
    const before = this.#changes.findIndex((change) => change.is === "row");
    if (before >= 0) this.#changes.splice(before, 1);
    this.change({ is: "row", row: this.row });
  }

  putRow(row: OutboxRow): void {
    this.outbox.set(row.id, row);
    this.#lastOrder = Math.max(this.#lastOrder, row.order);
    this.change({ is: "outbox", row });
  }

  /** Takes a row that another tab has stored. */
  adoptRow(row: OutboxRow): void {
    if (this.outbox.has(row.id)) return;
    this.outbox.set(row.id, row);
    this.#lastOrder = Math.max(this.#lastOrder, row.order);
  }

  nextOrder(): number {
    return this.#lastOrder + 1;
  }

  dropRow(id: string, why: "received" | "replaced" | FailureReason): void {
    if (!this.outbox.delete(id)) return;
    this.change({ is: "outboxGone", id, why });
    this.tell(why === "received" || why === "replaced" ? { is: why, id } : { is: "failed", id, reason: why });
  }

  /** A state takes the place of what waits under its key. */
  replace(kind: Kind, collapse: string | null): void {
    if (kind !== "state" || collapse === null) return;
    for (const row of [...this.outbox.values()]) {
      if (row.collapse === collapse && row.seq === null) this.dropRow(row.id, "replaced");
    }
  }

  /** The link is over: nothing of its keys stays, but what erases the mailbox. */
  forget(by: "here" | "there", bye: Erasure["bye"], nowMs: number): void {
    const { mailbox, token } = this.keys;
    this.isGone = true;
    this.change({ is: "forgotten", erasure: by === "here" ? { mailbox, token, sinceMs: nowMs, bye } : null, by });
    this.tell({ is: "unpaired", by });
    this.row.linkKey.fill(0);
    wipe(this.keys);
  }

  /** Takes out what the other side has. */
  dropAcknowledged(): void {
    const ack = this.acknowledged;
    if (ack === null) return;
    for (const row of [...this.outbox.values()]) {
      if (row.seq !== null && row.createdMs === ack.createdMs && row.seq <= ack.seq) this.dropRow(row.id, "received");
    }
  }

  isAccepted(id: string): boolean {
    return this.#accepted.has(id);
  }

  accept(id: string): void {
    this.#acceptedOrder += 1;
    this.#accepted.set(id, this.#acceptedOrder);
    const keptFrom = this.#acceptedOrder - ACCEPTED_IDS_MAX + 1;
    for (const [old, order] of this.#accepted) {
      if (order >= keptFrom) break;
      this.#accepted.delete(old);
    }
    this.change({ is: "accepted", order: this.#acceptedOrder, id, keptFrom });
  }

  change(change: LinkChange): void {
    this.#changes.push(change);
  }

  effect(effect: LinkEffect): void {
    this.#effects.push(effect);
  }

  tell(event: LinkEvent): void {
    this.effect({ is: "tell", event });
  }

  drain(): LinkStep {
    const step = { changes: this.#changes, effects: this.#effects };
    this.#changes = [];
    this.#effects = [];
    return step;
  }

  /** All that is durable, as it stands after this step. */
  snapshot(): LinkSnapshot {
    return { row: this.row, outbox: [...this.outbox.values()], accepted: [...this.#accepted].map(([id, order]) => ({ id, order })) };
  }

  /** A number from 0 to 1 for the spread of delays. */
  unit(): number {
    return (this.random(1)[0] ?? 0) / 255;
  }
}
