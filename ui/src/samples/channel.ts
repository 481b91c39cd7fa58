// A stand-in for the app, for a browser and for tests: it answers every command from
// sample data and plays the other devices. The scene stands in the page's address:
// ?scene=first, ?scene=keychain:locked, ?scene=join … and ?lang=de, ?size=50000.

import type { Channel } from "../api";
import type { CommandName } from "../bindings/names";
import { type Args, SampleState } from "./app";
import { appCommands } from "./app_commands";
import { groupCommands } from "./group_commands";
import { messageCommands } from "./message_commands";
import { LINK, pairingCommands } from "./pairing_commands";
import { phoneCommands } from "./phone_commands";

/** The size of samples/code.svg without its border. */
const CODE_MODULES = 61;
const ANSWER_MS = 5;
const MESSAGES = 10_000;

export function sampleChannel(): Channel {
  const query = new URLSearchParams(location.search);
  const app = new SampleApp(query.get("scene") ?? "usual", query.get("lang") ?? "en", Number(query.get("size") ?? MESSAGES));
  // Tests and the console may play the other devices through it.
  Object.assign(window, { sampleApp: app });
  return app;
}

export class SampleApp extends SampleState implements Channel {
  /** What the sample code says, for those who read it off a screenshot. */
  readonly codeText = LINK;
  readonly codeModules = CODE_MODULES;
  readonly #commands: Record<CommandName, (args: Args) => unknown>;

  constructor(scene: string, language: string, size: number) {
    super(scene, language, size);
    this.#commands = { ...pairingCommands(this), ...messageCommands(this), ...groupCommands(this), ...phoneCommands(this), ...appCommands(this) };
  }

  async call(command: CommandName, args: object): Promise<unknown> {
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    const refused = this.refused.get(command);
    if (refused !== undefined) throw refused;
    return structuredClone(await this.#commands[command]({ ...args }));
  }
}
