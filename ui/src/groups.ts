// How a group is called and what is said about its connection, in one sentence each.

import type { ConnectReason } from "./bindings/ConnectReason";
import type { GroupView } from "./bindings/GroupView";
import { cleanName } from "./names";
import { isJoining } from "./state.svelte";
import { t } from "./text";

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

/** The group's name, or what it is called until it has one. */
export function groupName(group: GroupView): string {
  const name = cleanName(group.name);
  if (name !== "") return name;
  const others = group.members.filter((member) => !member.isMe).map((member) => cleanName(member.name));
  return others.length > 0 ? others.join(", ") : t("group-unnamed");
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
  if (group.status === "notJoined") return t("status-not-joined");
  if (group.status === "leaving") return t("status-leaving");
  if (group.status === "destroying") return t("status-destroying");
  const relay = group.relayIsHere ? t("relay-here") : group.relayHost;
  const { state, reason } = group.connection;
  if (state === "connected") return t("connection-connected", { relay });
  if (state === "connecting") return t("connection-connecting", { relay });
  if (state === "unsupported") return t("connection-unsupported", { relay });
  return t(reason === null ? "connection-disconnected" : reasonKeys[reason], { relay });
}

/** The line under a group's name in the list: only trouble is worth more than its size. */
export function groupLine(group: GroupView): string {
  if (isJoining(group)) return t("status-joining");
  if (group.status !== "member") return connectionSentence(group);
  const { state } = group.connection;
  if (state === "connected") return t("group-devices", { count: memberCount(group) });
  if (state === "connecting") return t("connection-short-connecting");
  return t(state === "unsupported" ? "connection-short-unsupported" : "connection-short-none");
}

/** How many members there are, this device included. */
export function memberCount(group: GroupView): number {
  return group.members.filter((member) => !member.isMe).length + 1;
}
