// The page on a phone, against a real relay and a desktop that is played by the test.

import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launch } from "../../tests/browser";
import { HttpTransport } from "../src/shell/http";
import { Desktop } from "./desktop";
import { message } from "./messages";
import { BROWSER_OPTIONS, TestPhone } from "./page";
import { type Relay, startRelay } from "./relay";

let relay: Relay;
let browser: Browser;
const phones: TestPhone[] = [];

beforeAll(async () => {
  [relay, browser] = await Promise.all([startRelay(), launch(BROWSER_OPTIONS)]);
});

afterAll(async () => {
  await browser.close();
  await relay.close();
  expect(phones.flatMap(({ complaints }) => complaints)).toEqual([]);
});

async function phone(locale = "en-GB"): Promise<TestPhone> {
  const made = await TestPhone.open(browser, relay, { locale });
  phones.push(made);
  return made;
}

async function share(desktop: Desktop, unread = 0, trouble: null | "ended" = null): Promise<void> {
  const last = desktop.messages.at(-1)?.position ?? null;
  await desktop.tell({ type: "groups", desktop: desktop.name, phone: "Pocket", language: "en", groups: [{ id: "home", name: "Home", members: 3, unread, last, trouble }] });
}

/** A phone that is paired and has a group with a few messages. */
async function paired(locale?: string): Promise<{ phone: TestPhone; desktop: Desktop; page: Page }> {
  const made = await phone(locale);
  const desktop = new Desktop(relay.base);
  const page = await made.pair(desktop);
  desktop.messages.push(message(1, "Milk, eggs, and the good bread."), message(2, "See https://example.org/a?b=1. Soon"));
  await share(desktop, 2);
  await desktop.tellTail("home");
  await expect.poll(async () => (await page.getByTestId("group").count()) > 0 && (await text(page, "group"))).toContain("Soon");
  return { phone: made, desktop, page };
}

/** What is read, without the marks that keep directions apart. */
async function plain(of: Locator): Promise<string> {
  return (await of.innerText()).replace(/[\u2066-\u2069]/g, "");
}

const text = (page: Page, name: string): Promise<string> => plain(page.getByTestId(name).first());

