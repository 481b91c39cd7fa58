// What a desktop and this phone say to each other inside the link, as JSON (protocol::link::feed
// has the same). Pure. Whatever has another shape is no body; types and fields that are not
// known are passed over; nothing here is believed to be harmless.

import { readObject } from "./link/payload";

export type GroupTrouble = "notConnected" | "needsYou" | "ended" | "other";

export interface Group {
  id: string;
  name: string;
  members: number;
  unread: number;
  last: number | null;
  trouble: GroupTrouble | null;
}

export interface Groups {
  desktop: string;
  phone: string;
  language: string;
  groups: Group[];
}

export type DeliveryState = "waiting" | "sending" | "onRelay" | "failed" | "other";

export interface Delivery {
  state: DeliveryState;
  onRelay: number;
  total: number;
  reason: string | null;
}

export interface Message {
  position: number;
  id: string;
  author: string;
  own: boolean;
  /** The phone that it was written on. */
  via: string | null;
  /** Null for something that the desktop doesn't know. */
  text: string | null;
  at: number;
  delivery: Delivery | null;
  /** The text is only its beginning: the whole of it is on the desktop. */
  cut?: true;
}

export type FromDesktop =
  | ({ type: "groups" } & Groups)
  | { type: "tail"; group: string; from: number | null; messages: Message[] }
  | { type: "changed"; group: string; messages: Message[] }
  | { type: "page"; group: string; request: string; messages: Message[]; more: boolean }
  | { type: "refused"; message: string; code: string };

export type FromPhone =
  | { type: "text"; group: string; text: string }
  | { type: "history"; group: string; before: number }
  | { type: "read"; group: string; position: number };

/** The collapse key of what was read in a group. */
export function readKey(group: string): string {
  return `read:${group}`;
}

/** Null where this is no body, or one of a type that is not known. */
export function readBody(body: Uint8Array): FromDesktop | null {
  const fields = readObject(body);
  if (fields === null) return null;
  const { type, group, messages } = fields;
  if (type === "groups") return readGroups(fields);
  if (type === "refused") return isText(fields["message"]) ? { type, message: fields["message"], code: String(fields["code"]) } : null;
  if (!isText(group) || !Array.isArray(messages)) return null;
  const read = messages.flatMap((one: unknown) => readMessage(one) ?? []).sort((one, other) => one.position - other.position);
  if (type === "tail") return { type, group, from: numberOrNull(fields["from"]), messages: read };
  if (type === "changed") return { type, group, messages: read };
  if (type === "page" && isText(fields["request"])) return { type, group, request: fields["request"], messages: read, more: fields["more"] === true };
  return null;
}

function readGroups(fields: Record<string, unknown>): FromDesktop | null {
  const { desktop, phone, language, groups } = fields;
  if (!Array.isArray(groups)) return null;
  const read = groups.flatMap((one: unknown): Group[] => {
    if (!isObject(one) || !isText(one["id"]) || !isText(one["name"])) return [];
    const { id, name, members, unread, last, trouble } = one;
    const known = (["notConnected", "needsYou", "ended"] as const).find((word) => word === trouble);
    return [{ id, name, members: numberOrNull(members) ?? 0, unread: numberOrNull(unread) ?? 0, last: numberOrNull(last), trouble: isText(trouble) ? (known ?? "other") : null }];
  });
  return { type: "groups", desktop: textOr(desktop, ""), phone: textOr(phone, ""), language: textOr(language, "en"), groups: read };
}

function readMessage(value: unknown): Message | null {
  if (!isObject(value)) return null;
  const { position, id, author, own, via, text, at, delivery } = value;
  const place = numberOrNull(position);
  if (place === null || !isText(id)) return null;
  return {
    position: place,
    id,
    author: textOr(author, ""),
    own: own === true,
    via: isText(via) ? via : null,
    text: isText(text) ? text : null,
    at: numberOrNull(at) ?? 0,
    delivery: readDelivery(delivery),
    ...(value["cut"] === true ? { cut: true } : {}),
  };
}

function readDelivery(value: unknown): Delivery | null {
  if (!isObject(value)) return null;
  const known = (["waiting", "sending", "onRelay", "failed"] as const).find((word) => word === value["state"]);
  const { onRelay, total, reason } = value;
  return { state: known ?? "other", onRelay: numberOrNull(onRelay) ?? 0, total: numberOrNull(total) ?? 0, reason: isText(reason) ? reason : null };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function textOr(value: unknown, other: string): string {
  return isText(value) ? value : other;
}

function numberOrNull(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}
