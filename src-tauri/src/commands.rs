//! The commands of the window. Each one forwards to the controller's method of the same name
//! and does nothing else.
//!
//! Owns the list of them, which the names in the bindings are generated from. A command
//! takes one object, `args`, and answers with a value of [`crate::view`] or an [`AppError`].

use serde::Deserialize;
use tauri::State;

use crate::app_error::{AppError, AppErrorCode};
use crate::controller::Controller;
use crate::view::*;

/// What a command answers.
type Answer<T> = Result<T, AppError>;

/// The arguments of a command that needs none: an empty object.
#[derive(Deserialize)]
struct Nothing {}

/// Makes the commands, the list of their names and the handler from the same words.
macro_rules! commands {
    (
        forwarded: { $($name:ident($args:ty) -> $answer:ty,)* }
        pending: { $($pending:ident($pending_args:ty) -> $pending_answer:ty,)* }
        at_once: { $($at_once:ident($at_once_args:ty) -> $at_once_answer:ty,)* }
        written_out: { $($own:ident,)* }
    ) => {
        /// The names of all commands.
        pub const NAMES: &[&str] = &[
            $(stringify!($name),)* $(stringify!($at_once),)* $(stringify!($pending),)* $(stringify!($own),)*
        ];

        /// Hands what the window asks for to the command of that name.
        pub fn handler() -> impl Fn(tauri::ipc::Invoke) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name,)* $($at_once,)* $($pending,)* $($own,)*]
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
            async fn $pending(_app: State<'_, Controller>, args: $pending_args) -> Answer<$pending_answer> {
                let _ = args;
                Err(AppErrorCode::NotAvailable.into())
            }
        )*
    };
}

commands! {
    forwarded: {
        accept_request(JoinRequestIn) -> (),
        cancel_join(InGroup) -> (),
        cancel_pairing(InGroup) -> (),
        choose_passphrase(Passphrase) -> (),
        copy_text(CopyText) -> (),
        dismiss_request(JoinRequestIn) -> (),
        join_group(JoinGroup) -> OpenedGroup,
        mark_read(MarkRead) -> (),
        messages(ReadMessages) -> MessagePage,
        read_invitation_image(ReadInvitationImage) -> InvitationText,
        send_message(SendMessage) -> SentMessage,
        set_relay_running(SetRelayRunning) -> (),
        start_group(StartGroup) -> OpenedGroup,
        start_pairing(InGroup) -> (),
        unlock(Passphrase) -> (),
        words_different(InGroup) -> (),
        words_same(InGroup) -> (),
        leave_group(InGroup) -> (),
        membership_history(ReadHistory) -> HistoryPage,
        forget_group(InGroup) -> (),
        destroy_group(InGroup) -> (),
        remove_member(MemberIn) -> (),
    }
    pending: {
        arrived(Arrived) -> (),
        backup(Passphrase) -> SavedFile,
        change_passphrase(ChangePassphrase) -> (),
        delete_group_history(InGroup) -> (),
        delete_message(MessageIn) -> (),
        delivery_issues(ReadIssues) -> IssuePage,
        dismiss_issue(IssueIn) -> (),
        lock(Nothing) -> (),
        message_text(MessageIn) -> MessageText,
        mute(Mute) -> (),
        open_link(OpenLink) -> (),
        ready(Nothing) -> (),
        relay_code(RelayOf) -> RelayCode,
        remove_passphrase(Passphrase) -> (),
        rename_group(RenameGroup) -> (),
        restore(Passphrase) -> (),
        retry_message(RetryMessage) -> (),
        save_draft(SaveDraft) -> (),
        save_qr_image(InGroup) -> SavedFile,
        save_support_bundle(Nothing) -> SavedFile,
        search(Search) -> SearchPage,
        set_group_relay(SetGroupRelay) -> (),
        set_relay_ports(SetRelayPorts) -> (),
        set_settings(SetSettings) -> (),
        showing(Showing) -> (),
        support_bundle(Nothing) -> SupportBundle,
        test_relay(TestRelay) -> RelayTestStarted,
    }
    at_once: {
        compare_code(MemberIn) -> CompareCode,
        read_invitation(ReadInvitation) -> InvitationPreview,
    }
    written_out: {
        quit,
        try_keychain_again,
        view,
    }
}

#[tauri::command]
async fn quit(app: State<'_, Controller>) -> Answer<()> {
    app.quit().await;
    Ok(())
}

#[tauri::command]
async fn try_keychain_again(app: State<'_, Controller>) -> Answer<()> {
    app.try_keychain_again().await
}

#[tauri::command]
async fn view(app: State<'_, Controller>) -> Answer<AppView> {
    Ok(app.view().await)
}
