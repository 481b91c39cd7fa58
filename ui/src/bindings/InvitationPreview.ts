export type InvitationPreview = { relayHost: string | null, relayText: string | null, needsRelay: boolean, relayWords?: string, };
