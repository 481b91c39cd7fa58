import { holdInEveryLook } from "./looks";
import { groupScenes } from "./scenes";

holdInEveryLook(groupScenes);
