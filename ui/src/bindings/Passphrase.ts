export type Passphrase = { passphrase: string, };
