export type InGroup = { group: string, };
