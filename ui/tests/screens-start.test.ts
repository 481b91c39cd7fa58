import { holdInEveryLook } from "./looks";
import { startScenes } from "./scenes";

holdInEveryLook(startScenes);
