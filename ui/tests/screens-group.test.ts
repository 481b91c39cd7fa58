import { holdInEveryLook } from "./looks";
import { groupScenes } from "./scenes_group";

holdInEveryLook(groupScenes);
