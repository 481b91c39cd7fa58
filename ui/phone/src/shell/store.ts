// What the phone keeps, in IndexedDB. Owns the database and how a step of the machine becomes
// one transaction: what was delivered, what was accepted and what goes out commit together,
// and strictly (9.3).

import { readKey, type FromPhone, type Groups } from "../feed";
import type { KeptMessage } from "../history";
import { isEqual } from "../link/bytes";
import { encodeObject, type PairingRecord } from "../link/pairing";
import type { Erasure, LinkChange, LinkRow, LinkSnapshot, OutboxRow } from "../link/step";
import { deliver, done, markText, type OwnText, range, STORES, type StoreName, type Stores } from "./delivered";

/** Another tab leads meanwhile: what this one knows may be old, and nothing of it is written. */
export class LeadLost extends Error {}

/** What ended the last link, until somebody has read it. */
export type Farewell = "here" | "there";

const NAME = "sealpost-phone";
const VERSION = 1;
/** The stores that hold something of a link. */
const OF_A_LINK: readonly StoreName[] = ["outbox", "accepted", "messages", "asked"];
export class PhoneStore {
  /** Under which name this tab leads. */
  #lead = "";

  private constructor(private readonly database: IDBDatabase) {}

  /** Fails where the browser keeps nothing. */
  static async open(): Promise<PhoneStore> {
    const opening = indexedDB.open(NAME, VERSION);
    opening.onupgradeneeded = () => {
      const { result: database } = opening;
      const keyPaths: Record<StoreName, string | string[] | null> = { single: null, outbox: "id", accepted: "order", erasures: "mailbox", messages: ["group", "position"], texts: "id", asked: "id" };
      for (const name of STORES) database.createObjectStore(name, { keyPath: keyPaths[name] });
    };
    return new PhoneStore(await done(opening));
  }

