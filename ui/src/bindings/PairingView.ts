import type { JoinRequestView } from "./JoinRequestView";

export type PairingView = { link: string, qrSvg: string, expiresAtMs: number, requests: Array<JoinRequestView>, };
