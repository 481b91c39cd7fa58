import type { RelayChoice } from "./RelayChoice";

export type StartGroup = { deviceName: string, relay: RelayChoice, };
