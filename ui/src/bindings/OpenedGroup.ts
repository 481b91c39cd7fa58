export type OpenedGroup = { group: string, };
