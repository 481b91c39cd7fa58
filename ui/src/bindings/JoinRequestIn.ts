export type JoinRequestIn = { group: string, request: string, };
