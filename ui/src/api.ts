// The border to the app: one typed function for each command and each event.
// Owns no rule; what the app answers is passed on as it is.

import type { AppError } from "./bindings/AppError";
import type { AppView } from "./bindings/AppView";
import type { BackedUp } from "./bindings/BackedUp";
import type { ChangePassphrase } from "./bindings/ChangePassphrase";
import type { ChosenFile } from "./bindings/ChosenFile";
import type { CompareCode } from "./bindings/CompareCode";
import type { HistoryPage } from "./bindings/HistoryPage";
import type { InvitationPreview } from "./bindings/InvitationPreview";
import type { InvitationText } from "./bindings/InvitationText";
import type { IssuePage } from "./bindings/IssuePage";
import type { JoinGroup } from "./bindings/JoinGroup";
import type { LeavingWarning } from "./bindings/LeavingWarning";
import type { MessagePage } from "./bindings/MessagePage";
import type { MessagesChanged } from "./bindings/MessagesChanged";
import type { MessageText } from "./bindings/MessageText";
import type { OpenedGroup } from "./bindings/OpenedGroup";
import type { ReadHistory } from "./bindings/ReadHistory";
import type { ReadIssues } from "./bindings/ReadIssues";
import type { ReadMessages } from "./bindings/ReadMessages";
import type { PhoneSharingView } from "./bindings/PhoneSharingView";
import type { RelayChoice } from "./bindings/RelayChoice";
import type { RelayCode } from "./bindings/RelayCode";
import type { RelayTestStarted } from "./bindings/RelayTestStarted";
import type { RelayTestView } from "./bindings/RelayTestView";
import type { Exported } from "./bindings/Exported";
import type { RestoredBackup } from "./bindings/RestoredBackup";
import type { SavedFile } from "./bindings/SavedFile";
import type { Search } from "./bindings/Search";
import type { SearchPage } from "./bindings/SearchPage";
import type { CommandName, EventName } from "./bindings/names";
import type { SentMessage } from "./bindings/SentMessage";
import type { SetRelayPorts } from "./bindings/SetRelayPorts";
import type { SetSettings } from "./bindings/SetSettings";
import type { StartGroup } from "./bindings/StartGroup";
import type { SupportBundle } from "./bindings/SupportBundle";
import type { TestRelay } from "./bindings/TestRelay";

/** Carries commands to the app and events back: Tauri, or sample data. */
export interface Channel {
  call(command: CommandName, args: object): Promise<unknown>;
  listen(event: EventName, handler: (payload: unknown) => void): Promise<void>;
}

