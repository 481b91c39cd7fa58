export type StatusReason = "created" | "joined" | "left" | "removed" | "destroyed" | "storeReset";
