export type PairingClosed = "expired" | "accepted" | "cancelled";
