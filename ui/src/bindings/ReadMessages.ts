export type ReadMessages = { group: string, before: number | null, limit: number, };
