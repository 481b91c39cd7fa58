// The window at the size that it opens with: a panel stands in the stead of the messages
// there, hides nothing that comes, moves nobody's place, and belongs to one group only.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { Place } from "../src/bindings/Place";
import type { SampleApp } from "../src/samples/channel";
import { at, DEFAULT_SIZE, openGroup, play, sample, settled, useWindows } from "./fixture";

const open = useWindows();

/** Leads the window somewhere, as a click on a notification does. */
async function lead(page: Page, place: Place, group: string | null): Promise<void> {
  await page.evaluate(([place_, group_]) => {
    const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
    sampleApp.set({ destination: { id: Math.random(), place: place_, group: group_, invitation: null } });
  }, [place, group] as const);
  await settled(page);
}

/** Waits until the window has told the app that it shows this group's newest messages. */
async function shows(page: Page, group: string | null): Promise<void> {
  await page.waitForFunction((wanted) => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.shown.at(-1) === wanted, group);
}

describe("a panel", () => {
  const kinds: [string, (page: Page) => Promise<void>, string][] = [
    ["a question", async (page) => at(page, "leave-group").click(), "confirm"],
    ["a name", async (page) => at(page, "rename-group").click().then(() => at(page, "group-name").fill("For another one")), "group-name"],
    ["a member", async (page) => at(page, "member").nth(1).locator("button").click(), "member-detail"],
    ["a history", async (page) => at(page, "show-history").click(), "membership-history"],
  ];

  it.each(kinds)("takes %s to no other group, whatever leads there", async (_, begin, begun) => {
    for (const width of [DEFAULT_SIZE.width, 1180]) {
      const page = await open("", { ...DEFAULT_SIZE, width });
      await at(page, "show-members").click();
      await begin(page);
      await at(page, begun).waitFor();
      await lead(page, "group", "family");
      await page.locator('[data-group="family"][aria-current]').waitFor();
      await at(page, begun).waitFor({ state: "detached" });
      await page.close();
    }
  });

  it("takes no relay's address to another group", async () => {
    const page = await open("", { width: 1180 });
    await at(page, "show-relay").click();
    await at(page, "change-relay").click();
    await at(page, "relay-address").fill("trueseal://x@relay.example.net:7700");
    await lead(page, "group", "family");
    await at(page, "relay-address").waitFor({ state: "detached" });
    expect(await sample(page, (app) => app.group("family").relayHost)).not.toBe("relay.example.net");
  });

  it("takes no question along when its group goes", async () => {
    const page = await open("", { width: 1180 });
    await openGroup(page, "left");
    await at(page, "show-members").click();
    await at(page, "members-panel").locator('[data-testid="erase-group"]').click();
    await at(page, "confirm").waitFor();
    await sample(page, (app) => app.remove("left"));
    await at(page, "confirm").waitFor({ state: "detached" });
  });

  it("covers nothing that somebody goes to", async () => {
    const page = await open("", DEFAULT_SIZE);
    const ways: [() => Promise<void>, string][] = [
      [() => openGroup(page, "family"), "messages"],
      [() => at(page, "settings").click(), "settings-page"],
      [() => at(page, "issues").click(), "issues-page"],
      [() => at(page, "search").click(), "search-field"],
      [() => page.keyboard.press("Alt+ArrowDown"), "messages"],
      [() => lead(page, "issues", null), "issues-page"],
      [() => lead(page, "group", "devices"), "messages"],
      [() => at(page, "pair-from-members").click(), "tab-show"],
    ];
    for (const [go, wanted] of ways) {
      await openGroup(page, "devices");
      await at(page, "show-members").click();
      await at(page, "members-panel").waitFor();
      await go();
      await at(page, wanted).waitFor();
      expect(await at(page, "members-panel").count()).toBe(0);
    }
  });

  it("lets notifications of the covered group come, and reads nothing for the person", async () => {
    const page = await open("", DEFAULT_SIZE);
    await shows(page, "devices");
    await at(page, "show-members").click();
    await shows(page, null);
    await play(page, "receive", "devices", "Behind the panel", 3);
    await page.locator('[data-group="devices"] .unread').waitFor();
    await settled(page);
    expect(await sample(page, (app) => app.group("devices").unread)).toBe(3);
    await at(page, "close-panel").click();
    await shows(page, "devices");
    await page.waitForFunction(() => document.querySelector('[data-group="devices"] .unread') === null);
  });

  it("lets notifications of delivery issues come while it covers their list", async () => {
    const page = await open("", DEFAULT_SIZE);
    const areShown = (wanted: boolean) => page.waitForFunction((now) => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.showsIssues === now, wanted);
    await at(page, "issues").click();
    await areShown(true);
    await at(page, "relay-line").click();
    await areShown(false);
    await at(page, "close-panel").click();
    await areShown(true);
    await at(page, "settings").click();
    await areShown(false);
  });

  it("lets them come too where the list of groups covers the messages", async () => {
    const page = await open("", { width: 640, height: 680 });
    await shows(page, "devices");
    await at(page, "show-groups").click();
    await shows(page, null);
    await page.locator('[data-group="devices"]').click();
    await shows(page, "devices");
  });

  it("loads nothing of a long group, and leaves the reader's place", async () => {
    const page = await open("", DEFAULT_SIZE);
    await openGroup(page, "many");
    await page.locator('[data-position="10000"]').waitFor();
    await at(page, "messages").evaluate((list) => (list.scrollTop -= 2_000));
    await settled(page);
    await settled(page);
    const first = (): Promise<{ id: string; top: number }> => at(page, "messages").evaluate((list) => {
      const edge = list.getBoundingClientRect().top;
      const row = [...list.querySelectorAll<HTMLElement>("[data-message-id]")].find((one) => one.getBoundingClientRect().top >= edge);
      return { id: row?.dataset["messageId"] ?? "", top: row?.getBoundingClientRect().top ?? 0 };
    });
    const before = await first();
    const asked = await page.evaluate(() => {
      const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
      const call = sampleApp.call.bind(sampleApp);
      const counted = { messages: 0 };
      sampleApp.call = (command, args) => {
        if (command === "messages") counted.messages += 1;
        return call(command, args);
      };
      return Object.assign(globalThis, { counted }).counted.messages;
    });
    await at(page, "show-members").click();
    await at(page, "members-panel").waitFor();
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => (globalThis as unknown as { counted: { messages: number } }).counted.messages)).toBe(asked);
    await at(page, "close-panel").click();
    await settled(page);
    await settled(page);
    const after = await first();
    expect(after.id).toBe(before.id);
    expect(Math.abs(after.top - before.top)).toBeLessThan(3);
  });
});

