// Sample views of the app: one that works, and one for each screen and state.

import type { AppErrorCode } from "../bindings/AppErrorCode";
import type { AppView } from "../bindings/AppView";
import type { CohesionView } from "../bindings/CohesionView";
import type { ConnectionView } from "../bindings/ConnectionView";
import type { ConnectReason } from "../bindings/ConnectReason";
import type { GroupView } from "../bindings/GroupView";
import type { JoinView } from "../bindings/JoinView";
import type { KeychainTrouble } from "../bindings/KeychainTrouble";
import type { MemberView } from "../bindings/MemberView";
import type { RelayView } from "../bindings/RelayView";
import type { SettingsView } from "../bindings/SettingsView";
import { noPhones, samplePhones } from "./phone_commands";

export const words = ["harbor", "velvet", "cactus", "march"];
export const otherWords = ["lemon", "orbit", "patient", "quilt"];
export const MAX_BODY_BYTES = 61_440;

const LONG_NAME = "Grandmother’s kitchen tablet with the cracked corner and blue case";

const DAY_MS = 86_400_000;

export const settings: SettingsView = {
  notifications: "who",
  mutedUntilMs: null,
  startAtLogin: false,
  startHidden: false,
  theme: "system",
  language: "system",
  startRelayWithApp: true,
  autoLock: "never",
  autoLockMinutes: 15,
  keyStore: "keychain",
  dataDirectory: "/home/anna/.local/share/app.sealpost.desktop/default",
  profile: "default",
  trayPresent: true,
};

export function member(id: string, name: string, isMe = false): MemberView {
  const addedAtMs = Date.now() - 20 * DAY_MS - id.length * DAY_MS;
  const fingerprint = `${id.padEnd(4, "x").slice(0, 4)} 7Q2M 9KDA`.toUpperCase();
  return { id, name, fingerprint, isMe, addedBy: isMe ? null : "Laptop", addedAtMs, lastMessageAtMs: id === "desktop" ? null : Date.now() - id.length * 3_600_000 };
}

export function group(id: string, name: string, others: MemberView[]): GroupView {
  return {
    id,
    name,
    status: "member",
    statusReason: null,
    connection: { state: "connected", reason: null },
    relayHost: "192.168.178.24",
    relayIsHere: true,
    me: member("me", "Laptop", true),
    members: others,
    pairing: null,
    pairingClosed: null,
    join: null,
    unread: 0,
    lastPosition: 0,
    maxBodyBytes: MAX_BODY_BYTES,
    readPosition: 0,
    issueCount: 0,
    draft: "",
    clockOffMs: null,
    staleRequest: null,
    droppedAdmission: null,
    cohesion: "whole",
  };
}

export const relayOff: RelayView = {
  state: "off",
  addresses: [],
  receivePort: 0,
  pushPort: 0,
  waitingBlobs: 0,
  storedBytes: 0,
  devices: 0,
  firstExpiryMs: null,
  failure: null,
};

const key = "38ab664bd86f77d7e66bdd9ae0792913a94fd8b33a1260027e4b46c1f4884c67";

export const relayOn: RelayView = {
  state: "on",
  addresses: [`trueseal://${key}@192.168.178.24:7700?push=7701`, `trueseal://${key}@laptop.local:7700?push=7701`],
  receivePort: 7700,
  pushPort: 7701,
  waitingBlobs: 12,
  storedBytes: 148_220,
  devices: 3,
  firstExpiryMs: Date.now() + 9 * DAY_MS,
  failure: null,
};

function base(screen: AppView["screen"], language: string): AppView {
  return {
    screen,
    keychain: null,
    failure: null,
    deviceName: screen === "firstStart" ? "" : "Laptop",
    suggestedDeviceName: "Laptop",
    groups: [],
    relay: relayOff,
    phones: noPhones,
    versions: { app: "0.1.0", transport: 1, endToEnd: 1 },
    language,
    hasTray: true,
    settings,
    issueCount: 0,
    destination: null,
    dataWork: null,
    isDataOpen: true,
  };
}

function sampleGroups(): GroupView[] {
  const devices = group("devices", "My devices", [member("pixel", "Pixel 9"), member("desktop", "Desktop")]);
  const family = group("family", "Family", [member("anna", "Anna"), member("jonas", "Jonas"), member("amira", "أميرة"), member("long", LONG_NAME)]);
  family.unread = 3;
  const many = group("many", "Ten thousand", [member("anna", "Anna"), member("wei", "小伟"), member("jonas", "Jonas")]);
  many.connection = { state: "disconnected", reason: "noAnswer" };
  many.relayHost = "relay.example.org";
  many.relayIsHere = false;
  const states = group("states", "Every state", [member("anna", "Anna"), member("jonas", "Jonas"), member("wei", "小伟")]);
  states.connection = { state: "connecting", reason: null };
  const full = group("full", `The allotment gardeners’ association of the northern river bank, section ${LONG_NAME}`, Array.from({ length: 31 }, (_, index) => member(`m${index}`, index % 5 === 0 ? `${LONG_NAME} ${index}` : `Device ${index}`)));
  full.unread = 1204;
  const empty = group("empty", "", [member("pixel", "Pixel 9")]);
  const alone = group("alone", "New plans", []);
  const left = group("left", "Old flat share", [member("anna", "Anna")]);
  left.status = "notJoined";
  left.statusReason = "left";
  const removed = group("removed", "Band", [member("jonas", "Jonas")]);
  removed.status = "notJoined";
  removed.statusReason = "removed";
  const destroyed = group("destroyed", "Surprise party", [member("anna", "Anna")]);
  destroyed.status = "notJoined";
  destroyed.statusReason = "destroyed";
  const leaving = group("leaving", "Book club", [member("anna", "Anna")]);
  leaving.status = "leaving";
  leaving.connection = { state: "disconnected", reason: "refused" };
  states.draft = "A thought that was begun yesterday";
  states.issueCount = 15;
  many.clockOffMs = -3 * 3_600_000;
  return [devices, family, many, states, full, empty, alone, left, removed, destroyed, leaving];
}

