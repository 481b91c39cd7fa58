// Sample messages: always the same ones, so that pictures can be compared.

import type { DeliveryView } from "../bindings/DeliveryView";
import type { MessageView } from "../bindings/MessageView";

const MINUTE_MS = 60_000;

export interface SampleAuthor {
  id: string;
  name: string;
}

const lines = [
  "Milk, eggs, and the good bread if they have it.",
  "https://example.org/trains — the 8:14 still runs on Sundays.",
  "Door code changed, ask me in person.",
  "On my way",
  "Did anybody water the tomatoes? They looked sad this morning, and it is going to be over thirty degrees until Thursday.",
  "Yes, twice.",
  "مرحبا، الاجتماع في الساعة 10:30 في room 4B",
  "明天下午三点在图书馆门口见,别忘了带那本书。",
  "Receipt for the washing machine is in the blue folder,\nsecond shelf.\n\nThe serial number is on the back of the door.",
  "👍",
  "לילה טוב! See you at 9",
  "Kannst du mir die Adresse noch einmal schicken?",
  "The plumber comes on Friday between eight and twelve. Somebody has to be there; I can do until ten.",
  "I’ll take the rest.",
];

export function onRelay(names: string[], nowMs: number): DeliveryView {
  return {
    state: "onRelay",
    onRelay: names.length,
    total: names.length,
    keptUntilMs: nowMs + 30 * 24 * 60 * MINUTE_MS,
    reason: null,
    recipients: names.map((name) => ({ name, state: "onRelay", reason: null })),
  };
}

/** `count` messages that end a few minutes before now. */
export function sampleMessages(count: number, me: SampleAuthor, others: SampleAuthor[], nowMs: number): MessageView[] {
  const names = others.map(({ name }) => name);
  const spacing = count > 1000 ? 37 : 61;
  return Array.from({ length: count }, (_, index) => {
    const position = index + 1;
    const turn = (index * 7 + Math.floor(index / 3)) % (others.length + 1);
    const author = others[turn - 1] ?? me;
    const own = author === me;
    const storedAtMs = nowMs - (count - index) * spacing * MINUTE_MS + 57 * MINUTE_MS;
    return {
      position,
      id: `sample-${position}`,
      own,
      authorId: author.id,
      authorName: author.name,
      via: null,
      text: `${lines[(index * 5 + Math.floor(index / 14)) % lines.length]}`,
      sentAtMs: storedAtMs,
      storedAtMs,
      delivery: own ? onRelay(names, storedAtMs) : null,
    };
  });
}

/** One own message in each state that there is, and the odd ones. */
export function messagesInEveryState(me: SampleAuthor, others: SampleAuthor[], nowMs: number): MessageView[] {
  const names = others.map(({ name }) => name);
  const [first = "", second = ""] = names;
  const rest = names.slice(1);
  const done = onRelay(names, nowMs);
  const made: [string | null, DeliveryView | null, string?][] = [
    ["This one is on the relay for everybody.", done],
    ["This one waits for one of them.", { ...done, state: "waiting", onRelay: rest.length, recipients: mixed(first, "waiting", rest) }],
    ["This one is being handed over right now.", { ...done, state: "sending", onRelay: 0, keptUntilMs: null, recipients: names.map((name) => ({ name, state: "sending", reason: null })) }],
    ["This one was too large for the relay.", { ...done, state: "failed", onRelay: rest.length, reason: "tooLarge", recipients: [{ name: first, state: "failed", reason: "tooLarge" }, ...mixed(second, "onRelay", names.slice(2))] }],
    ["This one was given up for everybody after its thirty days.", { ...done, state: "failed", onRelay: 0, keptUntilMs: null, reason: "expired", recipients: names.map((name) => ({ name, state: "failed", reason: "expired" })) }],
    ["This one was written before anybody else was here.", { ...done, state: "onRelay", onRelay: 0, total: 0, keptUntilMs: null, recipients: [] }],
    ["This one has not left this computer yet.", { ...done, state: "waiting", onRelay: 0, keptUntilMs: null, recipients: names.map((name) => ({ name, state: "waiting", reason: null })) }],
    ["Somebody wrote this one on a phone.", null, "Moto"],
    ["This one was written on a phone of mine.", done, "Fairphone"],
    [null, null],
    ["Written long before it got here.", null],
  ];
  return made.map(([text, delivery, via = null], index) => {
    const author = delivery === null ? (others[0] ?? me) : me;
    const storedAtMs = nowMs - (made.length - index) * 3 * MINUTE_MS;
    const late = index === made.length - 1 ? 50 * 60 * MINUTE_MS : 0;
    return { position: index + 1, id: `state-${index + 1}`, own: delivery !== null, authorId: author.id, authorName: author.name, via, text, sentAtMs: storedAtMs - late, storedAtMs, delivery };
  });
}

function mixed(name: string, state: "waiting" | "onRelay", others: string[]): DeliveryView["recipients"] {
  return [{ name, state, reason: null }, ...others.map((other) => ({ name: other, state: "onRelay" as const, reason: null }))];
}
