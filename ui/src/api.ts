// The border to the app: one typed function for each command and each event.
// Owns no rule; what the app answers is passed on as it is.

import type { AppError } from "./bindings/AppError";
import type { AppView } from "./bindings/AppView";
import type { InvitationPreview } from "./bindings/InvitationPreview";
import type { InvitationText } from "./bindings/InvitationText";
import type { JoinGroup } from "./bindings/JoinGroup";
import type { MessagePage } from "./bindings/MessagePage";
import type { MessagesChanged } from "./bindings/MessagesChanged";
import type { OpenedGroup } from "./bindings/OpenedGroup";
import type { ReadMessages } from "./bindings/ReadMessages";
import type { CommandName, EventName } from "./bindings/names";
import type { SentMessage } from "./bindings/SentMessage";
import type { StartGroup } from "./bindings/StartGroup";

/** Carries commands to the app and events back: Tauri, or sample data. */
export interface Channel {
  call(command: CommandName, args: object): Promise<unknown>;
  listen(event: EventName, handler: (payload: unknown) => void): Promise<void>;
}

export interface Api {
  view(): Promise<AppView>;
  onView(handler: (view: AppView) => void): Promise<void>;
  onMessages(handler: (change: MessagesChanged) => void): Promise<void>;
  startGroup(args: StartGroup): Promise<OpenedGroup>;
  readInvitation(text: string): Promise<InvitationPreview>;
  readInvitationImage(bytesBase64: string): Promise<InvitationText>;
  joinGroup(args: JoinGroup): Promise<OpenedGroup>;
  wordsSame(group: string): Promise<void>;
  wordsDifferent(group: string): Promise<void>;
  cancelJoin(group: string): Promise<void>;
  startPairing(group: string): Promise<void>;
  cancelPairing(group: string): Promise<void>;
  acceptRequest(group: string, request: string): Promise<void>;
  dismissRequest(group: string, request: string): Promise<void>;
  sendMessage(group: string, text: string): Promise<SentMessage>;
  messages(args: ReadMessages): Promise<MessagePage>;
  markRead(group: string, position: number): Promise<void>;
  setRelayRunning(on: boolean): Promise<void>;
  tryKeychainAgain(): Promise<void>;
  choosePassphrase(passphrase: string): Promise<void>;
  unlock(passphrase: string): Promise<void>;
  copyText(text: string): Promise<void>;
  quit(): Promise<void>;
}

export function makeApi(channel: Channel): Api {
  // The generated types describe what the Rust side serialises, so this one cast holds.
  const call = async <Answer>(command: CommandName, args: object = {}): Promise<Answer> => {
    try {
      return (await channel.call(command, args)) as Answer;
    } catch (thrown) {
      throw asAppError(thrown);
    }
  };
  const listen = <Payload>(event: EventName, handler: (payload: Payload) => void): Promise<void> =>
    channel.listen(event, (payload) => handler(payload as Payload));
  return {
    view: () => call("view"),
    onView: (handler) => listen("view", handler),
    onMessages: (handler) => listen("messages", handler),
    startGroup: (args) => call("start_group", args),
    readInvitation: (text) => call("read_invitation", { text }),
    readInvitationImage: (bytesBase64) => call("read_invitation_image", { bytesBase64 }),
    joinGroup: (args) => call("join_group", args),
    wordsSame: (group) => call("words_same", { group }),
    wordsDifferent: (group) => call("words_different", { group }),
    cancelJoin: (group) => call("cancel_join", { group }),
    startPairing: (group) => call("start_pairing", { group }),
    cancelPairing: (group) => call("cancel_pairing", { group }),
    acceptRequest: (group, request) => call("accept_request", { group, request }),
    dismissRequest: (group, request) => call("dismiss_request", { group, request }),
    sendMessage: (group, text) => call("send_message", { group, text }),
    messages: (args) => call("messages", args),
    markRead: (group, position) => call("mark_read", { group, position }),
    setRelayRunning: (on) => call("set_relay_running", { on }),
    tryKeychainAgain: () => call("try_keychain_again"),
    choosePassphrase: (passphrase) => call("choose_passphrase", { passphrase }),
    unlock: (passphrase) => call("unlock", { passphrase }),
    copyText: (text) => call("copy_text", { text }),
    quit: () => call("quit"),
  };
}

/** Whatever a command was refused with, as an error that has words. */
export function asAppError(thrown: unknown): AppError {
  if (typeof thrown === "object" && thrown !== null && "code" in thrown) {
    const { code } = thrown;
    const args = "args" in thrown && typeof thrown.args === "object" ? thrown.args : {};
    if (typeof code === "string") return { code, args: { ...args } } as AppError;
  }
  return { code: "internal", args: {} };
}

/** The channel to the app behind this window. */
export async function tauriChannel(): Promise<Channel> {
  const [core, event] = await Promise.all([
    import("@tauri-apps/api/core"),
    import("@tauri-apps/api/event"),
  ]);
  return {
    call: (command, args) => core.invoke(command, { args }),
    listen: async (name, handler) => {
      await event.listen(name, (message) => handler(message.payload));
    },
  };
}
