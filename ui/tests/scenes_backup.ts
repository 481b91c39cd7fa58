// A backup of the profile and the way back from one, in every state.

import type { Page } from "playwright-core";
import type { AppErrorCode } from "../src/bindings/AppErrorCode";
import { at, play, sample } from "./fixture";
import { after, group, press, settings, type Scene } from "./scene";

const held = async (page: Page) => sample(page, (app) => void (app.isWorkHeld = true));
const submit = async (page: Page) => at(page, "passphrase-submit").click();
const newPassphrase = async (page: Page) => {
  await at(page, "passphrase").fill("lantern piano brass cliff");
  await at(page, "passphrase-again").fill("lantern piano brass cliff");
  await submit(page);
};
const oldPassphrase = (passphrase: string) => async (page: Page) => {
  await at(page, "passphrase").fill(passphrase);
  await submit(page);
};
const progressed = async (page: Page) => {
  await page.locator('[data-testid="data-progress"] progress[value]').waitFor();
};
const shows = (testid: string) => async (page: Page) => at(page, testid).waitFor();
const chosen = settings("restore", "choose-backup");
const restored = after(chosen, oldPassphrase("correct horse"), shows("data-done"));
const refused = (code: AppErrorCode, args: Record<string, string | number> = {}) =>
  after(async (page) => play(page, "refuse", "restore_backup", code, args), chosen, oldPassphrase("correct horse"), shows("error"));

export const backupScenes: Record<string, Scene> = {
  "backup": { address: "", go: settings("backup") },
  "backup-german": { address: "?lang=de", go: settings("backup") },
  "backup-working": { address: "", go: after(held, settings("backup"), newPassphrase, progressed) },
  "backup-done": { address: "", go: after(settings("backup"), newPassphrase, shows("backup-done")) },
  "backup-left-out": { address: "", isVariant: true, go: after(async (page) => sample(page, (app) => void (app.leftOut = 2)), settings("backup"), newPassphrase, shows("backup-left-out")) },
  "backup-disk-full": { address: "", go: after(async (page) => play(page, "refuse", "back_up", "backup-no-room"), settings("backup"), newPassphrase, shows("error")) },
  "backup-cancelled": { address: "", isVariant: true, go: after(held, settings("backup"), newPassphrase, progressed, press("cancel-data-work"), shows("backup-cancelled")) },
  "restore": { address: "", go: settings("restore") },
  "restore-first": { address: "?scene=first", go: press("restore", "choose-backup") },
  "restore-german": { address: "?lang=de", go: chosen },
  "restore-chosen": { address: "", go: chosen },
  "restore-working": { address: "", isVariant: true, go: after(held, chosen, oldPassphrase("correct horse"), progressed) },
  "restore-wrong-passphrase": { address: "", go: after(chosen, oldPassphrase("wrong horse"), shows("error")) },
  "restore-cut-off": { address: "", isVariant: true, go: refused("backup-damaged", { kind: "truncated" }) },
  "restore-foreign": { address: "", isVariant: true, go: refused("backup-foreign") },
  "restore-newer": { address: "", isVariant: true, go: refused("backup-too-new", { found: 9, known: 1 }) },
  "restore-done": { address: "", go: restored },
  "export": { address: "", go: settings("export") },
  "export-done": { address: "", go: after(settings("export"), press("export-choose-place"), shows("export-done")) },
  "export-damaged": { address: "", isVariant: true, go: after(async (page) => sample(page, (app) => void (app.damaged = 1)), settings("export"), press("export-choose-place"), shows("export-damaged")) },
  "export-working": { address: "", isVariant: true, go: after(held, settings("export"), press("export-choose-place"), progressed) },
  "restored-group": { address: "", go: after(restored, group("restored")) },
};
