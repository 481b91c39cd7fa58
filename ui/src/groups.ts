// How a group is called and what is said about its connection, in one sentence each.

import type { ConnectReason } from "./bindings/ConnectReason";
import type { GroupView } from "./bindings/GroupView";
import type { StatusReason } from "./bindings/StatusReason";
import { cleanName } from "./names";
import { isJoining } from "./state.svelte";
import { formatSpan, t } from "./text";

const GROUP_NAME_SIGNS_MAX = 128;

const reasonKeys: Record<ConnectReason, string> = {
  nameNotFound: "connection-name-not-found",
  noAnswer: "connection-no-answer",
  noRelay: "connection-no-relay",
  lost: "connection-lost",
  refused: "connection-refused",
  somethingElse: "connection-something-else",
  unavailable: "connection-unavailable",
  wrongKey: "connection-wrong-key",
};

const endedKeys: Record<StatusReason, string> = {
  admissionVoid: "status-admission-void",
  created: "status-not-joined",
  destroyed: "status-destroyed",
  groupFull: "status-group-full",
  joined: "status-not-joined",
  left: "status-left",
  removed: "status-removed",
  restored: "status-restored",
  storeReset: "status-store-reset",
};

/** The same in the list, where there is room for two or three words. */
const endedShortKeys: Record<StatusReason, string> = {
  admissionVoid: "status-short-admission-void",
  created: "status-short-not-joined",
  destroyed: "status-short-destroyed",
  groupFull: "status-short-group-full",
  joined: "status-short-not-joined",
  left: "status-short-left",
  removed: "status-short-removed",
  restored: "status-short-restored",
  storeReset: "status-short-store-reset",
};

const endedAboutKeys: Record<StatusReason, string> = {
  admissionVoid: "ended-about-admission-void",
  created: "ended-about",
  destroyed: "ended-about-destroyed",
  groupFull: "ended-about-group-full",
  joined: "ended-about",
  left: "ended-about-left",
  removed: "ended-about-removed",
  restored: "ended-about-restored",
  storeReset: "ended-about-store-reset",
};

/** The group's name, or what it is called until it has one. */
export function groupName(group: GroupView): string {
  const name = cleanName(group.name, GROUP_NAME_SIGNS_MAX);
  if (name !== "") return name;
  const others = group.members.filter((member) => !member.isMe).map((member) => cleanName(member.name));
  return others.length > 0 ? others.join(", ") : t("group-unnamed");
}

/** Whether a device can be brought into the group: also into one that is still empty. */
export function canPair(group: GroupView): boolean {
  return group.status === "member" || group.status === "new";
}

/** Whether a sentence about the connection is good news, a wait or a trouble. */
export type Mood = "good" | "waiting" | "trouble" | "ended";

export function connectionMood(group: GroupView): Mood {
  if (group.status === "notJoined") return "ended";
  const { state } = group.connection;
  if (state === "connected") return "good";
  return state === "connecting" ? "waiting" : "trouble";
}

/** Where the group stands with its relay, in one sentence. */
export function connectionSentence(group: GroupView): string {
  if (group.status === "notJoined") return t(endedKey(group.statusReason));
  if (group.status === "leaving") return t("status-leaving");
  if (group.status === "destroying") return t("status-destroying");
  const relay = group.relayIsHere ? t("relay-here") : group.relayHost;
  const { state } = group.connection;
  if (state === "connected") return t("connection-connected", { relay });
  if (state === "connecting") return t("connection-connecting", { relay });
  return t(troubleKey(group), { relay });
}

/** What can be done about a relay that isn't reached; null where nothing is wrong. */
export function connectionAction(group: GroupView): string | null {
  return connectionMood(group) === "trouble" ? t(`${troubleKey(group)}.action`) : null;
}

function troubleKey({ connection: { state, reason }, relayIsHere }: GroupView): string {
  if (state === "unsupported") return "connection-unsupported";
  if (relayIsHere && reason === "refused") return "connection-refused-here";
  return reason === null ? "connection-disconnected" : reasonKeys[reason];
}

function endedKey(reason: GroupView["statusReason"]): string {
  return reason === null ? "status-not-joined" : endedKeys[reason];
}

/** The line under a group's name in the list: only trouble is worth more than its size. */
export function groupLine(group: GroupView): string {
  if (isJoining(group)) return t("status-joining");
  if (group.status === "leaving") return t("status-short-leaving");
  if (group.status === "destroying") return t("status-short-destroying");
  if (group.status === "notJoined") return t(endedShortKeys[group.statusReason ?? "joined"]);
  const { state } = group.connection;
  if (state === "connected") return t("group-devices", { count: memberCount(group) });
  if (state === "connecting") return t("connection-short-connecting");
  return t(state === "unsupported" ? "connection-short-unsupported" : "connection-short-none");
}

/** How many members there are, this device included. */
export function memberCount(group: GroupView): number {
  return group.members.filter((member) => !member.isMe).length + 1;
}

/** How many devices a group can hold. */
export const MEMBERS_MAX = 32;

/** By how much this computer's clock is off, in words; null where it isn't known to be. */
export function clockSentence(group: GroupView): string | null {
  const { clockOffMs } = group;
  if (clockOffMs === null) return null;
  return t(clockOffMs > 0 ? "clock-ahead" : "clock-behind", { span: formatSpan(clockOffMs) });
}

/** What is said above the place where nothing can be written any more. */
export function endedSentence(group: GroupView): string {
  if (group.status === "leaving") return t("ended-about-leaving");
  if (group.status === "destroying") return t("ended-about-destroying");
  return t(endedAboutKeys[group.statusReason ?? "joined"]);
}
