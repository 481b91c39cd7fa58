export type SentMessage = { id: string, };
