export type VersionsView = { app: string, transport: number, endToEnd: number, };
