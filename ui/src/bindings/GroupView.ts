import type { ConnectionView } from "./ConnectionView";
import type { GroupStatus } from "./GroupStatus";
import type { JoinView } from "./JoinView";
import type { MemberView } from "./MemberView";
import type { PairingClosed } from "./PairingClosed";
import type { PairingView } from "./PairingView";

export type GroupView = { id: string, name: string, status: GroupStatus, connection: ConnectionView, relayHost: string, relayIsHere: boolean, me: MemberView, members: Array<MemberView>, pairing: PairingView | null, pairingClosed: PairingClosed | null, join: JoinView | null, unread: number, lastPosition: number, maxBodyBytes: number, };