describe("pairing", () => {
  it("takes the key out of the address at once and sends it nowhere", async () => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    const page = await made.tab(await desktop.show(made.url));
    await page.getByTestId("pairing").waitFor();
    expect(await page.evaluate(() => [location.hash, history.length, document.documentElement.outerHTML.includes("k=")])).toEqual(["", expect.any(Number), false]);
    expect(await page.evaluate(() => isSecureContext)).toBe(false);
    await desktop.meet();
    await page.getByTestId("digits").waitFor();
    expect(made.requests.filter((url) => url.includes("#") && !url.endsWith("/p"))).toEqual([]);
  });

  it("shows the digits of the desktop, survives a reload, and ends among the groups", async () => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    const page = await made.tab(await desktop.show(made.url));
    await desktop.meet();
    await page.getByTestId("digits").waitFor();
    expect((await text(page, "digits")).replace(/\D/g, "").slice(-6)).toBe(desktop.digits);
    await page.reload();
    await page.getByTestId("same").click();
    await page.locator('[data-phase="confirming"]').waitFor();
    await page.reload();
    await page.locator('[data-phase="confirming"]').waitFor();
    await desktop.confirm();
    await desktop.finish();
    await page.getByTestId("no-groups").waitFor();
    // The mailbox of the code is gone, and that is nobody's loss.
    expect(await text(page, "no-groups")).toContain("Waiting for Study");
  });

  it.each([
    ["different", async (page: Page): Promise<void> => page.getByTestId("different").click(), "Nothing was paired"],
    ["cancelled there", async (_: Page, desktop: Desktop): Promise<unknown> => desktop.cancel(), "The pairing was ended on the computer"],
  ] as const)("ends with words and a way on: %s", async (_, end, words) => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    const page = await made.tab(await desktop.show(made.url));
    await desktop.meet();
    await page.getByTestId("digits").waitFor();
    await end(page, desktop);
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain(words);
    expect(await text(page, "dead-end")).toContain("show a new code");
    await page.reload();
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("Pair this phone first");
  });

  it("that is cancelled on the phone isn't told as the computer's doing, and leaves nothing", async () => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    const page = await made.tab(await desktop.show(made.url));
    await desktop.meet();
    await page.getByTestId("digits").waitFor();
    await page.getByTestId("cancel").click();
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("Pair this phone first");
  });

  it("of one phone with one code, opened twice, is one pairing", async () => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    const code = await desktop.show(made.url);
    await made.tab(code);
    await desktop.meet();
    const page = await made.tab(code);
    await page.getByTestId("same").click();
    expect(await desktop.greetings()).toBe(0);
    await desktop.confirm();
    await desktop.finish();
    await page.getByTestId("groups").waitFor();
  });

  it("of a second phone with one code ends, after the desktop has heard of it", async () => {
    const [first, second] = [await phone(), await phone()];
    const desktop = new Desktop(relay.base);
    await first.tab(await desktop.show(first.url));
    await desktop.meet();
    const page = await second.tab(desktop.code(second.url));
    // The desktop hears of it, is the one to say what happened, and ends it for both.
    await desktop.greeting();
    await desktop.cancel();
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("another device used the same code");
  });

  it("takes a code that is opened where the page is already, and leaves no key in the address", async () => {
    const made = await phone();
    const page = await made.tab();
    await page.getByTestId("dead-end").waitFor();
    const desktop = new Desktop(relay.base);
    for (const [code, shown] of [[`${made.url}#v=1&i=x&k=short`, "dead-end"], [await desktop.show(made.url), "pairing"]] as const) {
      await page.evaluate((address) => location.assign(address), code);
      await page.getByTestId(shown).waitFor();
      expect(await page.evaluate(() => location.href)).toBe(made.url);
    }
    await desktop.meet();
    await page.getByTestId("digits").waitFor();
  });

  it("where nothing can be stored says so", async () => {
    const made = await phone();
    await made.context.addInitScript(() => {
      const { put } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.put = function (value: unknown, key?: IDBValidKey) {
        if (key === "pairing") throw new DOMException("full", "QuotaExceededError");
        return put.call(this, value, key);
      };
    });
    const page = await made.tab(await new Desktop(relay.base).show(made.url));
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("Something could not be stored");
  });

  it("with an old code says so, and leaves no mailbox behind", async () => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    const page = await made.tab(desktop.code(made.url));
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("no longer valid");
    await expect.poll(() => made.requests.filter((url) => url.includes("/v1/mailboxes/")).length).toBeGreaterThan(1);
  });

  it.each([
    ["", "Pair this phone first"],
    ["#v=2&i=x&k=y", "The code needs another version"],
    ["#v=1&i=oKGio6SlpqeoqaqrrK2urw&k=short", "The code isn’t complete"],
    ["#v=1&k=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "The code isn’t complete"],
  ])("with the fragment “%s” says what to do", async (fragment, words) => {
    const made = await phone();
    const page = await made.tab(`${made.url}${fragment}`);
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain(words);
    expect(made.requests.filter((url) => url.includes("/v1/"))).toEqual([]);
  });

  it("where the browser keeps nothing says so", async () => {
    const made = await phone();
    const desktop = new Desktop(relay.base);
    await made.context.addInitScript(() => {
      Object.defineProperty(globalThis, "indexedDB", { get: () => undefined });
    });
    const page = await made.tab(await desktop.show(made.url));
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("This browser keeps nothing here");
  });

  it("of a phone that is paired asks first, and keeps or replaces", async () => {
    const { phone: made, desktop } = await paired();
    const other = new Desktop(relay.base, "Kitchen");
    const page = await made.tab(await other.show(made.url));
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("already paired with Study");
    await page.getByTestId("keep").click();
    await page.getByTestId("group").waitFor();
    const again = await made.tab(other.code(made.url));
    await again.getByTestId("replace").click();
    await other.meet();
    await again.getByTestId("same").click();
    await other.confirm();
    await other.finish();
    await again.getByTestId("no-groups").waitFor();
    expect(await text(again, "no-groups")).toContain("Waiting for Kitchen");
    // The old mailbox is erased, with a last word before.
    await expect.poll(async () => (await new HttpTransport(relay.base).perform(desktop.address, { is: "head", direction: "a2b" })).is).toBe("refused");
  });
});

