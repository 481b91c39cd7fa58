import { describe, expect, it } from "vitest";
import { describeDevice } from "../device";
import { CLOCK_STEP_MS } from "../link/limit";
import { ClockSteps } from "./clock";
import { readPage } from "./http";
import { Lease, LEASE_MS, type LeaseBox } from "./lease";
import { readFrame } from "./watch";

class Box implements LeaseBox {
  readonly kept = new Map<string, string>();
  isFull = false;

  getItem(name: string): string | null {
    return this.kept.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    if (this.isFull) throw new Error("full");
    this.kept.set(name, value);
  }

  removeItem(name: string): void {
    this.kept.delete(name);
  }
}

describe("the lead", () => {
  it("is held by one tab, renewed, and free ten seconds after it was not", () => {
    const box = new Box();
    const [one, other] = [new Lease(box, "one"), new Lease(box, "other")];
    expect([one.take(0), other.take(1)]).toEqual([true, false]);
    expect([one.take(3_000), other.take(LEASE_MS)]).toEqual([true, false]);
    expect([other.take(3_000 + LEASE_MS), one.take(3_001 + LEASE_MS)]).toEqual([true, false]);
  });

  it("is given up by who holds it, and by nobody else", () => {
    const box = new Box();
    const [one, other] = [new Lease(box, "one"), new Lease(box, "other")];
    one.take(0);
    other.release(1);
    expect(other.take(2)).toBe(false);
    one.release(3);
    expect(other.take(4)).toBe(true);
  });

  it("knows whether others may have led since it was taken last", () => {
    const box = new Box();
    const [one, other] = [new Lease(box, "one"), new Lease(box, "other")];
    const taken = (lease: Lease, nowMs: number): [boolean, boolean] => [lease.take(nowMs), lease.isUnbroken];
    expect([taken(one, 0), taken(one, 3_000), taken(one, 90_000)]).toEqual([[true, false], [true, true], [true, true]]);
    // It stood still while another one led, until that one stood still or went.
    for (const from of [200_000, 300_000]) {
      expect([taken(one, from), taken(other, from + LEASE_MS)].map(([isTaken]) => isTaken)).toEqual([true, true]);
      if (from === 300_000) other.release(from + LEASE_MS);
      expect(taken(one, from + 3 * LEASE_MS)).toEqual([true, false]);
    }
    box.isFull = true;
    const alone = new Lease(box, "alone");
    alone.take(900_000);
    expect(taken(alone, 900_001)).toEqual([true, true]);
  });

  it("keeps nobody out for a clock that went back, or a storage that takes nothing", () => {
    const box = new Box();
    new Lease(box, "one").take(1_000_000);
    expect(new Lease(box, "other").take(0)).toBe(true);
    box.isFull = true;
    expect(new Lease(box, "third").take(2_000_000)).toBe(true);
    expect(new Lease(null, "alone").take(0)).toBe(true);
    for (const odd of ["", "x", "NaN y", "1e999 z", "5"]) {
      const other = new Box();
      other.kept.set("sealpost-lead", odd);
      expect([odd, new Lease(other, "me").take(0)]).toEqual([odd, true]);
    }
  });
});

it("a clock that was set forward is told from time that passed, and from one that was set back", () => {
  const steps = new ClockSteps(1_000, 0);
  const year = 366 * 86_400_000;
  expect([steps.look(61_000, 60_000), steps.look(61_000 + year, 60_500), steps.look(91_000 + year, 90_500), steps.look(92_000, 91_500), steps.look(152_000 + CLOCK_STEP_MS, 151_500)]).toEqual([0, year - 500, 0, 0, 0]);
});

describe("what a relay answers", () => {
  it("is a page, or makes no sense", () => {
    expect(readPage('{"envelopes":[{"seq":41,"data":"AQI"},{"seq":44,"data":""}],"later":1}')).toEqual([{ slot: 41, bytes: Uint8Array.of(1, 2) }, { slot: 44, bytes: new Uint8Array() }]);
    for (const wrong of ["", "{}", "null", "[]", '{"envelopes":{}}', '{"envelopes":[7]}', '{"envelopes":[null]}', '{"envelopes":[{"seq":0,"data":""}]}', '{"envelopes":[{"seq":1.5,"data":""}]}', '{"envelopes":[{"seq":1,"data":"A"}]}', '{"envelopes":[{"seq":1,"data":"A+=="}]}', `{"envelopes":[],"x":"${"y".repeat(2_000_000)}"}`]) {
      expect(readPage(wrong)).toBeNull();
    }
  });

  it("is a frame, of whatever type", () => {
    expect(readFrame("a2b", '{"type":"state","last":41,"count":2,"created":1795}')).toEqual({ is: "frame", direction: "a2b", type: "state", count: 2, createdMs: 1795 });
    for (const odd of ["", "7", "null", "{", '{"type":7}', new ArrayBuffer(3)]) expect(readFrame("b2a", odd)).toMatchObject({ is: "frame", direction: "b2a", count: null, createdMs: null });
  });
});

it("a phone says what kind of device it is, and no more", () => {
  const android = "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36";
  const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";
  const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15";
  expect([describeDevice(android, 5), describeDevice(iphone, 5), describeDevice(mac, 5), describeDevice(mac, 0), describeDevice("", 0)]).toEqual([
    { name: "Android phone", platform: "Android" },
    { name: "iPhone", platform: "iOS" },
    { name: "iPad", platform: "iOS" },
    { name: "Mac", platform: "macOS" },
    { name: "Phone", platform: "" },
  ]);
});
