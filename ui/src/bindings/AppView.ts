import type { AppError } from "./AppError";
import type { GroupView } from "./GroupView";
import type { KeychainView } from "./KeychainView";
import type { RelayView } from "./RelayView";
import type { Screen } from "./Screen";
import type { VersionsView } from "./VersionsView";

export type AppView = { screen: Screen, keychain: KeychainView | null, failure: AppError | null, deviceName: string, suggestedDeviceName: string, groups: Array<GroupView>, relay: RelayView, versions: VersionsView, language: string, hasTray: boolean, };
