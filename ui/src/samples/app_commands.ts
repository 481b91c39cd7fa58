// The sample app's commands of the app as a whole: relay, settings, keys, data.

import type { AppView } from "../bindings/AppView";
import type { DataWork } from "../bindings/DataWork";
import type { GroupView } from "../bindings/GroupView";
import type { SettingsView } from "../bindings/SettingsView";
import { type Args, refusal, type SampleState } from "./app";
import codeSvg from "./code.svg?raw";
import { testStates } from "./relay_test";
import { group, relayOff, relayOn, sceneView } from "./view";

const STEP_MS = 30;
/** How many messages a backup has. */
const MESSAGES = 12_840;
const PASSPHRASE_SIGNS_MIN = 8;
let runs = 0;

export function appCommands(app: SampleState) {
  const setSettings = (change: Partial<SettingsView>): void => app.set({ settings: { ...app.view.settings, ...change } });
  /** What a locked app shows nothing of. */
  let groups: GroupView[] = [];
  return {
    view: () => app.view,
    ready: () => undefined,
    arrived: () => void (app.view.destination = null),
    quit: () => undefined,
    set_relay_running: ({ on }: Args) => app.set({ relay: on === true ? { ...relayOn, waitingBlobs: 0, storedBytes: 0 } : relayOff }),
    set_relay_ports: ({ receivePort, pushPort }: Args) => app.set({ relay: { ...app.view.relay, receivePort: Number(receivePort), pushPort: Number(pushPort) } }),
    relay_code: () => ({ address: relayOn.addresses[0] ?? "", qrSvg: codeSvg }),
    test_relay: () => testRelay(app),
    set_settings: (args: Args) => setSettings(args),
    mute: ({ untilMs }: Args) => setSettings({ mutedUntilMs: untilMs === null ? null : Number(untilMs) }),
    try_keychain_again: () => {
      throw refusal("keychain-unusable", { kind: app.view.keychain?.kind ?? "missing" });
    },
    choose_passphrase: ({ passphrase }: Args) => {
      checkLength(passphrase);
      app.set({ screen: "firstStart", keychain: null, deviceName: "" });
    },
    unlock: ({ passphrase }: Args) => {
      checkPassphrase(passphrase);
      app.set(groups.length === 0 ? sceneView("usual", app.view.language) : { screen: "ready", groups });
    },
    change_passphrase: ({ current, passphrase }: Args) => {
      if (app.view.settings.keyStore === "passphrase") checkPassphrase(current);
      checkLength(passphrase);
      setSettings({ keyStore: "passphrase" });
    },
    remove_passphrase: ({ passphrase }: Args) => {
      checkPassphrase(passphrase);
      setSettings({ keyStore: "keychain" });
    },
    lock: () => {
      groups = app.view.groups;
      const screen = app.view.settings.keyStore === "passphrase" ? { screen: "passphrase" as const } : { screen: "keychain" as const, keychain: { kind: "locked" as const, mayChoosePassphrase: false } };
      app.set({ ...screen, groups: [] });
    },
    back_up: async ({ passphrase }: Args) => {
      checkLength(passphrase);
      const done = await work(app, "backup");
      return { file: done ? "/home/anna/Documents/sealpost.sealpost-backup" : null, groups: app.view.groups.length, messages: MESSAGES, leftOut: app.leftOut };
    },
    export_messages: async () => {
      const done = await work(app, "export");
      return { file: done ? "/home/anna/Documents/sealpost-messages.txt" : null, groups: 2, messages: MESSAGES, damaged: app.damaged };
    },
    choose_backup: () => ({ name: app.backupName }),
    restore_backup: async ({ passphrase }: Args) => {
      if (passphrase !== "correct horse") throw refusal("backup-passphrase-wrong");
      if (!(await work(app, "restore"))) return { isDone: false, groups: 0, messages: 0 };
      const back = { ...group("restored", "Choir", []), status: "notJoined" as const, statusReason: "restored" as const };
      app.messages.set("restored", []);
      app.set({ groups: [...app.view.groups, back], screen: "ready", deviceName: "Laptop" });
      return { isDone: true, groups: 1, messages: MESSAGES };
    },
    cancel_data_work: () => void (app.isCancelled = true),
    support_bundle: () => ({ text: supportText(app.view) }),
    save_support_bundle: () => ({ saved: true }),
  };
}

/** Whether it came to its end. It waits in the midst of it as long as the tests want. */
async function work(app: SampleState, kind: DataWork): Promise<boolean> {
  app.isCancelled = false;
  for (let done = 0; done <= MESSAGES && !app.isCancelled; done += app.isWorkHeld && done > 0 ? 0 : MESSAGES / 4) {
    app.set({ dataWork: { kind, done, total: done === 0 ? null : MESSAGES } });
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  app.set({ dataWork: null });
  return !app.isCancelled;
}

function checkLength(passphrase: unknown): void {
  if ([...String(passphrase)].length < PASSPHRASE_SIGNS_MIN) throw refusal("passphrase-too-short", { min: PASSPHRASE_SIGNS_MIN });
}

function checkPassphrase(passphrase: unknown): void {
  if (passphrase !== "correct horse") throw refusal("passphrase-wrong");
}

function testRelay(app: SampleState): { run: number } {
  const run = (runs += 1);
  testStates(run, app.failingStep, "noAnswer").forEach((state, index) => {
    setTimeout(() => app.emit("relay-test", state), STEP_MS * (index + 1));
  });
  return { run };
}

function supportText(view: AppView): string {
  const lines = [
    `Sealpost ${view.versions.app}, Transport ${view.versions.transport}, End-to-End ${view.versions.endToEnd}`,
    "system: Linux 6.12, x86_64", `tray: ${view.settings.trayPresent}`, `keys: ${view.settings.keyStore}`, `groups: ${view.groups.length}`,
    ...view.groups.map((one, index) => `group ${index + 1}: ${one.status}, ${one.connection.state}, members ${one.members.length + 1}, issues ${one.issueCount}`),
    `relay: ${view.relay.state}, blobs ${view.relay.waitingBlobs}`,
    ...Array.from({ length: 40 }, (_, index) => `12:${10 + index}:07 INFO conn=${index} opened`),
  ];
  return lines.join("\n");
}
