export type MarkRead = { group: string, position: number, };
