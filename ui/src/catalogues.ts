// The catalogues as the window has them: whole. The page for phones is built with the texts
// that it uses instead; see ui/phone/texts.ts.

import { FluentResource } from "@fluent/bundle";
import english from "../../locales/en.ftl?raw";
import german from "../../locales/de.ftl?raw";

export const catalogues: Record<string, FluentResource> = { de: new FluentResource(german), en: new FluentResource(english) };
