// What the desktop said becomes what the phone shows, inside a transaction of the store.

import { readBody, type Groups } from "../feed";
import { keepBatch, type KeptMessage } from "../history";
import type { Payload } from "../link/payload";

/** A text that was written here and is not yet among the desktop's messages. */
export interface OwnText {
  id: string;
  order: number;
  group: string;
  text: string;
  atMs: number;
  state: "waiting" | "stored" | "received" | "failed";
  /** Why it failed. */
  reason: string | null;
}

export const STORES = ["single", "outbox", "accepted", "erasures", "messages", "texts", "asked"] as const;
export type StoreName = (typeof STORES)[number];
export type Stores = (name: StoreName) => IDBObjectStore;
/** A group keeps at most this many messages here; older ones are asked for again. */
const MESSAGES_MAX = 3_000;

export async function markText(of: Stores, id: string, state: OwnText["state"], reason: string | null): Promise<void> {
  const text = await done<OwnText | undefined>(of("texts").get(id));
  if (text !== undefined) await done(of("texts").put({ ...text, state, reason }));
}

/** What the desktop said becomes what the phone shows, in the transaction that accepts it. */
export async function deliver(payload: Payload, of: Stores): Promise<void> {
  const body = readBody(payload.body);
  if (body === null) return;
  if (body.type === "groups") {
    const { type: _, ...groups } = body;
    const before = await done<Groups | undefined>(of("single").get("groups"));
    await done(of("single").put(groups, "groups"));
    // What isn't shared with this phone any more doesn't stay on it.
    for (const { id } of before?.groups ?? []) if (!groups.groups.some((group) => group.id === id)) await done(of("messages").delete(range(id)));
    return;
  }
  if (body.type === "refused") {
    await markText(of, body.message, "failed", body.code);
    await done(of("asked").delete(body.message));
    return;
  }
  const messages = of("messages");
  const kept = (position: number): Promise<KeptMessage | undefined> => done(messages.get([body.group, position]));
  const asked = body.type === "page" ? await done<{ before: number } | undefined>(of("asked").get(body.request)) : undefined;
  for (const message of await keepBatch(body, asked?.before ?? null, kept)) {
    await done(messages.put(message));
    await done(of("texts").delete(message.id));
  }
  if (body.type === "page") await done(of("asked").delete(body.request));
  if (body.type === "tail") await trim(messages, body.group);
}

/** Drops the oldest messages of a group beyond what is kept. */
async function trim(messages: IDBObjectStore, group: string): Promise<void> {
  const over = (await done(messages.count(range(group)))) - MESSAGES_MAX;
  if (over <= 0) return;
  const keys = await done(messages.getAllKeys(range(group), over + 1));
  for (const key of keys.slice(0, over)) await done(messages.delete(key));
  const first = await done<KeptMessage | undefined>(messages.get(keys.at(-1) ?? []));
  if (first !== undefined) await done(messages.put({ ...first, afterGap: true }));
}

export function range(group: string): IDBKeyRange {
  return IDBKeyRange.bound([group, 0], [group, Number.MAX_SAFE_INTEGER]);
}

export function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the request failed"));
  });
}
