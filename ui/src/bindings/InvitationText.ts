export type InvitationText = { text: string, };
