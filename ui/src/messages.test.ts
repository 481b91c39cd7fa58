import { describe, expect, it } from "vitest";
import { type Api, makeApi } from "./api";
import type { MessagePage } from "./bindings/MessagePage";
import type { MessageView } from "./bindings/MessageView";
import type { ReadMessages } from "./bindings/ReadMessages";
import { GroupMessages, ROWS_MAX } from "./messages.svelte";

/** An app with messages only, which counts what it is asked for. */
class Store {
  rows: MessageView[] = [];
  asked: ReadMessages[] = [];

  constructor(count: number) {
    this.add(count);
  }

  add(count: number): void {
    const from = this.rows.length + 1;
    for (let position = from; position < from + count; position += 1) {
      this.rows.push({ position, id: `m${position}`, own: false, authorId: "a", authorName: "A", via: null, text: `${position}`, sentAtMs: 0, storedAtMs: 0, delivery: null });
    }
  }

  change(position: number, text: string): void {
    this.rows = this.rows.map((row) => (row.position === position ? { ...row, text } : row));
  }

  get api(): Api {
    return makeApi({
      call: (_command, args) => Promise.resolve(this.#page(args as ReadMessages)),
      listen: () => Promise.resolve(),
    });
  }

  #page(args: ReadMessages): MessagePage {
    this.asked.push(args);
    const older = this.rows.filter((row) => row.position < (args.before ?? Number.MAX_SAFE_INTEGER));
    return { messages: older.slice(-args.limit), more: older.length > args.limit };
  }
}

