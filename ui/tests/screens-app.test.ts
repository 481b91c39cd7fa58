import { holdInEveryLook } from "./looks";
import { appScenes } from "./scenes_app";

holdInEveryLook(appScenes);
