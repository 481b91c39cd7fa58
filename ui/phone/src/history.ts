// Where the messages that this phone has of a group hang together, and where some between them
// are still on the desktop. Pure.
//
// Invariant: a message marked `afterGap` may have others directly before it that aren't here.

import type { FromDesktop, Message } from "./feed";

export interface KeptMessage extends Message {
  group: string;
  /** Older messages may be missing right before this one. */
  afterGap: boolean;
}

type Batch = Extract<FromDesktop, { type: "tail" | "changed" | "page" }>;

/** What to write for a batch; `kept` gives what is stored at a position. */
export async function keepBatch(batch: Batch, before: number | null, kept: (position: number) => Promise<KeptMessage | undefined>): Promise<KeptMessage[]> {
  const written: KeptMessage[] = [];
  const { group, messages } = batch;
  if (batch.type === "changed") {
    for (const message of messages) {
      const old = await kept(message.position);
      if (old !== undefined) written.push({ ...message, group, afterGap: old.afterGap });
    }
    return written;
  }
  for (const [index, message] of messages.entries()) {
    const afterGap = index === 0 && (await isAfterGap(batch, message, kept));
    written.push({ ...message, group, afterGap });
  }
  // An answer to a question ends the gap above the message that it was asked for.
  const asked = batch.type === "page" && before !== null ? await kept(before) : undefined;
  if (asked?.afterGap === true) written.push({ ...asked, afterGap: false });
  return written;
}

async function isAfterGap(batch: Batch, first: Message, kept: (position: number) => Promise<KeptMessage | undefined>): Promise<boolean> {
  if (batch.type === "page" && !batch.more) return false;
  if (batch.type === "tail" && batch.from === null) return false;
  const old = await kept(first.position);
  if (old !== undefined) return old.afterGap;
  return !(batch.type === "tail" && batch.from !== null && (await kept(batch.from)) !== undefined);
}