function positions(messages: GroupMessages): number[] {
  return messages.rows.map((row) => row.position);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe("the loaded messages", () => {
  it("begin with the newest page only", async () => {
    const store = new Store(10_000);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    expect(positions(messages)).toEqual(range(9_901, 10_000));
    expect(messages.more).toBe(true);
    expect(store.asked).toHaveLength(1);
  });

  it("grow backwards without a gap or a double", async () => {
    const store = new Store(450);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    await Promise.all([messages.loadOlder(), messages.loadOlder()]);
    await messages.loadOlder();
    expect(positions(messages)).toEqual(range(1, 450));
    expect(messages.more).toBe(false);
  });

  it("take in what has come, however much that is", async () => {
    const store = new Store(120);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    store.add(2_000);
    await messages.handleChanged(121);
    expect(positions(messages)).toEqual(range(21, 2_120));
  });

  it("never grow beyond the bound, wherever is read and however often more is asked for", async () => {
    for (const isReadAtEnd of [true, false]) {
      const store = new Store(10_000);
      const messages = new GroupMessages(store.api, "g");
      await messages.open();
      messages.isReadAtEnd = isReadAtEnd;
      for (let turn = 0; turn < 30; turn += 1) await messages.loadOlder();
      expect(messages.rows.length).toBeLessThanOrEqual(ROWS_MAX);
      expect(messages.rows.at(-1)?.position === 10_000).toBe(isReadAtEnd);
      if (isReadAtEnd) expect(store.asked.length).toBeLessThan(20);
    }
  });

  it("show a changed row, and leave the others as they were", async () => {
    const store = new Store(50);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    store.change(7, "changed");
    await messages.handleChanged(7);
    expect(messages.rows[6]?.text).toBe("changed");
    expect(positions(messages)).toEqual(range(1, 50));
  });

  it("ask once for many changes at a time, and see the last one", async () => {
    const store = new Store(10);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    const asked = store.asked.length;
    const changes = range(11, 60).map((position) => {
      store.add(1);
      return messages.handleChanged(position);
    });
    await Promise.all(changes);
    expect(positions(messages)).toEqual(range(1, 60));
    expect(store.asked.length - asked).toBeLessThanOrEqual(2);
  });

  it("are forgotten but for the newest when nobody looks", async () => {
    const store = new Store(700);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    await messages.loadOlder();
    await messages.loadOlder();
    messages.trim();
    expect(positions(messages)).toEqual(range(601, 700));
    await messages.loadOlder();
    expect(positions(messages)).toEqual(range(401, 700));
  });

  it("of an empty group are none, and the first one appears", async () => {
    const store = new Store(0);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    expect([messages.loaded, messages.more, messages.rows]).toEqual([true, false, []]);
    store.add(1);
    await messages.handleChanged(1);
    expect(positions(messages)).toEqual([1]);
  });

  it("stand around a place that was jumped to, and grow to both sides without a gap", async () => {
    const store = new Store(50_000);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    await messages.jumpTo(20_000);
    expect([messages.more, messages.newer]).toEqual([true, true]);
    const [first = 0, last = 0] = [positions(messages)[0], positions(messages).at(-1)];
    expect(positions(messages)).toEqual(range(first, last));
    expect(first <= 19_950 && last >= 20_050).toBe(true);
    await messages.loadNewer();
    await messages.loadOlder();
    expect(positions(messages)).toEqual(range(first - 200, last + 200));
    expect(store.asked.reduce((sum, { limit }) => sum + limit, 0)).toBeLessThan(1500);
  });

  it("reach the end again by growing, or at once", async () => {
    const store = new Store(1_000);
    const messages = new GroupMessages(store.api, "g");
    await messages.jumpTo(500);
    for (let step = 0; messages.newer && step < 20; step += 1) await messages.loadNewer();
    expect([messages.newer, positions(messages).at(-1)]).toEqual([false, 1_000]);
    await messages.jumpTo(10);
    await messages.jumpToEnd();
    expect([messages.newer, positions(messages).at(-1)]).toEqual([false, 1_000]);
    store.add(1);
    await messages.handleChanged(1_001);
    expect(positions(messages).at(-1)).toBe(1_001);
  });

  it("take nothing in that would leave a gap, while they don't reach the end", async () => {
    const store = new Store(5_000);
    const messages = new GroupMessages(store.api, "g");
    await messages.jumpTo(1_000);
    const before = positions(messages);
    store.add(100);
    await messages.handleChanged(5_001);
    expect(positions(messages)).toEqual(before);
    store.change(1_000, "changed");
    await messages.handleChanged(1_000);
    expect(messages.rows.find((row) => row.position === 1_000)?.text).toBe("changed");
    expect(positions(messages)).toEqual(before);
  });

  it("stay bounded however far one reads and however much comes", async () => {
    const store = new Store(50_000);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    messages.isReadAtEnd = false;
    for (let step = 0; step < 40; step += 1) await messages.loadOlder();
    expect(messages.rows.length).toBeLessThanOrEqual(ROWS_MAX);
    expect(positions(messages)).toEqual(range(positions(messages)[0] ?? 0, positions(messages).at(-1) ?? 0));
    expect([positions(messages)[0], messages.newer]).toEqual([41_901, true]);
    await messages.jumpToEnd();
    store.add(20_000);
    await messages.handleChanged(50_001);
    expect(messages.rows.length).toBeLessThanOrEqual(ROWS_MAX);
    expect(positions(messages).at(-1)).toBe(70_000);
  });

  it("keep what is read when more comes than can be held beside it", async () => {
    const store = new Store(500);
    const messages = new GroupMessages(store.api, "g");
    await messages.open();
    messages.isReadAtEnd = false;
    const before = positions(messages);
    store.add(2 * ROWS_MAX);
    await messages.handleChanged(501);
    expect(positions(messages).slice(0, before.length)).toEqual(before);
    expect(positions(messages)).toEqual(range(before[0] ?? 0, positions(messages).at(-1) ?? 0));
    expect([messages.newer, messages.rows.length <= ROWS_MAX]).toEqual([true, true]);
  });

  it("pass over what was deleted, in both directions", async () => {
    const store = new Store(3_000);
    store.rows = store.rows.filter(({ position }) => position < 900 || position > 2_600);
    const messages = new GroupMessages(store.api, "g");
    await messages.jumpTo(800);
    for (let step = 0; messages.newer && step < 20; step += 1) await messages.loadNewer();
    for (let step = 0; messages.more && step < 20; step += 1) await messages.loadOlder();
    expect(positions(messages)).toEqual(store.rows.map(({ position }) => position));
  });
});
