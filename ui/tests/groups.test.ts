// What a person does within groups beside the main job: failed messages, links, members and
// the ways out, delivery issues, the search.

import { describe, expect, it } from "vitest";
import type { SampleApp } from "../src/samples/channel";
import { at, openGroup, play, sample, settled, useWindows } from "./fixture";

const open = useWindows();

describe("a failed message", () => {
  it("is sent again, copied and deleted by keyboard alone, each button named for its message", async () => {
    const page = await open();
    await openGroup(page, "states");
    await page.getByRole("button", { name: /^Retry: .*This one was too large/ }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.copied.length === 1);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await at(page, "delivery-state").nth(3).and(page.locator('[data-state="onRelay"]')).waitFor();
    await page.getByRole("button", { name: /^Delete: .*given up for everybody/ }).focus();
    await page.keyboard.press("Enter");
    await at(page, "confirm-go").focus();
    await page.keyboard.press("Enter");
    await page.getByText("given up for everybody").waitFor({ state: "detached" });
    expect(await sample(page, (app) => app.copied[0])).toContain("too large for the relay");
  });

  it("whose recipient is gone says so in three parts, and can still be deleted", async () => {
    const page = await open();
    await openGroup(page, "states");
    await play(page, "refuse", "retry_message", "member-unknown");
    await at(page, "retry").first().click();
    const error = page.locator('[data-testid="error"][data-code="member-unknown"]');
    await error.waitFor();
    expect(await error.locator("p").count()).toBe(4);
    expect(await at(page, "delete-message").first().isEnabled()).toBe(true);
  });

  it("is spoken when it fails", async () => {
    const page = await open();
    await play(page, "receive", "devices", "Anything");
    await sample(page, (app) => {
      const row = app.rows("devices").findLast((one) => one.own);
      if (row?.delivery == null) return;
      app.messages.set("devices", app.rows("devices").map((one) => (one.id === row.id && row.delivery ? { ...row, delivery: { ...row.delivery, state: "failed", reason: "expired" } } : one)));
      app.emit("messages", { group: "devices", from: row.position });
    });
    await page.waitForFunction(() => document.querySelector('[data-testid="spoken"]')?.textContent?.includes("Not delivered"));
  });
});

describe("a link in a message", () => {
  it("opens outside, and never leads the window away", async () => {
    const page = await open();
    const before = page.url();
    const link = at(page, "messages").locator("a").last();
    await link.click();
    await link.click({ button: "middle" });
    await link.click({ modifiers: ["Control"] });
    await link.focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => (globalThis as unknown as { sampleApp: SampleApp }).sampleApp.opened.length === 4);
    expect([page.url(), page.context().pages().length]).toEqual([before, 1]);
    expect(new Set(await sample(page, (app) => app.opened))).toEqual(new Set(["https://example.org/trains"]));
    await play(page, "receive", "devices", "javascript:alert(1) file:///etc/passwd");
    await at(page, "message-text").getByText("javascript:alert(1)").waitFor();
    expect(await at(page, "messages").locator('a:not([href^="http"])').count()).toBe(0);
  });
});

describe("the members", () => {
  it("lead to a detail with who added it, a fingerprint and a code to compare", async () => {
    const page = await open();
    await at(page, "show-members").click();
    await at(page, "member").nth(1).locator("button").press("Enter");
    const detail = at(page, "member-detail");
    expect(await detail.innerText()).toMatch(/Added by[^]*Laptop[^]*Fingerprint[^]*7Q2M/);
    await at(page, "compare").click();
    expect((await at(page, "compare-code").innerText()).replace(/\D/g, "").length).toBeGreaterThanOrEqual(25);
    await at(page, "panel-back").press("Enter");
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.closest("[data-member]")?.getAttribute("data-member"))).toBe("pixel");
  });

  it("are removed only after a question that says what it does and doesn't", async () => {
    const page = await open();
    await at(page, "show-members").click();
    await at(page, "member").nth(1).locator("button").click();
    await at(page, "remove-member").click();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await sample(page, (app) => app.group("devices").members.length)).toBe(2);
    await at(page, "remove-member").click();
    expect(await at(page, "confirm").innerText()).toMatch(/What this does[^]*nothing more[^]*What it doesn’t do[^]*it keeps/);
    await at(page, "confirm-go").click();
    await page.getByText("Members (2)").waitFor();
  });

  it("have a history, with this device named as such", async () => {
    const page = await open();
    await at(page, "show-members").click();
    await at(page, "show-history").click();
    const history = at(page, "membership-history");
    await history.getByText(/This device removed .*Old phone/).waitFor();
    expect(await history.innerText()).toMatch(/Tablet\u2069 left/);
  });

  it("see the group's new name", async () => {
    const page = await open();
    await at(page, "show-members").click();
    await at(page, "rename-group").click();
    await at(page, "group-name").fill("ä".repeat(129));
    expect(await at(page, "save-group-name").isDisabled()).toBe(true);
    await at(page, "group-name").fill("Harbour");
    await page.keyboard.press("Enter");
    await page.locator('[data-group="devices"]').getByText("Harbour").waitFor();
  });
});

