import { holdInEveryLook } from "./looks";
import { backupScenes } from "./scenes_backup";

holdInEveryLook(backupScenes);
