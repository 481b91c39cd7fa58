export type FailureReason = "tooLarge" | "malformed" | "expired";
