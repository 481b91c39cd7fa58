export type SetRelayRunning = { on: boolean, };
