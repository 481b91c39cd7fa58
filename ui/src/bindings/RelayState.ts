export type RelayState = "off" | "starting" | "on" | "failed";
