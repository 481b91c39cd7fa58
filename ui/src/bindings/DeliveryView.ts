import type { DeliveryState } from "./DeliveryState";
import type { FailureReason } from "./FailureReason";
import type { RecipientView } from "./RecipientView";

export type DeliveryView = { state: DeliveryState, onRelay: number, total: number, keptUntilMs: number | null, reason: FailureReason | null, recipients: Array<RecipientView>, };