describe("the ways out", () => {
  it("ask once more when somebody came in minutes ago", async () => {
    const page = await open("?scene=fresh-member");
    await at(page, "show-members").click();
    await at(page, "leave-group").click();
    expect(await at(page, "confirm").innerText()).toContain("only minutes ago");
    expect(await at(page, "confirm-go").isDisabled()).toBe(true);
    await at(page, "understood").check();
    await at(page, "confirm-go").click();
    await page.locator('[data-testid="ended-group"][data-status="notJoined"]').waitFor();
    expect(await at(page, "composer").count()).toBe(0);
    expect(await at(page, "message").count()).toBeGreaterThan(3);
  });

  it("say why a group is over: left, removed, destroyed, each in its own words", async () => {
    const page = await open();
    const words = new Set<string>();
    for (const group of ["left", "removed", "destroyed"]) {
      await openGroup(page, group);
      words.add(await at(page, "ended-group").innerText());
      expect(await at(page, "composer").count()).toBe(0);
    }
    expect(words.size).toBe(3);
    await at(page, "erase-group").click();
    await at(page, "confirm-go").click();
    await page.locator('[data-group="destroyed"]').waitFor({ state: "detached" });
  });

  it("destroy nothing before it was understood", async () => {
    const page = await open();
    await at(page, "show-members").click();
    await at(page, "destroy-group").click();
    expect(await at(page, "confirm-go").isDisabled()).toBe(true);
    await at(page, "understood").check();
    await at(page, "confirm-go").click();
    await page.locator('[data-testid="ended-group"]').getByText("The group was destroyed").waitFor();
  });
});

describe("delivery issues", () => {
  it("are one list, newest first, with one action each, and go off it by keyboard", async () => {
    const page = await open();
    await page.keyboard.press("Control+i");
    await at(page, "issue").first().waitFor();
    expect(await at(page, "issue").count()).toBe(15);
    const times = await at(page, "issue").locator("time").evaluateAll((all) => all.map((one) => one.getAttribute("datetime") ?? ""));
    expect(times).toEqual([...times].sort().reverse());
    await at(page, "issue-dismiss").first().focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll('[data-testid="issue"]').length === 14);
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.closest('[data-testid="issue"]') !== null)).toBe(true);
    await page.waitForFunction(() => document.querySelector('[data-testid="issues"]')?.textContent?.includes("14"));
    await at(page, "issue-show").first().click();
    await page.locator(".found").waitFor();
  });
});

describe("the search", () => {
  it("finds in all groups, says how much, and jumps to the hit", async () => {
    const page = await open();
    await page.keyboard.press("Control+f");
    await page.keyboard.type("图书馆");
    await at(page, "search-hits").waitFor();
    expect(await at(page, "search-hits").locator("mark").first().innerText()).toBe("图书馆");
    expect(new Set(await at(page, "search-hit").locator(".hint").allInnerTexts()).size).toBeGreaterThan(3);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator(".found").getByText("图书馆").waitFor();
    await settled(page);
    expect(await page.evaluate(() => document.activeElement?.classList.contains("found"))).toBe(true);
  });

  it("shows text only, never markup, and says when there is nothing", async () => {
    const page = await open();
    await play(page, "receive", "devices", "<b>needle</b><img src=x>");
    await at(page, "search").click();
    await at(page, "search-field").fill("needle");
    await at(page, "search-hit").waitFor();
    expect(await at(page, "search-hits").locator("b, img").count()).toBe(0);
    await at(page, "search-field").fill("nothing of the kind");
    await at(page, "search-nothing").waitFor();
  });
});
