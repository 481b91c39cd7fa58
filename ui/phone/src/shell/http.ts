// The relay over HTTP, as a browser reaches it (4): the same origin that the page came from.
// Owns addresses, headers and the form of answers; never decides what an answer means.

import type { Answer, LinkRequest, SlotState, StoredEnvelope } from "../link/answer";
import { fromBase64url } from "../link/bytes";
import { isSequence } from "../link/envelope";
import { PAGE_ENVELOPES_MAX, REQUEST_MS } from "../link/limit";

export interface LinkAddress {
  mailbox: string;
  token: string;
}

/** A page of sixteen of the longest envelopes, and some air. */
const ANSWER_SIGNS_MAX = 2_000_000;

export class HttpTransport {
  /** Called with the relay's clock, in Unix ms, where an answer tells it. */
  onclock: (relayMs: number) => void = () => {};

  constructor(private readonly base: URL) {}

  async perform(address: LinkAddress, request: LinkRequest): Promise<Answer> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), REQUEST_MS);
    try {
      const { method, path } = route(address.mailbox, request);
      const response = await fetch(new URL(path, this.base), {
        method,
        headers: { authorization: `Bearer ${address.token}` },
        body: request.is === "put" ? (request.bytes as Uint8Array<ArrayBuffer>) : null,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
        signal: timeout.signal,
      });
      const date = Date.parse(response.headers.get("date") ?? "");
      if (Number.isFinite(date)) this.onclock(date);
      return await read(request, response);
    } catch {
      return { is: "noAnswer" };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Where a direction is watched. */
  watchUrl(mailbox: string, direction: string): URL {
    const url = new URL(`mailboxes/${mailbox}/${direction}/watch`, this.base);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url;
  }
}

function route(mailbox: string, request: LinkRequest): { method: string; path: string } {
  const root = `mailboxes/${mailbox}`;
  switch (request.is) {
    case "claim":
      return { method: "PUT", path: root };
    case "erase":
      return { method: "DELETE", path: root };
    case "head":
      return { method: "HEAD", path: `${root}/${request.direction}` };
    case "page":
      return { method: "GET", path: `${root}/${request.direction}?after=${request.after}&limit=${PAGE_ENVELOPES_MAX}` };
    case "put":
      return { method: "PUT", path: `${root}/${request.direction}/${request.sequence}` };
    case "prune":
      return { method: "DELETE", path: `${root}/${request.direction}?through=${request.through}` };
  }
}

async function read(request: LinkRequest, response: Response): Promise<Answer> {
  const { status, headers } = response;
  const state = stateOf(headers);
  if (!response.ok) {
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
    return { is: "refused", status, error: headers.get("x-relay-error") ?? "", state, retryAfterMs };
  }
  if (request.is !== "page") return { is: "ok", status, state, envelopes: [] };
  const envelopes = readPage(await response.text());
  return envelopes === null ? { is: "unreadable" } : { is: "ok", status, state, envelopes };
}

function stateOf(headers: Headers): SlotState {
  const number = (name: string): number | null => {
    const text = headers.get(`x-relay-${name}`) ?? "";
    return /^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
  };
  return { last: number("last"), more: number("more"), count: number("count"), oldest: number("oldest"), createdMs: number("created") };
}

/** Null where the page is none: whatever is wrong with it, it is the relay's fault. */
export function readPage(text: string): StoredEnvelope[] | null {
  if (text.length > ANSWER_SIGNS_MAX) return null;
  try {
    const { envelopes } = JSON.parse(text) as { envelopes?: unknown };
    if (!Array.isArray(envelopes)) return null;
    const read = envelopes.map((one: unknown) => {
      const { seq, data } = one as { seq?: unknown; data?: unknown };
      const bytes = typeof data === "string" ? fromBase64url(data) : null;
      return isSequence(seq) && bytes !== null ? { slot: seq, bytes } : null;
    });
    return read.some((one) => one === null) ? null : (read as StoredEnvelope[]);
  } catch {
    return null;
  }
}
