import type { Message } from "../src/feed";

/** A message of somebody else, a minute old. */
export function message(position: number, text: string, more: Partial<Message> = {}): Message {
  return { position, id: `${"m".repeat(16)}${String(position).padStart(6, "0")}`, author: "Anna", own: false, via: null, text, at: Date.now() - 60_000, delivery: null, ...more };
}
