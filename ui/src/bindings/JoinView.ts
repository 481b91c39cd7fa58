export type JoinView = { words: Array<string>, confirmed: boolean, };
