import type { DeliveryState } from "./DeliveryState";
import type { FailureReason } from "./FailureReason";

export type RecipientView = { name: string, state: DeliveryState, reason: FailureReason | null, };
