import { holdInEveryLook } from "./looks";
import { phoneScenes } from "./scenes_phones";

holdInEveryLook(phoneScenes);
