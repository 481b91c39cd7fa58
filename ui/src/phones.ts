// The words about phones: how a link stands, and how a pairing ended. Pure.

import type { GroupView } from "./bindings/GroupView";
import type { PhonePairingClosed } from "./bindings/PhonePairingClosed";
import type { PhoneState } from "./bindings/PhoneState";
import type { PhoneTrouble } from "./bindings/PhoneTrouble";
import type { PhoneView } from "./bindings/PhoneView";
import { cleanName } from "./names";
import { formatAgo, formatDate, t } from "./text";

const stateKeys: Record<PhoneState, string | null> = {
  linked: null,
  unconfirmed: "phone-unconfirmed",
  lost: "phone-lost",
  unpairedThere: "phone-unpaired-there",
  broken: "phone-broken",
};

const troubleKeys: Record<PhoneTrouble, string> = {
  full: "phone-full",
  misbehaves: "phone-misbehaves",
  newer: "phone-newer",
  refused: "phone-refused",
  storage: "phone-storage",
};

const closedKeys: Record<PhonePairingClosed, string> = {
  paired: "phone-closed-paired",
  expired: "phone-closed-expired",
  cancelled: "phone-closed-cancelled",
  declined: "phone-closed-declined",
  twoDevices: "phone-closed-two-devices",
  mismatch: "phone-closed-mismatch",
  failed: "phone-closed-failed",
  phoneGaveUp: "phone-closed-phone-gave-up",
  doorClosed: "phone-closed-door-closed",
  addressChanged: "phone-closed-address-changed",
};

/** What a phone is called, or what it is called without a name. */
export function phoneName(phone: Pick<PhoneView, "name">): string {
  return cleanName(phone.name) || t("phone-unnamed");
}

/** When it was heard of last, in one sentence. */
export function contactSentence({ lastContactMs }: PhoneView, nowMs: number): string {
  return lastContactMs === null ? t("phone-contact-none") : t("phone-contact", { ago: formatAgo(lastContactMs, nowMs) });
}

/** Whether phones are told of a group only once a second device is in it: there is nothing to see before. */
export function isBeforePhones(group: Pick<GroupView, "status" | "lastPosition">): boolean {
  const isIn = ["member", "leaving", "destroying"].includes(group.status);
  return !isIn && group.lastPosition === 0;
}

/** What is wrong with the link to a phone, and what to do; the worst first. */
export function phoneTroubles(phone: PhoneView, hasOpenDoor: boolean): string[] {
  const hasNeverCome = phone.state === "unconfirmed" && phone.lastContactMs === null;
  const state = hasNeverCome ? "phone-never-came" : stateKeys[phone.state];
  const date = formatDate(phone.sinceMs ?? 0);
  const hasEnded = phone.state === "unpairedThere" || phone.state === "broken";
  return [
    ...(state === null ? [] : [t(state, { date })]),
    ...(phone.addressGone === null || !hasOpenDoor || hasEnded ? [] : [t("phone-address-gone", { address: phone.addressGone })]),
    ...(phone.trouble === null ? [] : [t(troubleKeys[phone.trouble])]),
  ];
}

/** Whether pairing it again is the way out. */
export function wantsPairing(phone: PhoneView, hasOpenDoor: boolean): boolean {
  return phone.state !== "linked" || (phone.addressGone !== null && hasOpenDoor);
}

export function closedSentence(end: PhonePairingClosed): string {
  return t(closedKeys[end]);
}

export function closedAbout(end: PhonePairingClosed): string {
  return t(`${closedKeys[end]}.about`);
}
