export type JoinGroup = { deviceName: string, invitation: string, relayAddress: string | null, };
