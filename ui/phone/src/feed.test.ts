import { describe, expect, it } from "vitest";
import { readBody, type FromDesktop, type Message } from "./feed";
import { keepBatch, type KeptMessage } from "./history";
import { utf8 } from "./link/bytes";

const read = (body: unknown): FromDesktop | null => readBody(utf8(typeof body === "string" ? body : JSON.stringify(body)));
const message = (position: number, text = `m${position}`): Message => ({ position, id: `id${position}`, author: "Anna", own: false, via: null, text, at: 7, delivery: null });

describe("a body", () => {
  // The bytes of protocol::link::feed's own tests.
  it("is read as the desktop writes it", () => {
    const written = '{"position":7,"id":"q6urq6urq6urq6urq6urqw","author":"Desk","own":true,"via":"Phone","text":"hello","at":1795000000000,"delivery":{"state":"onRelay","onRelay":2,"total":3,"reason":null}}';
    expect(read(`{"type":"tail","group":"home","from":null,"messages":[${written}]}`)).toEqual({ type: "tail", group: "home", from: null, messages: [JSON.parse(written)] });
    expect(read('{"type":"groups","desktop":"Desk","phone":"Phone","language":"en","groups":[{"id":"home","name":"Home","members":3,"unread":1,"last":7,"trouble":"notConnected"}]}')).toEqual({
      type: "groups",
      desktop: "Desk",
      phone: "Phone",
      language: "en",
      groups: [{ id: "home", name: "Home", members: 3, unread: 1, last: 7, trouble: "notConnected" }],
    });
    expect(read('{"type":"page","group":"home","request":"AAAAAAAAAAAAAAAAAAAAAA","messages":[],"more":true}')).toEqual({ type: "page", group: "home", request: "AAAAAAAAAAAAAAAAAAAAAA", messages: [], more: true });
    expect(read('{"type":"refused","message":"AAAAAAAAAAAAAAAAAAAAAA","code":"notMember"}')).toEqual({ type: "refused", message: "AAAAAAAAAAAAAAAAAAAAAA", code: "notMember" });
    expect(read({ type: "tail", group: "g", from: 1, messages: [{ ...message(2), cut: true }] })).toMatchObject({ messages: [{ position: 2, cut: true }] });
    expect(read('{"type":"changed","group":"home","messages":[]}')).toEqual({ type: "changed", group: "home", messages: [] });
  });

  it("of another shape is none, and what is not known in it is passed over", () => {
    for (const wrong of ["", "7", "[]", "null", "{}", '{"type":"wave"}', '{"type":"tail"}', '{"type":"tail","group":7,"messages":[]}', '{"type":"page","group":"g","messages":[]}', '{"type":"groups","groups":{}}', "{"]) expect([wrong, read(wrong)]).toEqual([wrong, null]);
    expect(read({ type: "tail", group: "g", from: -1, messages: [7, null, {}, { position: -1, id: "x" }, { position: 2 ** 60, id: "x" }, { position: 1, id: "x", text: 9, own: "yes", later: 1 }] })).toEqual({
      type: "tail",
      group: "g",
      from: null,
      messages: [{ position: 1, id: "x", author: "", own: false, via: null, text: null, at: 0, delivery: null }],
    });
    expect(read({ type: "groups", groups: [{ id: "g", name: "G", trouble: "later" }, { id: 1 }, "x"] })).toMatchObject({ groups: [{ id: "g", trouble: "other", members: 0, last: null }] });
  });
});

describe("what hangs together", () => {
  /** A phone that gets batches one after the other: positions, with * after a gap. */
  async function shown(...batches: [Parameters<typeof keepBatch>[0], (number | null)?][]): Promise<string> {
    const kept = new Map<number, KeptMessage>();
    for (const [batch, before = null] of batches) {
      for (const one of await keepBatch(batch, before, async (position) => kept.get(position))) kept.set(one.position, one);
    }
    return [...kept.values()].sort((one, other) => one.position - other.position).map(({ position, afterGap }) => `${afterGap ? "*" : ""}${position}`).join(" ");
  }
  const tail = (from: number | null, ...positions: number[]): Parameters<typeof keepBatch>[0] => ({ type: "tail", group: "g", from, messages: positions.map((position) => message(position)) });
  const page = (more: boolean, ...positions: number[]): Parameters<typeof keepBatch>[0] => ({ type: "page", group: "g", request: "r", more, messages: positions.map((position) => message(position)) });

  it("is told by the tail: the beginning, what is known, or a gap", async () => {
    expect(await shown([tail(null, 1, 2)])).toBe("1 2");
    expect(await shown([tail(4, 6, 8)])).toBe("*6 8");
    expect(await shown([tail(null, 1, 2)], [tail(2, 5, 6)])).toBe("1 2 5 6");
    expect(await shown([tail(null, 1, 2)], [tail(4, 5, 6)])).toBe("1 2 *5 6");
    expect(await shown([tail(4, 5, 6)], [tail(5, 6, 7)])).toBe("*5 6 7");
    expect(await shown([tail(4, 5, 6)], [tail(4, 5, 6)])).toBe("*5 6");
  });

  it("is mended by an answer, which has a gap of its own until the first message is there", async () => {
    expect(await shown([tail(9, 10, 11)], [page(true, 7, 9), 10])).toBe("*7 9 10 11");
    expect(await shown([tail(9, 10, 11)], [page(true, 7, 9), 10], [page(false, 1, 3), 7])).toBe("1 3 7 9 10 11");
    expect(await shown([tail(9, 10)], [page(false), 10])).toBe("10");
    // The answer reaches what was there before.
    expect(await shown([tail(null, 1, 2)], [tail(8, 9)], [page(true, 2, 5, 8), 9])).toBe("1 2 5 8 9");
  });

  it("is not touched by what only changed", async () => {
    const changed = { type: "changed", group: "g", messages: [message(6, "new"), message(2, "not kept")] } as const;
    expect(await shown([tail(4, 6, 8)], [{ ...changed, messages: [...changed.messages] }])).toBe("*6 8");
  });
});
