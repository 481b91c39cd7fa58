export type KeychainTrouble = "missing" | "locked" | "dismissed" | "damaged" | "otherProfile";