/** The view that a scene begins with; an unknown scene begins with the usual one. */
export function sceneView(scene: string, language: string): AppView {
  const [name, detail] = scene.split(":");
  if (name === "first") return base("firstStart", language);
  if (name === "starting") return base("starting", language);
  if (name === "passphrase") return base("passphrase", language);
  if (name === "failed") {
    return { ...base("failed", language), isDataOpen: detail === "storage", failure: { code: (detail ?? "profile-in-use") as AppErrorCode, args: { found: 3, known: 2 } } };
  }
  if (name === "keychain") {
    const kind = (detail ?? "missing") as KeychainTrouble;
    return { ...base("keychain", language), keychain: { kind, mayChoosePassphrase: kind === "missing" || kind === "dismissed" } };
  }
  const view = { ...base("ready", language), groups: sampleGroups(), relay: relayOn, issueCount: 15 };
  if (name === "quiet") {
    view.groups.forEach((one) => (one.issueCount = 0));
    view.issueCount = 0;
  }
  if (name === "picture") {
    const kept = ["devices", "family", "many", "alone"].flatMap((id) => view.groups.filter((one) => one.id === id));
    view.groups = kept.map((one) => (one.id === "many" ? { ...one, name: "Allotment", clockOffMs: null, issueCount: 3 } : one));
    view.issueCount = 3;
  }
  if (name === "phones") view.phones = samplePhones(detail);
  if (name === "phones" && detail === "alone") view.groups.forEach((one) => (one.status = one.id === "alone" ? "new" : one.status));
  if (name === "phones" && detail === "relay-off") setRelay(view, relayOff);
  if (name === "passphrase-kept") view.settings = { ...settings, keyStore: "passphrase", autoLock: "afterMinutes", trayPresent: false, mutedUntilMs: Date.now() + 3_600_000 };
  if (name === "fresh-member") view.groups.forEach((one) => one.members.forEach((other) => (other.addedAtMs = Date.now() - 60_000)));
  if (name === "apart") view.groups.forEach((one) => (one.cohesion = (detail ?? "cutOff") as CohesionView));
  if (name === "one-closed") view.failure = { code: "storage", args: { kind: "damaged" } };
  if (name === "disk-full") view.failure = { code: "storage", args: { kind: "full" } };
  if (name === "relay-off") setRelay(view, relayOff);
  if (name === "relay-starting") setRelay(view, { ...relayOff, state: "starting" }, { state: "connecting", reason: null });
  if (name === "relay-failed") setRelay(view, { ...relayOff, state: "failed", failure: { code: "relay-port-in-use", args: { port: 7700 } } });
  if (name === "no-network") view.relay = { ...relayOn, addresses: [] };
  if (name === "connection") view.groups.forEach((one) => Object.assign(one, { connection: connectionOf(detail) }, detail === "noRelay" ? { relayHost: "", relayIsHere: false } : {}));
  if (name === "status") view.groups.forEach((one) => Object.assign(one, detail === "destroying" ? { status: "destroying" } : { status: "notJoined", statusReason: detail }));
  if (name === "dropped") view.groups.forEach((one) => (one.droppedAdmission = { name: "Pixel 9", reason: detail === "removed" ? "removed" : "groupFull" }));
  if (name === "join" || name === "join-wait") view.groups.unshift(joiningGroup(name === "join-wait", detail));
  return view;
}

/** Without the relay on this computer, the groups that use it are cut off. */
function setRelay(view: AppView, relay: RelayView, connection: ConnectionView = { state: "disconnected", reason: "refused" }): void {
  view.relay = relay;
  for (const one of view.groups) if (one.relayIsHere) one.connection = connection;
}

function connectionOf(detail: string | undefined): ConnectionView {
  if (detail === "unsupported") return { state: "unsupported", reason: null };
  return { state: "disconnected", reason: (detail ?? null) as ConnectReason | null };
}

export function joiningGroup(confirmed: boolean, progress?: string): GroupView {
  const joining = group("joining", "", []);
  joining.status = "pendingJoin";
  joining.relayIsHere = false;
  joining.join = progress === "preparing" ? null : { words, confirmed, progress: (progress ?? "onRelay") as JoinView["progress"] };
  return joining;
}
