//! The commands of the window. Each one forwards to the controller's method of the same name
//! and does nothing else.
//!
//! Owns the list of them, which the names in the bindings are generated from. A command
//! takes one object, `args`, and answers with a value of [`crate::view`] or an [`AppError`].

use tauri::State;

use crate::app_error::AppError;
use crate::controller::Controller;
use crate::view::*;

/// What a command answers.
type Answer<T> = Result<T, AppError>;

/// Makes the commands, the list of their names and the handler from the same words.
macro_rules! commands {
    (
        forwarded: { $($name:ident($args:ty) -> $answer:ty,)* }
        at_once: { $($at_once:ident($at_once_args:ty) -> $at_once_answer:ty,)* }
        without_arguments: { $($bare:ident -> $bare_answer:ty,)* }
        written_out: { $($own:ident,)* }
    ) => {
        /// The names of all commands.
        pub const NAMES: &[&str] = &[
            $(stringify!($name),)* $(stringify!($at_once),)* $(stringify!($bare),)* $(stringify!($own),)*
        ];

        /// Hands what the window asks for to the command of that name.
        pub fn handler() -> impl Fn(tauri::ipc::Invoke) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name,)* $($at_once,)* $($bare,)* $($own,)*]
        }

        $(
            #[tauri::command]
            async fn $name(app: State<'_, Controller>, args: $args) -> Answer<$answer> {
                app.$name(args).await
            }
        )*

        $(
            #[tauri::command]
            async fn $at_once(
                app: State<'_, Controller>,
                args: $at_once_args,
            ) -> Answer<$at_once_answer> {
                app.$at_once(&args)
            }
        )*

        $(
            #[tauri::command]
            async fn $bare(app: State<'_, Controller>) -> Answer<$bare_answer> {
                app.$bare().await
            }
        )*
    };
}

commands! {
    forwarded: {
        accept_request(JoinRequestIn) -> (),
        back_up(Passphrase) -> BackedUp,
        cancel_join(InGroup) -> (),
        cancel_pairing(InGroup) -> (),
        change_passphrase(ChangePassphrase) -> (),
        choose_passphrase(Passphrase) -> (),
        copy_text(CopyText) -> (),
        delete_group_history(InGroup) -> (),
        delete_message(MessageIn) -> (),
        delivery_issues(ReadIssues) -> IssuePage,
        destroy_group(InGroup) -> (),
        dismiss_issue(IssueIn) -> (),
        dismiss_request(JoinRequestIn) -> (),
        forget_group(InGroup) -> (),
        join_group(JoinGroup) -> OpenedGroup,
        leave_group(InGroup) -> (),
        leaving_warning(InGroup) -> LeavingWarning,
        mark_read(MarkRead) -> (),
        membership_history(ReadHistory) -> HistoryPage,
        message_text(MessageIn) -> MessageText,
        messages(ReadMessages) -> MessagePage,
        mute(Mute) -> (),
        open_link(OpenLink) -> (),
        read_invitation_image(ReadInvitationImage) -> InvitationText,
        remove_member(MemberIn) -> (),
        remove_passphrase(Passphrase) -> (),
        rename_group(RenameGroup) -> (),
        rename_phone(RenamePhone) -> (),
        restore_backup(Passphrase) -> RestoredBackup,
        retry_message(RetryMessage) -> (),
        save_draft(SaveDraft) -> (),
        save_qr_image(InGroup) -> SavedFile,
        search(Search) -> SearchPage,
        send_message(SendMessage) -> SentMessage,
        set_group_relay(SetGroupRelay) -> (),
        set_phone_sharing(SetPhoneSharing) -> (),
        set_phones_on(SetPhonesOn) -> (),
        set_relay_ports(SetRelayPorts) -> (),
        set_relay_running(SetRelayRunning) -> (),
        set_settings(SetSettings) -> (),
        start_group(StartGroup) -> OpenedGroup,
        start_pairing(InGroup) -> (),
        start_phone_pairing(StartPhonePairing) -> (),
        unlock(Passphrase) -> (),
        unpair_phone(OfPhone) -> (),
        words_different(InGroup) -> (),
        words_same(InGroup) -> (),
    }
    at_once: {
        arrived(Arrived) -> (),
        compare_code(MemberIn) -> CompareCode,
        read_invitation(ReadInvitation) -> InvitationPreview,
        relay_code(RelayOf) -> RelayCode,
        showing(Showing) -> (),
        test_relay(TestRelay) -> RelayTestStarted,
    }
    without_arguments: {
        cancel_phone_pairing -> (),
        choose_backup -> ChosenFile,
        choose_phone_port -> (),
        confirm_phone -> (),
        decline_phone -> (),
        export_messages -> Exported,
        lock -> (),
        save_support_bundle -> SavedFile,
        support_bundle -> SupportBundle,
        try_keychain_again -> (),
        try_phone_door_again -> (),
    }
    written_out: {
        cancel_data_work,
        quit,
        ready,
        used,
        view,
    }
}

#[tauri::command]
async fn cancel_data_work(app: State<'_, Controller>) -> Answer<()> {
    app.cancel_data_work()
}

#[tauri::command]
async fn quit(app: State<'_, Controller>) -> Answer<()> {
    app.quit().await;
    Ok(())
}

#[tauri::command]
async fn ready(app: State<'_, Controller>) -> Answer<()> {
    app.ready()
}

#[tauri::command]
async fn used(app: State<'_, Controller>) -> Answer<()> {
    app.used()
}

#[tauri::command]
async fn view(app: State<'_, Controller>) -> Answer<AppView> {
    Ok(app.view().await)
}