describe("messages", () => {
  it("are shown as text, with names made harmless and links that lead out", async () => {
    const { desktop, page } = await paired();
    desktop.messages.push(message(3, "<img src=x onerror=alert(1)>\nשלום עולם", { author: "An\u202ena\n" }));
    await desktop.tellTail("home");
    await page.getByTestId("group").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(3);
    const last = page.getByTestId("message").nth(2);
    expect(await last.innerText()).toContain("<img src=x onerror=alert(1)>");
    expect(await page.locator("main img, main script, main iframe").count()).toBe(0);
    const link = page.locator("main a");
    expect(await link.evaluate((a: HTMLAnchorElement) => [a.href, a.rel, a.target])).toEqual(["https://example.org/a?b=1", "noopener noreferrer", "_blank"]);
    expect(await page.getByTestId("message").first().locator("header").innerText()).toBe("Anna");
    expect(await last.locator("header").innerText()).not.toMatch(/[\u202e\n]/);
  });

  it("are counted in the title until they were seen, and the desktop learns it", async () => {
    const { desktop, page } = await paired();
    await expect.poll(() => page.title()).toBe("(2) Sealpost");
    await page.getByTestId("group").click();
    await expect.poll(() => page.title()).toBe("Home · Sealpost");
    expect(await desktop.hearBody("read")).toMatchObject({ group: "home", position: 2 });
    await page.getByTestId("back").click();
    await page.getByTestId("groups").waitFor();
    expect(await page.locator(".badge").count()).toBe(0);
  });

  it("written here go through the desktop, with honest states on the way", async () => {
    const { desktop, page } = await paired();
    await page.getByTestId("group").click();
    await page.getByTestId("composer").fill("Back at six\nאני בא");
    await page.getByTestId("send").click();
    const own = page.locator('[data-testid="message"].own').last();
    await expect.poll(() => plain(own)).toContain("On relay, waiting for Study");
    expect(await page.getByTestId("composer").inputValue()).toBe("");
    const heard = await desktop.hearBody("text");
    expect(heard).toMatchObject({ group: "home", text: "Back at six\nאני בא" });
    // The acknowledgement comes after five seconds, or with whatever the desktop says next.
    await share(desktop);
    await expect.poll(() => plain(own)).toContain("Study has it");
    desktop.messages.push(message(3, heard.text, { id: heard.id, own: true, author: "Study", via: "Pocket", delivery: { state: "onRelay", onRelay: 2, total: 2, reason: null } }));
    await desktop.tellTail("home");
    await expect.poll(() => plain(own)).toContain("On relay for 2 of 2");
    expect(await page.getByTestId("message").count()).toBe(3);
  });

  it("that the desktop refuses stay, with the reason and a way on", async () => {
    const { desktop, page } = await paired();
    await page.getByTestId("group").click();
    await page.getByTestId("composer").fill("too late");
    await page.getByTestId("send").click();
    const { id } = await desktop.hearBody("text");
    await desktop.tell({ type: "refused", message: id, code: "notMember" });
    const own = page.locator('[data-testid="message"].own').last();
    await expect.poll(() => plain(own)).toContain("Not delivered: Study isn’t in this group any more");
    await own.getByTestId("rewrite").click();
    await expect.poll(() => plain(own)).toContain("On relay, waiting for Study");
    expect(await page.getByTestId("message").count()).toBe(3);
  });

  it("are told to who can't see them, and a long one opens whole", async () => {
    const { desktop, page } = await paired();
    await page.getByTestId("group").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(2);
    desktop.messages.push(message(3, "Come home"));
    await desktop.tellTail("home");
    await expect.poll(() => text(page, "spoken")).toBe("Anna: Come home");
    desktop.messages.push(message(4, Array.from({ length: 90 }, (_, line) => `line ${line}`).join("\n")));
    await desktop.tellTail("home");
    desktop.messages.push(message(5, "The beginning of", { cut: true }));
    await desktop.tellTail("home");
    await expect.poll(() => text(page, "cut")).toBe("This is only the beginning. The whole text is on Study.");
    await page.getByTestId("show-all").click();
    await expect.poll(() => text(page, "messages")).toContain("line 89");
    // The list still holds on to its end.
    expect(await page.getByTestId("messages").evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight)).toBeLessThan(2);
  });

  it("that are older and were refused are asked for again when the group is opened again", async () => {
    const { desktop, page } = await paired();
    desktop.messages.splice(0, 2, ...Array.from({ length: 30 }, (_, index) => message(index + 1, `Message ${index + 1}`)));
    await desktop.tell({ type: "groups", desktop: "Study", phone: "Pocket", language: "en", groups: [{ id: "long", name: "Long", members: 3, unread: 0, last: 30, trouble: null }] });
    await desktop.tellTail("long");
    await expect.poll(() => text(page, "group")).toContain("Message 30");
    for (let time = 0; time < 2; time += 1) {
      await page.getByTestId("group").click();
      await page.getByTestId("conversation").waitFor();
      await expect.poll(() => page.getByTestId("message").count()).toBeGreaterThan(1);
      await page.getByTestId("messages").evaluate((list) => list.scrollTo(0, 0));
      const { id, before } = await desktop.hearBody("history");
      expect(before).toBe(11);
      await desktop.tell({ type: "refused", message: id, code: "notShared" });
      await page.goBack();
      await page.getByTestId("groups").waitFor();
    }
  });

  it("that are older are fetched on the way up, each once and in order", async () => {
    const { desktop, page } = await paired();
    desktop.messages.splice(0, 2, ...Array.from({ length: 300 }, (_, index) => message(index + 1, `Message ${index + 1} ${"word ".repeat(index % 23)}`)));
    await desktop.tell({ type: "groups", desktop: "Study", phone: "Pocket", language: "en", groups: [{ id: "long", name: "Long", members: 3, unread: 0, last: 300, trouble: null }] });
    await desktop.tellTail("long");
    await expect.poll(() => text(page, "group")).toContain("Message 300");
    await page.getByTestId("group").click();
    await expect.poll(async () => (await page.getByTestId("message").last().innerText()).includes("Message 300")).toBe(true);
    let isDone = false;
    const answering = (async (): Promise<void> => {
      for (;;) {
        const asked = await Promise.race([desktop.hearBody("history"), until(() => isDone)]);
        if (asked === null) return;
        await desktop.answer("long", asked);
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 200; round += 1) {
      for (const row of await page.getByTestId("message-text").allInnerTexts()) seen.add(row.split(" ").slice(0, 2).join(" "));
      if (seen.has("Message 1")) break;
      await page.getByTestId("messages").evaluate((list) => list.scrollBy(0, -400));
      await page.waitForTimeout(30);
    }
    isDone = true;
    await answering.catch(() => {});
    expect(Array.from({ length: 300 }, (_, index) => `Message ${index + 1}`).filter((name) => !seen.has(name))).toEqual([]);
    expect(await page.getByTestId("gap").count()).toBe(0);
    // Only what is near is drawn.
    expect(await page.getByTestId("message").count()).toBeLessThan(60);
  });
});

describe("the link", () => {
  it("keeps what is written without a network, and sends it when there is one", async () => {
    const { phone: made, desktop, page } = await paired();
    await page.getByTestId("group").click();
    await made.context.setOffline(true);
    await page.getByTestId("composer").fill("from the tunnel");
    await page.getByTestId("send").click();
    const own = page.locator('[data-testid="message"].own').last();
    await expect.poll(() => plain(own)).toContain("Waits on this phone");
    await expect.poll(() => text(page, "link-line")).toContain("no network");
    await page.getByTestId("composer").fill("and a second one");
    await page.getByTestId("send").click();
    await made.context.setOffline(false);
    await expect.poll(() => plain(own)).toContain("On relay");
    expect((await desktop.hearBody("text")).text).toBe("from the tunnel");
    expect((await desktop.hearBody("text")).text).toBe("and a second one");
    expect((await page.locator('[data-testid="message"].own [data-testid="message-text"]').allInnerTexts())).toEqual(["from the tunnel", "and a second one"]);
    expect(await page.getByTestId("link-line").count()).toBe(0);
  });

  it("says that the relay doesn't answer, and goes on when it does", async () => {
    const { desktop, page } = await paired();
    await page.getByTestId("group").click();
    await relay.stop();
    try {
      await page.getByTestId("composer").fill("while it was off");
      await page.getByTestId("send").click();
      await expect.poll(() => text(page, "link-line")).toContain("No connection to");
    } finally {
      await relay.start();
    }
    await page.getByTestId("retry").click();
    await desktop.poll();
    expect((await desktop.hearBody("text")).text).toBe("while it was off");
    await expect.poll(() => page.getByTestId("link-line").count()).toBe(0);
  });

  it("survives a reload: groups, messages and what waits", async () => {
    const { phone: made, page } = await paired();
    await page.getByTestId("group").click();
    await made.context.route(/\/v1\//, (route) => route.abort());
    await page.getByTestId("composer").fill("kept");
    await page.getByTestId("send").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(3);
    await page.reload();
    await page.getByTestId("group").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(3);
    expect(await plain(page.getByTestId("message").last())).toContain("Waits on this phone");
  });

  it("keeps its texts when a damaged code is opened and left again", async () => {
    const { phone: made, page } = await paired();
    await page.getByTestId("group").click();
    await made.context.route(/\/v1\/.*\/\d+$/, (route) => route.abort());
    await page.getByTestId("composer").fill("still here");
    await page.getByTestId("send").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(3);
    await page.evaluate((address) => location.assign(address), `${made.url}#v=1&i=x&k=short`);
    await page.getByTestId("dead-end").waitFor();
    await page.getByTestId("done").click();
    await page.getByTestId("conversation").waitFor();
    await expect.poll(() => text(page, "messages")).toContain("still here");
    await page.reload();
    await page.getByTestId("group").click();
    await expect.poll(() => text(page, "messages")).toContain("still here");
  });

  it("that was replaced while a tab was frozen is not put back when the tab wakes", async () => {
    const { phone: made, page } = await paired();
    // It hears nothing and renews nothing, but believes that it leads.
    await page.addInitScript(() => {
      Object.defineProperty(BroadcastChannel.prototype, "onmessage", { set: () => {} });
      globalThis.setInterval = (() => 0) as unknown as typeof setInterval;
      Object.defineProperty(globalThis, "WebSocket", { value: null });
    });
    await page.reload();
    await page.getByTestId("group").waitFor();
    await page.route(/\/v1\//, (route) => route.abort());
    const other = new Desktop(relay.base, "Kitchen");
    const second = await made.tab(await other.show(made.url));
    // As if its lease had run out.
    await second.evaluate(() => localStorage.removeItem("sealpost-lead"));
    await second.getByTestId("replace").click();
    await other.meet();
    await second.getByTestId("same").click();
    await other.confirm();
    await other.finish();
    await second.getByTestId("no-groups").waitFor();
    // It wakes, learns that its mailbox is gone, and may write nothing of that.
    await page.unroute(/\/v1\//);
    await page.evaluate(() => dispatchEvent(new Event("online")));
    await expect.poll(() => page.locator("main").innerText()).not.toContain("Soon");
    await second.reload();
    for (const tab of [page, second]) expect(await text(tab, "no-groups")).toContain("Waiting for Kitchen");
  });

  it("that one tab can't store is led by another one", async () => {
    const { phone: made, desktop, page } = await paired();
    const second = await made.tab();
    await page.evaluate(() => {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await desktop.tell({ type: "groups", desktop: desktop.name, phone: "Pocket", language: "en", groups: [] });
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("Something could not be stored");
    await second.getByTestId("no-groups").waitFor();
  });

  it("is shared by two tabs: one asks the relay, both show and write", async () => {
    const { phone: made, desktop, page } = await paired();
    const second = await made.tab();
    await second.getByTestId("group").click();
    await second.getByTestId("composer").fill("from the second tab");
    await second.getByTestId("send").click();
    expect((await desktop.hearBody("text")).text).toBe("from the second tab");
    desktop.messages.push(message(3, "seen in both"));
    await share(desktop);
    await desktop.tellTail("home");
    for (const tab of [page, second]) {
      if ((await tab.getByTestId("group").count()) > 0) await tab.getByTestId("group").click();
      await expect.poll(() => tab.getByTestId("messages").innerText()).toContain("seen in both");
    }
    // The tab that led is closed; the other one goes on.
    await page.close();
    await second.getByTestId("composer").fill("alone now");
    await second.getByTestId("send").click();
    expect((await desktop.hearBody("text")).text).toBe("alone now");
  });

  it("that the computer ends says so, deletes all there was, and shows what had not left", async () => {
    const { phone: made, desktop, page } = await paired();
    await page.getByTestId("group").click();
    await made.context.route(/\/v1\/.*\/\d+$/, (route) => route.abort());
    await page.getByTestId("composer").fill("not gone yet");
    await page.getByTestId("send").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(3);
    await desktop.erase();
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("This phone was unpaired on the computer");
    expect(await text(page, "left-text")).toBe("not gone yet");
    const left = await page.evaluate(async () => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const opening = indexedDB.open("sealpost-phone");
        opening.onsuccess = () => resolve(opening.result);
      });
      const count = (name: string): Promise<number> => new Promise((resolve) => (database.transaction(name).objectStore(name).count().onsuccess = ({ target }) => resolve((target as IDBRequest<number>).result)));
      return [await count("outbox"), await count("accepted"), await count("messages")];
    });
    expect(left).toEqual([0, 0, 0]);
    await page.getByTestId("understood").click();
    await expect.poll(() => text(page, "dead-end")).toContain("Pair this phone first");
  });

  it("is ended here, after a question, and the mailbox with it", async () => {
    const { desktop, page } = await paired();
    await page.getByTestId("this-phone").click();
    await page.getByTestId("unpair").click();
    await page.getByTestId("unpair-confirm").click();
    await page.getByTestId("dead-end").waitFor();
    expect(await text(page, "dead-end")).toContain("This phone is unpaired");
    await expect.poll(async () => (await new HttpTransport(relay.base).perform(desktop.address, { is: "head", direction: "b2a" })).is).toBe("refused");
  });

  it.each([
    [403, "wrong_token", "Something else has taken this phone’s place"],
    [404, "claims_closed", "The relay doesn’t know this phone any more"],
    [421, "bad_host", "doesn’t answer under this address"],
    [503, "unavailable", "The relay is busy"],
    [401, "unauthorized", "are of different versions"],
    [500, "internal", "No connection to"],
  ])("answered %i %s says what that means and loses nothing", async (status, error, words) => {
    const { phone: made, desktop, page } = await paired();
    await made.context.route(/\/v1\//, (route) => route.fulfill({ status, headers: { "x-relay-error": error }, body: "" }));
    await page.reload();
    await page.getByTestId("group").click();
    await expect.poll(() => text(page, "link-line")).toContain(words);
    await page.getByTestId("composer").fill("kept through it");
    await page.getByTestId("send").click();
    await expect.poll(() => page.getByTestId("message").count()).toBe(3);
    await made.context.unroute(/\/v1\//);
    await page.reload();
    expect((await desktop.hearBody("text")).text).toBe("kept through it");
  });

  it("says that a full direction is full, without hammering, and goes on by itself", async () => {
    const { phone: made, desktop, page } = await paired();
    let refused = 0;
    await made.context.route(/\/v1\/.*\/\d+$/, (route) => {
      refused += 1;
      return route.fulfill({ status: 507, headers: { "x-relay-error": "direction_full" }, body: "" });
    });
    await page.getByTestId("group").click();
    await page.getByTestId("composer").fill("one too many");
    await page.getByTestId("send").click();
    await expect.poll(() => text(page, "link-line")).toContain("hasn’t fetched anything for a while");
    await page.waitForTimeout(300);
    expect(refused).toBeLessThanOrEqual(2);
    await made.context.unroute(/\/v1\/.*\/\d+$/);
    await share(desktop);
    expect((await desktop.hearBody("text")).text).toBe("one too many");
  });

  it("says by how much the phone's clock is off, and works all the same", async () => {
    const { phone: made, desktop } = await paired();
    await made.context.addInitScript(() => {
      const { now } = Date;
      Date.now = () => now() + 366 * 86_400_000;
    });
    const page = await made.tab();
    await page.bringToFront();
    await page.getByTestId("group").click();
    await page.getByTestId("composer").fill("from next year");
    await page.getByTestId("send").click();
    expect((await desktop.hearBody("text")).text).toBe("from next year");
    await page.reload();
    await expect.poll(() => text(page, "link-line"), { timeout: 15_000 }).toContain("clock is fast by 366 days");
  });
});

describe("the page", () => {
  it("speaks German, and the language that was chosen", async () => {
    const { page } = await paired("de-AT");
    await page.getByTestId("this-phone").click();
    expect(await page.locator("h1").innerText()).toBe("Dieses Telefon");
    await page.getByTestId("language").selectOption("en");
    await expect.poll(() => page.locator("h1").innerText()).toBe("This phone");
    await page.reload();
    expect(await page.locator("h1").innerText()).toBe("Groups");
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("en");
  });

  it("goes back with the phone's own button", async () => {
    const { page } = await paired();
    await page.getByTestId("group").click();
    await page.getByTestId("conversation").waitFor();
    await page.goBack();
    await page.getByTestId("groups").waitFor();
  });

  it("shows no group that isn't shared any more, and keeps nothing of it", async () => {
    const { desktop, page } = await paired();
    await page.getByTestId("group").click();
    await desktop.tell({ type: "groups", desktop: desktop.name, phone: "Pocket", language: "en", groups: [] });
    await expect.poll(() => text(page, "conversation")).toContain("isn’t shared with this phone any more");
    expect(await page.getByTestId("message").count()).toBe(0);
    expect(await page.getByTestId("composer").count()).toBe(0);
  });
});

async function until(isDone: () => boolean): Promise<null> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 50));
  return null;
}
