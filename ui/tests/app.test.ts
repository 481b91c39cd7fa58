// What a person does with the app as a whole: the relay, the settings, the lock; by keyboard
// alone; and names that others chose.

import { describe, expect, it } from "vitest";
import type { SampleApp } from "../src/samples/channel";
import { at, play, sample, useWindows } from "./fixture";

const open = useWindows();

describe("the relay", () => {
  it("is tested in named steps, and one that fails says why", async () => {
    const page = await open();
    await at(page, "show-relay").click();
    await at(page, "test-relay").click();
    await page.locator('[data-step="receive"][data-state="ok"]').waitFor();
    expect(await at(page, "test-steps").locator("li").count()).toBe(6);
    await sample(page, (app) => (app.failingStep = "key"));
    await at(page, "test-relay").click();
    await page.locator('[data-step="key"][data-state="failed"]').waitFor();
    expect(await page.locator('[data-state="skipped"]').count()).toBe(2);
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
    await expect.poll(() => sample(page, (app) => app.view.settings.notifications)).toBe("nothing");
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
    expect(await sample(page, (app) => app.view.groups.length)).toBe(0);
    await page.keyboard.press("Enter");
    await at(page, "groups").waitFor();
    await at(page, "settings").click();
    await at(page, "remove-passphrase").click();
    await at(page, "passphrase").fill("correct horse");
    await at(page, "passphrase-submit").click();
    await at(page, "choose-passphrase").waitFor();
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(await at(page, "settings-page").isVisible()).toBe(true);
  });

  it("lock with the keychain too, and say that it is Sealpost that is locked", async () => {
    const page = await open();
    await page.keyboard.press("Control+l");
    await at(page, "locked").waitFor();
    await at(page, "try-keychain-again").click();
    await page.locator('[data-testid="keychain-trouble"][data-kind="locked"]').waitFor();
  });

  it("lock nobody out who is there: keys and the pointer are told to the app", async () => {
    for (const use of ["key", "pointer", "wheel"]) {
      const page = await open();
      await page.evaluate(() => {
        const { sampleApp } = globalThis as unknown as { sampleApp: SampleApp };
        const call = sampleApp.call.bind(sampleApp);
        sampleApp.call = (command, args) => {
          if (command === "used") document.documentElement.dataset["used"] = "yes";
          return call(command, args);
        };
      });
      expect(await page.locator("html[data-used]").count()).toBe(0);
      if (use === "key") await page.keyboard.press("a");
      else if (use === "pointer") await page.mouse.click(600, 300);
      else await page.mouse.move(600, 300).then(() => page.mouse.wheel(0, 10));
      await page.locator("html[data-used]").waitFor({ state: "attached" });
      await page.close();
    }
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
