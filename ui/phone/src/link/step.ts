// What crosses between the machine of a link and its shell (6.1): what is stored, what is
// written, what is done and what is told. Owns only shapes.
//
// Invariant: the changes of one step are committed in one transaction, and only then do its
// effects run.

import type { LinkRequest } from "./answer";
import type { Direction, Role } from "./key";
import type { Kind, Payload } from "./payload";

/** What is kept of a link until it is unpaired. */
export interface LinkRow {
  linkKey: Uint8Array;
  linkId: Uint8Array;
  role: Role;
  /** What the other device calls itself. */
  peerName: string;
  /** Whether the mailbox was claimed once; a new one after that has replaced a lost one. */
  established: boolean;
  lastReceived: number | null;
  /** The incarnation of the mailbox in which that was accepted. */
  receivedIn: number | null;
  /** The highest number that this side ever tried to write, or learnt from the other one. */
  floor: number;
  /** Since when nothing shows that the other side still has the link. */
  unconfirmedSinceMs: number | null;
  /** The relay doesn't know the mailbox and makes none. */
  lost: boolean;
  lastContactMs: number | null;
  resyncAtMs: number | null;
  /** Something was accepted that no stored envelope has acknowledged yet. */
  owesAck: boolean;
  /** The other device writes envelopes of a newer version. */
  newerPeer: boolean;
}

/** A message on its way to the other device. */
export interface OutboxRow {
  id: string;
  order: number;
  kind: Kind;
  collapse: string | null;
  body: Uint8Array;
  queuedMs: number;
  /** The slot that it was stored in; null while it waits. */
  seq: number | null;
  /** The incarnation of the mailbox that stored it. */
  createdMs: number | null;
}

/** A message as it is handed to the link. */
export interface NewRow {
  kind: Kind;
  body: Uint8Array;
  collapse?: string;
  id?: string;
}

export interface LinkSnapshot {
  row: LinkRow;
  outbox: OutboxRow[];
  /** The newest accepted ids, oldest first. */
  accepted: { order: number; id: string }[];
}

/** An erase that is still to be done; its token opens nothing. */
export interface Erasure {
  mailbox: string;
  token: string;
  sinceMs: number;
  /** A last word to the other device, already sealed. */
  bye: { direction: Direction; sequence: number; bytes: Uint8Array } | null;
}

export type FailureReason = "tooLarge" | "malformed" | "expired";

export type LinkChange =
  | { is: "row"; row: LinkRow }
  | { is: "outbox"; row: OutboxRow }
  | { is: "outboxGone"; id: string; why: "received" | "replaced" | FailureReason }
  | { is: "accepted"; order: number; id: string; keptFrom: number }
  | { is: "arrived"; payload: Payload }
  /** The link is over: everything of it is deleted, its key first. */
  | { is: "forgotten"; erasure: Erasure | null; by: "here" | "there" };

export type LinkEvent =
  | { is: "claimed"; isNew: boolean }
  | { is: "arrived"; id: string }
  | { is: "stored" | "received" | "replaced"; id: string }
  | { is: "failed"; id: string; reason: FailureReason }
  /** Something was skipped that can't be read, now or ever. */
  | { is: "skipped"; why: "malformed" | "slotMismatch" | "forged" | "version" }
  | { is: "unpaired"; by: "here" | "there" };

export type LinkEffect =
  | { is: "request"; id: number; request: LinkRequest }
  | { is: "openWatch"; direction: Direction }
  | { is: "closeWatch"; direction: Direction }
  | { is: "tell"; event: LinkEvent };

export interface LinkStep {
  changes: LinkChange[];
  effects: LinkEffect[];
}

/** What keeps a link from working, as far as this side can tell. */
export type LinkTrouble = "unreachable" | "busy" | "misbehaves" | "wrongToken" | "refusedAddress" | "notUnderstood";

export interface LinkStatus {
  /** The last request was answered as it should be. */
  isConnected: boolean;
  trouble: LinkTrouble | null;
  /** The other device has not collected for a while: the direction is full. */
  blockedSinceMs: number | null;
  /** When the next attempt is due after a failure. */
  retryAtMs: number | null;
  unconfirmedSinceMs: number | null;
  lost: boolean;
  newerPeer: boolean;
  lastContactMs: number | null;
  /** Envelopes that were skipped since the page was opened. */
  skipped: number;
}
