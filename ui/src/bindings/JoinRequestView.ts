export type JoinRequestView = { id: string, name: string, words: Array<string>, };
