export type MemberView = { id: string, name: string, fingerprint: string, isMe: boolean, };
