// What a person does beside the main job: members and the ways out, delivery issues, the
// search, settings, the relay, and all of it by keyboard.

import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import type { SampleApp } from "../src/samples/channel";
import { at, openGroup, play, settled, useWindows } from "./fixture";

const open = useWindows();

function sample<Answer>(page: Page, read: (app: SampleApp) => Answer): Promise<Answer> {
  return page.evaluate(`(${read.toString()})(globalThis.sampleApp)`) as Promise<Answer>;
}

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

describe("the relay", () => {
  it("is tested in named steps, and one that fails says why", async () => {
    const page = await open();
    await at(page, "show-relay").click();
    await at(page, "test-relay").click();
    await page.locator('[data-step="clock"][data-state="ok"]').waitFor();
    expect(await at(page, "test-steps").locator("li").count()).toBe(7);
    await sample(page, (app) => (app.failingStep = "key"));
    await at(page, "test-relay").click();
    await page.locator('[data-step="key"][data-state="failed"]').waitFor();
    expect(await page.locator('[data-state="skipped"]').count()).toBe(3);
    await page.waitForFunction(() => document.querySelector('[data-testid="spoken"]')?.textContent?.includes("Check its key"));
  });

  it("is changed for a group, with what the others have to do", async () => {
    const page = await open();
    await at(page, "show-relay").click();
    await at(page, "change-relay").click();
    expect(await at(page, "relay-change-dialog").innerText()).toContain("have to change to the same relay");
    await at(page, "relay-address").fill("trueseal://x@relay.example.net:7700");
    await at(page, "save-relay").click();
    await page.getByText("relay.example.net").first().waitFor();
  });

  it("keeps the ports that it was given, and takes no others than ports", async () => {
    const page = await open();
    await at(page, "show-relay").click();
    await at(page, "edit-ports").click();
    for (const wrong of ["0", "65536", "7701", "77a"]) {
      await at(page, "port-receive").fill(wrong);
      expect(await at(page, "save-ports").isDisabled()).toBe(true);
    }
    await at(page, "port-receive").fill("7800");
    await at(page, "save-ports").click();
    await at(page, "relay-card").getByText("7800", { exact: true }).waitFor();
  });

  it("can be tried again in settings and panel when its port is taken", async () => {
    const page = await open("?scene=relay-failed");
    await at(page, "relay-line").click();
    await page.locator('[data-code="relay-port-in-use"]').waitFor();
    await at(page, "relay-switch").click();
    expect(await at(page, "relay-card").isVisible()).toBe(true);
  });
});

describe("the settings", () => {
  it("count at once: colours, language, notifications", async () => {
    const page = await open();
    await page.keyboard.press("Control+,");
    const paper = (): Promise<string> => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await paper();
    await at(page, "theme").selectOption("dark");
    await page.waitForFunction(() => document.documentElement.dataset["theme"] === "dark");
    expect(await paper()).not.toBe(light);
    await at(page, "notify-nothing").check();
    expect(await sample(page, (app) => app.view.settings.notifications)).toBe("nothing");
    await at(page, "mute-hour").click();
    await at(page, "unmute").waitFor();
  });

  it("show what was refused, and stay as they were", async () => {
    const page = await open();
    await at(page, "settings").click();
    await play(page, "refuse", "set_settings", "start-at-login-unavailable");
    await at(page, "start-at-login").click();
    await page.locator('[data-code="start-at-login-unavailable"]').waitFor();
    expect(await at(page, "start-at-login").getAttribute("aria-checked")).toBe("false");
  });

  it("show the support bundle whole before it is saved", async () => {
    const page = await open();
    await at(page, "settings").click();
    await at(page, "support-bundle").click();
    expect(await at(page, "bundle-text").innerText()).toContain("groups: 11");
    await at(page, "bundle-save").click();
    await at(page, "bundle-save").getByText("Saved").waitFor();
  });

  it("change and remove the passphrase, and lock", async () => {
    const page = await open("?scene=passphrase-kept");
    await at(page, "settings").click();
    await at(page, "change-passphrase").click();
    await at(page, "passphrase-current").fill("wrong");
    await at(page, "passphrase").fill("a longer passphrase");
    await at(page, "passphrase-again").fill("a longer passphrase");
    await at(page, "passphrase-submit").click();
    await page.locator('[data-code="passphrase-wrong"]').waitFor();
    await at(page, "passphrase-current").fill("correct horse");
    await at(page, "passphrase-submit").click();
    await page.locator("dialog").waitFor({ state: "detached" });
    await at(page, "lock-now").click();
    await at(page, "passphrase").fill("correct horse");
    await page.keyboard.press("Enter");
    await at(page, "groups").waitFor();
  });

  it("lock with the keychain too, and say that it is Sealpost that is locked", async () => {
    const page = await open();
    await page.keyboard.press("Control+l");
    await at(page, "locked").waitFor();
    await at(page, "try-keychain-again").click();
    await page.locator('[data-testid="keychain-trouble"][data-kind="locked"]').waitFor();
  });

  it("say what is lost without a tray", async () => {
    const page = await open("?scene=passphrase-kept");
    await at(page, "settings").click();
    expect(await at(page, "settings-start").innerText()).toContain("No tray shows");
  });
});

