// What is known about an own message on its way, in words. Says never more than the
// relay has told: there are no receipts.

import type { DeliveryState } from "./bindings/DeliveryState";
import type { DeliveryView } from "./bindings/DeliveryView";
import type { FailureReason } from "./bindings/FailureReason";
import type { RecipientView } from "./bindings/RecipientView";
import { t } from "./text";

const stateKeys: Record<DeliveryState, string> = {
  failed: "delivery-failed",
  onRelay: "delivery-on-relay-one",
  sending: "delivery-sending",
  waiting: "delivery-waiting",
};

const reasonKeys: Record<FailureReason, string> = {
  expired: "delivery-expired",
  malformed: "delivery-malformed",
  tooLarge: "delivery-too-large",
};

/** The state of a message in one short line. */
export function deliverySummary(delivery: DeliveryView): string {
  const { state, onRelay, total } = delivery;
  if (total === 0) return t("delivery-nobody");
  const done = onRelay > 0 ? [t("delivery-on-relay", { count: onRelay, total })] : [];
  if (state === "onRelay") return done.join("");
  const open = delivery.recipients.filter((recipient) => recipient.state === state).length;
  if (state === "failed") return [...done, failureText(delivery.reason, onRelay > 0 ? open : 0)].join(" · ");
  if (onRelay === 0) return t(stateKeys[state]);
  return [...done, t(`${stateKeys[state]}.count`, { count: open })].join(" · ");
}

/** The state of one recipient. */
export function recipientSummary(recipient: RecipientView): string {
  if (recipient.state === "failed") return failureText(recipient.reason, 0);
  return t(stateKeys[recipient.state]);
}

/** What to do about a failure; null where none has happened. */
export function failureAction(reason: FailureReason | null): string | null {
  return reason === null ? null : t(`${reasonKeys[reason]}.action`);
}

/** The order in which the detail view lists recipients: trouble first. */
export const stateOrder: readonly DeliveryState[] = ["failed", "waiting", "sending", "onRelay"];

function failureText(reason: FailureReason | null, count: number): string {
  const failed = count > 0 ? t("delivery-failed.count", { count }) : t("delivery-failed");
  return reason === null ? failed : `${failed}: ${t(reasonKeys[reason])}`;
}
