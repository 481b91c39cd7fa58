import type { AppError } from "./AppError";
import type { RelayState } from "./RelayState";

export type RelayView = { state: RelayState, addresses: Array<string>, receivePort: number, pushPort: number, waitingBlobs: number, storedBytes: number, devices: number, failure: AppError | null, };
