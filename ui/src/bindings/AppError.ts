import type { AppErrorCode } from "./AppErrorCode";

export type AppError = { code: AppErrorCode, args: Record<string, string | number>, };
