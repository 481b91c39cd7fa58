export type RelayChoice = { "kind": "thisComputer" } | { "kind": "address", address: string, };
