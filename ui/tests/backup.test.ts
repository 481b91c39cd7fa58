// A backup and the way back, as a person does it, also by keyboard alone.

import { describe, expect, it } from "vitest";
import { at, play, sample, useWindows } from "./fixture";

const open = useWindows();

describe("a backup", () => {
  it("is made by keyboard alone, with a passphrase typed twice, and says where it is", async () => {
    const page = await open();
    await at(page, "settings").focus();
    await page.keyboard.press("Enter");
    await at(page, "backup").focus();
    await page.keyboard.press("Enter");
    await at(page, "backup-dialog").waitFor();
    // The cursor stands in the field already.
    await page.keyboard.type("short");
    expect(await at(page, "passphrase-strength").innerText()).toBe("Too short yet.");
    await page.keyboard.type(" lantern piano cliff");
    expect(await at(page, "passphrase-strength").innerText()).toBe("Good.");
    await page.keyboard.press("Tab");
    await page.keyboard.type("something else");
    expect(await at(page, "passphrase-submit").isDisabled()).toBe(true);
    await at(page, "passphrase-again").fill("short lantern piano cliff");
    await page.keyboard.press("Enter");
    await at(page, "backup-done").waitFor();
    expect(await at(page, "backup-done").innerText()).toContain("12,840 messages");
    expect(await at(page, "backup-dialog").innerText()).toContain("/home/anna/Documents/sealpost.sealpost-backup");
    await page.keyboard.press("Escape");
    await at(page, "backup-dialog").waitFor({ state: "detached" });
    expect(await at(page, "backup").evaluate((button) => button === document.activeElement)).toBe(true);
  });

  it("is cancelled by its button and by closing its dialog", async () => {
    const page = await open();
    await sample(page, (app) => void (app.isWorkHeld = true));
    await at(page, "settings").click();
    for (const way of ["cancel-data-work", "close-dialog"]) {
      await at(page, "backup").click();
      await at(page, "passphrase").fill("four plain words");
      await at(page, "passphrase-again").fill("four plain words");
      await at(page, "passphrase-submit").click();
      await page.locator("progress[value]").waitFor();
      expect(await at(page, "passphrase").isVisible()).toBe(false);
      expect(await at(page, "cancel-data-work").evaluate((button) => button === document.activeElement)).toBe(true);
      await at(page, way).click();
      await page.waitForFunction(() => (globalThis as unknown as { sampleApp: { view: { dataWork: unknown } } }).sampleApp.view.dataWork === null);
      if (way === "cancel-data-work") {
        await at(page, "backup-cancelled").waitFor();
        await page.keyboard.press("Escape");
      }
      await at(page, "backup-dialog").waitFor({ state: "detached" });
    }
  });

  it("says what kept it from being written, and keeps what was typed", async () => {
    const page = await open();
    await play(page, "refuse", "back_up", "backup-no-room");
    await at(page, "settings").click();
    await at(page, "backup").click();
    await at(page, "passphrase").fill("four plain words");
    await at(page, "passphrase-again").fill("four plain words");
    await at(page, "passphrase-submit").click();
    await page.locator('[data-code="backup-no-room"]').waitFor();
    expect(await at(page, "passphrase").inputValue()).toBe("four plain words");
  });
});

describe("a restore", () => {
  it("starts on the first screen and ends among the groups", async () => {
    const page = await open("?scene=first");
    await at(page, "restore").click();
    expect(await at(page, "passphrase").count()).toBe(0);
    await at(page, "choose-backup").click();
    expect(await at(page, "backup-name").innerText()).toBe("sealpost.sealpost-backup");
    await at(page, "passphrase").fill("wrong horse");
    await page.keyboard.press("Enter");
    await page.locator('[data-code="backup-passphrase-wrong"]').waitFor();
    await at(page, "passphrase").fill("correct horse");
    await page.keyboard.press("Enter");
    await page.locator('[data-group="restored"]').waitFor();
    await page.locator("dialog").waitFor({ state: "detached" });
    await at(page, "ended-group").waitFor();
    expect(await at(page, "ended-group").innerText()).toContain("came out of a backup");
  });

  it("waits for a file, and keeps the one it has when none is chosen", async () => {
    const page = await open();
    await sample(page, (app) => void (app.backupName = null));
    await at(page, "settings").click();
    await at(page, "restore").click();
    await at(page, "choose-backup").click();
    expect(await at(page, "passphrase").count()).toBe(0);
    await sample(page, (app) => void (app.backupName = "old.sealpost-backup"));
    await at(page, "choose-backup").click();
    await at(page, "passphrase").waitFor();
    await sample(page, (app) => void (app.backupName = null));
    await at(page, "choose-backup").click();
    expect(await at(page, "backup-name").innerText()).toBe("old.sealpost-backup");
  });
});

describe("an export", () => {
  it("says that it is in the clear, where it is, and what could not be read", async () => {
    const page = await open();
    await sample(page, (app) => void (app.damaged = 1));
    await at(page, "settings").click();
    await at(page, "export").click();
    expect(await at(page, "export-dialog").innerText()).toContain("not sealed");
    await at(page, "export-choose-place").click();
    await at(page, "export-done").waitFor();
    expect(await at(page, "export-dialog").innerText()).toContain("/home/anna/Documents/sealpost-messages.txt");
    expect(await at(page, "export-damaged").innerText()).toContain("One group is damaged");
  });

  it("is one step from a backup in which groups are missing", async () => {
    const page = await open();
    await sample(page, (app) => void (app.leftOut = 2));
    await at(page, "settings").click();
    await at(page, "backup").click();
    await at(page, "passphrase").fill("four plain words");
    await at(page, "passphrase-again").fill("four plain words");
    await at(page, "passphrase-submit").click();
    await at(page, "backup-export").click();
    await at(page, "export-dialog").waitFor();
    expect(await at(page, "backup-dialog").count()).toBe(0);
  });

  it("stands beside a restore where no group can be opened, and only where the data can", async () => {
    const page = await open("?scene=failed:storage");
    await at(page, "export").click();
    await at(page, "export-choose-place").click();
    await at(page, "export-done").waitFor();
    await at(page, "export-close").click();
    await at(page, "restore").click();
    await at(page, "choose-backup").click();
    await at(page, "passphrase").fill("correct horse");
    await page.keyboard.press("Enter");
    await page.locator('[data-group="restored"]').waitFor();
    const shut = await open("?scene=failed:profile-damaged");
    await at(shut, "quit").waitFor();
    expect(await at(shut, "restore").count()).toBe(0);
    expect(await at(shut, "export").count()).toBe(0);
  });
});