describe("a notification of the group that is open", () => {
  it("leads to what is new, past whatever is open, and to the composer", async () => {
    const page = await open("", DEFAULT_SIZE);
    await openGroup(page, "many");
    await page.locator('[data-position="10000"]').waitFor();
    await at(page, "messages").evaluate((list) => (list.scrollTop -= 3_000));
    await settled(page);
    await play(page, "receive", "many", "Come down", 2);
    await at(page, "show-members").click();
    await at(page, "leave-group").click();
    await at(page, "confirm").waitFor();
    await lead(page, "group", "many");
    await at(page, "new-messages").waitFor();
    await at(page, "message-text").getByText("Come down 2").waitFor();
    await page.waitForFunction(() => (document.activeElement as HTMLElement | null)?.dataset["testid"] === "composer");
    expect(await at(page, "confirm").count()).toBe(0);
  });

  it("closes a question about a message, and keeps what was begun", async () => {
    const page = await open("", DEFAULT_SIZE);
    await openGroup(page, "states");
    await at(page, "composer").fill("Half a thought");
    await at(page, "delete-message").first().click();
    await at(page, "confirm").waitFor();
    await lead(page, "group", "states");
    await at(page, "confirm").waitFor({ state: "detached" });
    expect(await at(page, "composer").inputValue()).toBe("Half a thought");
    await page.waitForFunction(() => (document.activeElement as HTMLElement | null)?.dataset["testid"] === "composer");
  });

  it("of the relay closes what stands before it", async () => {
    const page = await open("", DEFAULT_SIZE);
    await at(page, "show-members").click();
    await at(page, "leave-group").click();
    await at(page, "confirm").waitFor();
    await lead(page, "relay", null);
    await at(page, "relay-panel").waitFor();
    expect(await at(page, "confirm").count()).toBe(0);
  });
});

describe("a message that is refused", () => {
  const LONG_MS = 300;

  /** Sends with an app that takes its time and then refuses. */
  async function sendSlowly(page: Page): Promise<void> {
    await page.evaluate((pauseMs) => {
      const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
      const call = sampleApp.call.bind(sampleApp);
      sampleApp.call = async (command, args) => {
        if (command !== "send_message") return call(command, args);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        throw { code: "storage", args: { kind: "full" } };
      };
    }, LONG_MS);
    await at(page, "composer").fill("Not to be lost");
    await page.keyboard.press("Enter");
  }

  const ways: [string, (page: Page) => Promise<unknown>, (page: Page) => Promise<unknown>][] = [
    ["another group was opened", (page) => openGroup(page, "family"), async (page) => {
      await at(page, "error").waitFor();
      expect(await at(page, "composer").inputValue()).toBe("");
      await openGroup(page, "devices");
    }],
    ["the group was left and opened again", async (page) => openGroup(page, "family").then(() => openGroup(page, "devices")), (page) => at(page, "error").waitFor()],
    ["another page was opened", (page) => at(page, "settings").click(), async (page) => at(page, "error").waitFor().then(() => openGroup(page, "devices"))],
    ["nothing was done", async () => undefined, (page) => at(page, "error").waitFor()],
  ];

  it.each(ways)("comes back to its group when %s before the answer", async (_, leave, back) => {
    const page = await open("", DEFAULT_SIZE);
    await sendSlowly(page);
    await leave(page);
    await back(page);
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('[data-testid="composer"]')?.value === "Not to be lost");
    await page.waitForFunction(() => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.group("devices").draft === "Not to be lost");
  });

  it("comes back after a lock", async () => {
    const page = await open("?scene=passphrase-kept", DEFAULT_SIZE);
    await sendSlowly(page);
    await page.keyboard.press("Control+l");
    await at(page, "passphrase").waitFor();
    await page.waitForTimeout(LONG_MS);
    await at(page, "passphrase").fill("correct horse");
    await page.keyboard.press("Enter");
    await at(page, "error").waitFor();
    expect(await at(page, "composer").inputValue()).toBe("Not to be lost");
  });

  it("stays the app's draft until the app has taken it", async () => {
    const page = await open("", DEFAULT_SIZE);
    const drafts = await page.evaluateHandle(() => {
      const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
      const call = sampleApp.call.bind(sampleApp);
      const kept: string[] = [];
      sampleApp.call = async (command, args) => {
        if (command === "save_draft") kept.push((args as { text: string }).text);
        return command === "send_message" ? new Promise(() => undefined) : call(command, args);
      };
      return kept;
    });
    await at(page, "composer").fill("Not taken yet");
    await page.keyboard.press("Enter");
    await page.waitForTimeout(700);
    expect(await drafts.jsonValue()).toEqual(["Not taken yet"]);
  });
});