export interface Api {
  view(): Promise<AppView>;
  onView(handler: (view: AppView) => void): Promise<void>;
  onMessages(handler: (change: MessagesChanged) => void): Promise<void>;
  onRelayTest(handler: (test: RelayTestView) => void): Promise<void>;
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
  ready(): Promise<void>;
  arrived(id: number): Promise<void>;
  showing(group: string | null, issues: boolean): Promise<void>;
  used(): Promise<void>;
  removeMember(group: string, member: string): Promise<void>;
  compareCode(group: string, member: string): Promise<CompareCode>;
  membershipHistory(args: ReadHistory): Promise<HistoryPage>;
  leavingWarning(group: string): Promise<LeavingWarning>;
  leaveGroup(group: string): Promise<void>;
  destroyGroup(group: string): Promise<void>;
  forgetGroup(group: string): Promise<void>;
  deleteGroupHistory(group: string): Promise<void>;
  renameGroup(group: string, name: string): Promise<void>;
  setGroupRelay(group: string, relay: RelayChoice): Promise<void>;
  retryMessage(group: string, id: string): Promise<void>;
  deleteMessage(group: string, position: number): Promise<void>;
  messageText(group: string, position: number): Promise<MessageText>;
  saveDraft(group: string, text: string): Promise<void>;
  deliveryIssues(args: ReadIssues): Promise<IssuePage>;
  dismissIssue(group: string, issue: number): Promise<void>;
  search(args: Search): Promise<SearchPage>;
  openLink(url: string): Promise<void>;
  saveQrImage(group: string): Promise<SavedFile>;
  testRelay(args: TestRelay): Promise<RelayTestStarted>;
  startPhonePairing(insteadOf: string | null): Promise<void>;
  cancelPhonePairing(): Promise<void>;
  confirmPhone(): Promise<void>;
  declinePhone(): Promise<void>;
  renamePhone(phone: string, name: string): Promise<void>;
  unpairPhone(phone: string): Promise<void>;
  setPhoneSharing(phone: string | null, sharing: PhoneSharingView): Promise<void>;
  setPhonesOn(on: boolean): Promise<void>;
  tryPhoneDoorAgain(): Promise<void>;
  choosePhonePort(): Promise<void>;
  relayCode(group: string | null): Promise<RelayCode>;
  setRelayPorts(args: SetRelayPorts): Promise<void>;
  setSettings(args: SetSettings): Promise<void>;
  changePassphrase(args: ChangePassphrase): Promise<void>;
  removePassphrase(passphrase: string): Promise<void>;
  lock(): Promise<void>;
  mute(untilMs: number | null): Promise<void>;
  supportBundle(): Promise<SupportBundle>;
  saveSupportBundle(): Promise<SavedFile>;
  backUp(passphrase: string): Promise<BackedUp>;
  chooseBackup(): Promise<ChosenFile>;
  restoreBackup(passphrase: string): Promise<RestoredBackup>;
  exportMessages(): Promise<Exported>;
  cancelDataWork(): Promise<void>;
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
    onRelayTest: (handler) => listen("relay-test", handler),
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
    ready: () => call("ready"),
    arrived: (id) => call("arrived", { id }),
    showing: (group, issues) => call("showing", { group, issues }),
    used: () => call("used"),
    removeMember: (group, member) => call("remove_member", { group, member }),
    compareCode: (group, member) => call("compare_code", { group, member }),
    membershipHistory: (args) => call("membership_history", args),
    leavingWarning: (group) => call("leaving_warning", { group }),
    leaveGroup: (group) => call("leave_group", { group }),
    destroyGroup: (group) => call("destroy_group", { group }),
    forgetGroup: (group) => call("forget_group", { group }),
    deleteGroupHistory: (group) => call("delete_group_history", { group }),
    renameGroup: (group, name) => call("rename_group", { group, name }),
    setGroupRelay: (group, relay) => call("set_group_relay", { group, relay }),
    retryMessage: (group, id) => call("retry_message", { group, id }),
    deleteMessage: (group, position) => call("delete_message", { group, position }),
    messageText: (group, position) => call("message_text", { group, position }),
    saveDraft: (group, text) => call("save_draft", { group, text }),
    deliveryIssues: (args) => call("delivery_issues", args),
    dismissIssue: (group, issue) => call("dismiss_issue", { group, issue }),
    search: (args) => call("search", args),
    openLink: (url) => call("open_link", { url }),
    saveQrImage: (group) => call("save_qr_image", { group }),
    testRelay: (args) => call("test_relay", args),
    startPhonePairing: (insteadOf) => call("start_phone_pairing", { insteadOf }),
    cancelPhonePairing: () => call("cancel_phone_pairing"),
    confirmPhone: () => call("confirm_phone"),
    declinePhone: () => call("decline_phone"),
    renamePhone: (phone, name) => call("rename_phone", { phone, name }),
    unpairPhone: (phone) => call("unpair_phone", { phone }),
    setPhoneSharing: (phone, sharing) => call("set_phone_sharing", { phone, sharing }),
    setPhonesOn: (on) => call("set_phones_on", { on }),
    tryPhoneDoorAgain: () => call("try_phone_door_again"),
    choosePhonePort: () => call("choose_phone_port"),
    relayCode: (group) => call("relay_code", { group }),
    setRelayPorts: (args) => call("set_relay_ports", args),
    setSettings: (args) => call("set_settings", args),
    changePassphrase: (args) => call("change_passphrase", args),
    removePassphrase: (passphrase) => call("remove_passphrase", { passphrase }),
    lock: () => call("lock"),
    mute: (untilMs) => call("mute", { untilMs }),
    supportBundle: () => call("support_bundle"),
    saveSupportBundle: () => call("save_support_bundle"),
    backUp: (passphrase) => call("back_up", { passphrase }),
    chooseBackup: () => call("choose_backup"),
    exportMessages: () => call("export_messages"),
    restoreBackup: (passphrase) => call("restore_backup", { passphrase }),
    cancelDataWork: () => call("cancel_data_work"),
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