describe("the keyboard", () => {
  it("opens the sheet of shortcuts, goes through groups and into each page, and back", async () => {
    const page = await open();
    await page.keyboard.press("Control+/");
    expect(await at(page, "shortcut-sheet").locator("kbd").count()).toBeGreaterThan(15);
    await page.keyboard.press("Escape");
    await at(page, "shortcut-sheet").waitFor({ state: "detached" });
    await page.keyboard.press("Alt+ArrowDown");
    await page.locator('[data-group="family"][aria-current]').waitFor();
    await page.keyboard.press("Control+m");
    await at(page, "members-panel").waitFor();
    await page.keyboard.press("Control+,");
    await at(page, "settings-page").waitFor();
    await at(page, "back").press("Enter");
    await page.locator('[data-group="family"][aria-current]').waitFor();
  });

  it("reaches every control of the group view, and each shows its focus", async () => {
    const page = await open();
    await at(page, "show-members").click();
    const reached = new Set<string>();
    for (let step = 0; step < 90; step += 1) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const style = getComputedStyle(element);
        return { id: element.dataset["testid"] ?? element.tagName, isSeen: element === document.body || parseFloat(style.outlineWidth) > 0 };
      });
      expect(stop).toMatchObject({ isSeen: true });
      reached.add(stop.id);
    }
    for (const id of ["add-group", "search", "issues", "settings", "relay-line", "group", "show-members", "show-relay", "pair-device", "messages", "composer", "close-panel", "rename-group", "show-history", "leave-group", "destroy-group"]) {
      expect([...reached]).toContain(id);
    }
  });
});

describe("names from others", () => {
  it("turn, hide and stretch nothing around them", async () => {
    const page = await open();
    const names = ["abc\u202Egpj.exe", "a\u2066b\u200Bc\uFEFFd", `e${"\u0301".repeat(300)}`, "x".repeat(10_000), "tag\u{E0041}\u{E0042}"];
    await page.evaluate((all) => {
      const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
      const members = all.map((name, index) => ({ ...sampleApp.group("devices").me, id: `h${index}`, name, isMe: false }));
      sampleApp.change("devices", { members });
      sampleApp.receive("devices", "from a hostile name");
    }, names);
    await at(page, "show-members").click();
    await at(page, "member").nth(names.length).waitFor();
    const rows = await at(page, "member").evaluateAll((all) => all.map((row) => ({ height: row.getBoundingClientRect().height, text: row.querySelector("bdi")?.textContent ?? "" })));
    for (const { height, text } of rows) {
      expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\ufeff]|[\u{E0000}-\u{E007F}]/u);
      expect(height).toBeLessThan(140);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
});
