export type DeliveryState = "waiting" | "sending" | "onRelay" | "failed";
