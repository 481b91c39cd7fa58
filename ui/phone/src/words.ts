// States in words: the link's, a text's, a message's. Says no more than is known.

import { cleanName } from "../../src/names";
import { formatSpan, t } from "../../src/text";
import type { Delivery } from "./feed";
import { UNCONFIRMED_MS } from "./link/limit";
import type { LinkTrouble } from "./link/step";
import type { ToldFailure } from "./link/pairing";
import type { PhoneView } from "./shell/view";
import type { OwnText } from "./shell/delivered";

/** A clock that is off by more than this is worth a word. */
const CLOCK_OFF_MS = 5 * 60_000;

export interface Line {
  text: string;
  tone: "quiet" | "caution" | "bad";
  /** What can be done about it here. */
  action: "retry" | "reload" | "unpair" | null;
}

const troubleKeys: Record<LinkTrouble, string> = {
  busy: "page-busy",
  misbehaves: "page-misbehaves",
  notUnderstood: "page-not-understood",
  refusedAddress: "page-refused-address",
  unreachable: "page-unreachable",
  wrongToken: "page-wrong-token",
};

const failureKeys: Record<ToldFailure, string> = {
  different: "page-failed-different",
  ended: "page-failed-ended",
  expired: "page-failed-expired",
  forged: "page-failed-forged",
  otherDevice: "page-failed-other",
  refused: "page-failed-refused",
  wrongToken: "page-failed-token",
};

const reasonKeys: Record<string, string> = {
  expired: "delivery-expired",
  groupGone: "page-refused-gone",
  malformed: "delivery-malformed",
  notMember: "page-refused-not-member",
  notShared: "page-refused-not-shared",
  tooLarge: "delivery-too-large",
};

export function failureKey(failure: ToldFailure): string {
  return failureKeys[failure];
}

/** What stands between this phone and the desktop, in one line; null when nothing does. */
export function linkLine(view: PhoneView, desktop: string, relay: string, isOnline: boolean, nowMs: number): Line | null {
  const { status } = view;
  if (status === null) return null;
  if (!isOnline && !status.isConnected) return { text: t("page-offline"), tone: "caution", action: null };
  if (status.trouble === "wrongToken") return { text: t("page-wrong-token"), tone: "bad", action: "unpair" };
  if (status.trouble === "notUnderstood") return { text: t("page-not-understood"), tone: "bad", action: "reload" };
  if (status.trouble !== null) return { text: t(troubleKeys[status.trouble], { relay }), tone: "caution", action: "retry" };
  if (status.lost) return { text: t("page-link-lost", { desktop }), tone: "bad", action: "unpair" };
  if (!status.isConnected) return { text: t("page-connecting"), tone: "quiet", action: null };
  if (status.unconfirmedSinceMs !== null) {
    const isLong = nowMs - status.unconfirmedSinceMs >= UNCONFIRMED_MS;
    return isLong ? { text: t("page-unconfirmed-long", { desktop }), tone: "bad", action: "unpair" } : { text: t("page-unconfirmed", { desktop }), tone: "caution", action: null };
  }
  if (status.blockedSinceMs !== null) return { text: t("page-blocked", { desktop }), tone: "caution", action: "retry" };
  if (status.newerPeer) return { text: t("page-newer", { desktop }), tone: "caution", action: "reload" };
  if (Math.abs(view.clockAheadMs) < CLOCK_OFF_MS) return null;
  const span = formatSpan(view.clockAheadMs);
  return { text: t(view.clockAheadMs > 0 ? "page-clock-ahead" : "page-clock-behind", { span }), tone: "caution", action: null };
}

/** How far a text of this phone has come. */
export function textLine({ state, reason }: OwnText, desktop: string): string {
  if (state === "waiting") return t("page-text-waiting");
  if (state === "stored") return t("page-text-stored", { desktop });
  if (state === "received") return t("page-text-received", { desktop });
  const key = reasonKeys[reason ?? ""];
  return t("page-text-failed", { reason: key === undefined ? t("page-refused-other", { desktop }) : t(key, { desktop }) });
}

/** How far a message of the desktop has come. */
export function deliveryLine({ state, onRelay, total, reason }: Delivery): string {
  if (total === 0) return t("delivery-nobody");
  if (state === "failed") {
    const key = reasonKeys[reason ?? ""];
    return key === undefined ? t("delivery-failed") : `${t("delivery-failed")}: ${t(key)}`;
  }
  if (onRelay > 0) return t("delivery-on-relay", { count: onRelay, total });
  return state === "sending" ? t("delivery-sending") : t("delivery-waiting");
}

/** The desktop's name, or a word for it. */
export function desktopName(name: string): string {
  return cleanName(name) || t("page-pairing-computer");
}
