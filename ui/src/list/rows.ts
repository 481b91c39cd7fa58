// The rows of the message list: messages with what stands above them. Pure.
//
// Invariants: the order is the order of arrival on this device; a day is never opened
// twice, even if this computer's clock went back in between.

import type { MessageView } from "../bindings/MessageView";

export interface Row {
  message: MessageView;
  /** A moment of the day that begins here, or null. */
  dayMs: number | null;
  /** Whether the messages that are new to the person begin here. */
  isFirstNew: boolean;
  /** Whether the author's name stands here or was just said above. */
  isFirstOfRun: boolean;
}

const RUN_MS = 10 * 60_000;

export function buildRows(
  messages: readonly MessageView[],
  firstNew: number | null,
  dayOf: (ms: number) => number,
): Row[] {
  let lastDay = Number.NEGATIVE_INFINITY;
  let before: MessageView | null = null;
  return messages.map((message) => {
    const day = dayOf(message.storedAtMs);
    const opensDay = day > lastDay;
    if (opensDay) lastDay = day;
    const isFirstNew = message.position === firstNew;
    const row: Row = {
      message,
      dayMs: opensDay ? message.storedAtMs : null,
      isFirstNew,
      isFirstOfRun: opensDay || isFirstNew || before === null || !continuesRun(before, message),
    };
    before = message;
    return row;
  });
}

/** The first message of somebody else after what was read. */
export function firstNewAfter(messages: readonly MessageView[], readPosition: number): MessageView | null {
  return messages.find((message) => !message.own && message.position > readPosition) ?? null;
}

function continuesRun(before: MessageView, message: MessageView): boolean {
  return before.authorId === message.authorId && before.via === message.via && message.storedAtMs - before.storedAtMs < RUN_MS;
}
