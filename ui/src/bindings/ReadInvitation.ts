export type ReadInvitation = { text: string, };
