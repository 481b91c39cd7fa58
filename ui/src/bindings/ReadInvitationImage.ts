export type ReadInvitationImage = { bytesBase64: string, };
