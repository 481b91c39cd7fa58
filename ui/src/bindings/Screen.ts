export type Screen = "starting" | "keychain" | "passphrase" | "firstStart" | "ready" | "failed";
