export type ConnectReason = "nameNotFound" | "refused" | "noAnswer" | "somethingElse" | "wrongKey" | "noRelay" | "offline";
