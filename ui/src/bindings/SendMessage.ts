export type SendMessage = { group: string, text: string, };
