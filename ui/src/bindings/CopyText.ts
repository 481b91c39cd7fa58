export type CopyText = { text: string, };
