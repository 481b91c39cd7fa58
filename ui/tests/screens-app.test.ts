import { holdInEveryLook } from "./looks";
import { appScenes } from "./scenes";

holdInEveryLook(appScenes);