  snapshot(): Promise<LinkSnapshot | null> {
    return this.#in(["single", "outbox", "accepted"], "readonly", async (of) => {
      const row = await done<LinkRow | undefined>(of("single").get("link"));
      if (row === undefined) return null;
      return { row, outbox: await done(of("outbox").getAll()), accepted: await done(of("accepted").getAll()) };
    });
  }

  /** Whether there is a link, and with whom. */
  async linkedWith(): Promise<string | null> {
    return (await this.#single<LinkRow>("link"))?.peerName ?? null;
  }

  pairing(): Promise<PairingRecord | null> {
    return this.#single<PairingRecord>("pairing");
  }

  groups(): Promise<Groups | null> {
    return this.#single<Groups>("groups");
  }

  farewell(): Promise<Farewell | null> {
    return this.#single<Farewell>("farewell");
  }

  erasures(): Promise<Erasure[]> {
    return this.#in(["erasures"], "readonly", (of) => done(of("erasures").getAll()));
  }

  /** In the order in which they were written. */
  texts(): Promise<OwnText[]> {
    return this.#in(["texts"], "readonly", async (of) => (await done<OwnText[]>(of("texts").getAll())).sort((one, other) => one.order - other.order));
  }

  /** All messages of a group, oldest first. */
  messages(group: string): Promise<KeptMessage[]> {
    return this.#in(["messages"], "readonly", (of) => done(of("messages").getAll(range(group))));
  }

  /** The newest message of a group. */
  newest(group: string): Promise<KeptMessage | null> {
    return this.#in(["messages"], "readonly", async (of) => {
      const cursor = await done(of("messages").openCursor(range(group), "prev"));
      return (cursor?.value as KeptMessage | undefined) ?? null;
    });
  }

  /** Leads under a name that is new each time: whoever led before can write nothing more of
   *  what it has read. */
  async lead(name: string): Promise<void> {
    await this.#in(["single"], "readwrite", async (of) => void (await done(of("single").put(name, "lead"))));
    this.#lead = name;
  }

  /** Commits a step of the link. */
  commit(changes: readonly LinkChange[]): Promise<void> {
    return this.#leading(STORES, async (of) => {
      for (const change of changes) await apply(change, of);
    });
  }

  /** Takes a code, from any tab. One that is being joined already goes on as it is: a second
   *  greeting of this phone would pass for another device. */
  beginPairing(record: PairingRecord): Promise<void> {
    return this.#in(["single"], "readwrite", async (of) => {
      const going = await done<PairingRecord | undefined>(of("single").get("pairing"));
      if (going !== undefined && isEqual(going.linkId, record.linkId) && isEqual(going.linkKey, record.linkKey)) return;
      await done(of("single").put(record, "pairing"));
      for (const old of ["farewell", "lead"]) await done(of("single").delete(old));
    });
  }

  savePairing(record: PairingRecord): Promise<void> {
    return this.#leading(["single"], async (of) => void (await done(of("single").put(record, "pairing"))));
  }

  /** A pairing that came to nothing leaves at most an erase. */
  dropPairing(erasure: Erasure | null): Promise<void> {
    return this.#leading(["single", "erasures"], async (of) => {
      await done(of("single").delete("pairing"));
      if (erasure !== null) await done(of("erasures").put(erasure));
    });
  }

  /** The new link stands in for the pairing, and for the link before it. */
  savePaired(row: LinkRow, first: OutboxRow, old: Erasure | null): Promise<void> {
    return this.#leading(STORES, async (of) => {
      for (const name of [...OF_A_LINK, "single", "texts"] as const) await done(of(name).clear());
      await done(of("single").put(row, "link"));
      await done(of("outbox").put(first));
      if (old !== null) await done(of("erasures").put(old));
    });
  }

  forgetErasure(mailbox: string): Promise<void> {
    return this.#in(["erasures"], "readwrite", async (of) => void (await done(of("erasures").delete(mailbox))));
  }

  /** The farewell was read, with what had not arrived. The texts of a link that is there stay. */
  forgetFarewell(): Promise<void> {
    return this.#in(["single", "texts"], "readwrite", async (of) => {
      if ((await done(of("single").get("link"))) !== undefined) return;
      await done(of("single").delete("farewell"));
      await done(of("texts").clear());
    });
  }

  /** Takes something for the desktop, from any tab; null where there is no link any more. */
  queue(body: FromPhone, id: string, nowMs: number): Promise<OutboxRow | null> {
    return this.#in(["single", "outbox", "texts", "asked"], "readwrite", async (of) => {
      if ((await done(of("single").get("link"))) === undefined) return null;
      const rows = await done<OutboxRow[]>(of("outbox").getAll());
      if (body.type === "history" && (await isAsked(body, rows, of))) return null;
      const collapse = body.type === "read" ? readKey(body.group) : null;
      for (const row of rows) if (collapse !== null && row.collapse === collapse && row.seq === null) await done(of("outbox").delete(row.id));
      const order = Math.max(0, ...rows.map((row) => row.order)) + 1;
      const row: OutboxRow = { id, order, kind: body.type === "read" ? "state" : "msg", collapse, body: encodeObject(body), queuedMs: nowMs, seq: null, createdMs: null };
      await done(of("outbox").put(row));
      if (body.type === "history") await done(of("asked").put({ id, group: body.group, before: body.before }));
      if (body.type === "text") {
        const texts = await done<OwnText[]>(of("texts").getAll());
        const last = Math.max(0, ...texts.map((one) => one.order));
        const text: OwnText = { id, order: last + 1, group: body.group, text: body.text, atMs: nowMs, state: "waiting", reason: null };
        await done(of("texts").put(text));
      }
      return row;
    });
  }

  dropText(id: string): Promise<void> {
    return this.#in(["texts"], "readwrite", async (of) => void (await done(of("texts").delete(id))));
  }

  /** What only the tab that leads may write. */
  #leading(names: readonly StoreName[], work: (of: Stores) => Promise<void>): Promise<void> {
    return this.#in(names, "readwrite", async (of) => {
      if ((await done<string | undefined>(of("single").get("lead"))) !== this.#lead) throw new LeadLost();
      await work(of);
    });
  }

  #single<Value>(key: string): Promise<Value | null> {
    return this.#in(["single"], "readonly", async (of) => (await done<Value | undefined>(of("single").get(key))) ?? null);
  }

  async #in<Result>(names: readonly StoreName[], mode: IDBTransactionMode, work: (of: (name: StoreName) => IDBObjectStore) => Promise<Result>): Promise<Result> {
    const transaction = this.database.transaction(names, mode, { durability: "strict" });
    const completed = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error("aborted"));
    });
    try {
      const result = await work((name) => transaction.objectStore(name));
      await completed;
      return result;
    } catch (error) {
      completed.catch(() => {});
      if (transaction.error === null) tryAbort(transaction);
      throw error;
    }
  }
}

function tryAbort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It ended by itself.
  }
}

async function apply(change: LinkChange, of: Stores): Promise<void> {
  switch (change.is) {
    case "row":
      await done(of("single").put(change.row, "link"));
      return;
    case "outbox":
      await done(of("outbox").put(change.row));
      return markText(of, change.row.id, change.row.seq === null ? "waiting" : "stored", null);
    case "outboxGone":
      await done(of("outbox").delete(change.id));
      if (change.why === "replaced") return;
      if (change.why === "received") return markText(of, change.id, "received", null);
      await done(of("asked").delete(change.id));
      return markText(of, change.id, "failed", change.why);
    case "accepted":
      await done(of("accepted").put({ order: change.order, id: change.id }));
      await done(of("accepted").delete(IDBKeyRange.upperBound(change.keptFrom, true)));
      return;
    case "arrived":
      return deliver(change.payload, of);
    case "forgotten":
      for (const name of [...OF_A_LINK, "single"] as const) await done(of(name).clear());
      if (change.by === "here") await done(of("texts").clear());
      await done(of("single").put(change.by, "farewell"));
      if (change.erasure !== null) await done(of("erasures").put(change.erasure));
  }
}

/** Whether the same is asked for already, and still waits here. */
async function isAsked({ group, before }: { group: string; before: number }, rows: readonly OutboxRow[], of: Stores): Promise<boolean> {
  const asked = await done<{ id: string; group: string; before: number }[]>(of("asked").getAll());
  return asked.some((one) => one.group === group && one.before === before && rows.some(({ id }) => id === one.id));
}
