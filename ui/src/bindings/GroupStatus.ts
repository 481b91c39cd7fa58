export type GroupStatus = "notJoined" | "pendingJoin" | "member" | "leaving" | "destroying";
