import { holdInEveryLook } from "./looks";
import { startScenes } from "./scenes_start";

holdInEveryLook(startScenes);
