export type ConnectionState = "connecting" | "connected" | "disconnected" | "unsupported";
