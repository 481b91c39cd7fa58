import type { KeychainTrouble } from "./KeychainTrouble";

export type KeychainView = { kind: KeychainTrouble, mayChoosePassphrase: boolean, };
