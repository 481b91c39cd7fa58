import type { ConnectReason } from "./ConnectReason";
import type { ConnectionState } from "./ConnectionState";

export type ConnectionView = { state: ConnectionState, reason: ConnectReason | null, };
