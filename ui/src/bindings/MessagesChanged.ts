export type MessagesChanged = { group: string, from: number, };
