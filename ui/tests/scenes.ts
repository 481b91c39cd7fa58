// Every screen and state of the window.

import type { Scene } from "./scene";
import { appScenes } from "./scenes_app";
import { backupScenes } from "./scenes_backup";
import { groupScenes } from "./scenes_group";
import { phoneScenes } from "./scenes_phones";
import { startScenes } from "./scenes_start";

export const allScenes: Record<string, Scene> = { ...startScenes, ...groupScenes, ...appScenes, ...backupScenes, ...phoneScenes };
