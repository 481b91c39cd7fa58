//! The commands of the window. Each one forwards to the controller and nothing else.
//!
//! Owns the list of names, which the bindings are generated from. A command takes one
//! object, `args`, and answers with a value of [`crate::view`] or an [`AppError`].

use tauri::State;

use crate::app_error::AppError;
use crate::controller::Controller;
use crate::view::{
    AppView, CopyText, InGroup, InvitationPreview, InvitationText, JoinGroup, JoinRequestIn,
    MarkRead, MessagePage, OpenedGroup, Passphrase, ReadInvitation, ReadInvitationImage,
    ReadMessages, SendMessage, SentMessage, SetRelayRunning, StartGroup,
};

/// What a command answers.
type Answer<T> = Result<T, AppError>;

/// Makes the list of names and the handler from the same words.
macro_rules! commands {
    ($($name:ident),* $(,)?) => {
        /// The names of all commands.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Hands what the window asks for to the command of that name.
        pub fn handler() -> impl Fn(tauri::ipc::Invoke) -> bool + Send + Sync + 'static {
            tauri::generate_handler![$($name),*]
        }
    };
}

commands![
    accept_request,
    cancel_join,
    cancel_pairing,
    choose_passphrase,
    copy_text,
    dismiss_request,
    join_group,
    mark_read,
    messages,
    quit,
    read_invitation,
    read_invitation_image,
    send_message,
    set_relay_running,
    start_group,
    start_pairing,
    try_keychain_again,
    unlock,
    view,
    words_different,
    words_same,
];

#[tauri::command]
async fn accept_request(app: State<'_, Controller>, args: JoinRequestIn) -> Answer<()> {
    app.accept_request(args).await
}

#[tauri::command]
async fn cancel_join(app: State<'_, Controller>, args: InGroup) -> Answer<()> {
    app.cancel_join(args).await
}

#[tauri::command]
async fn cancel_pairing(app: State<'_, Controller>, args: InGroup) -> Answer<()> {
    app.cancel_pairing(args).await
}

#[tauri::command]
async fn choose_passphrase(app: State<'_, Controller>, args: Passphrase) -> Answer<()> {
    app.choose_passphrase(args).await
}

#[tauri::command]
async fn copy_text(app: State<'_, Controller>, args: CopyText) -> Answer<()> {
    app.copy_text(args).await
}

#[tauri::command]
async fn dismiss_request(app: State<'_, Controller>, args: JoinRequestIn) -> Answer<()> {
    app.dismiss_request(args).await
}

#[tauri::command]
async fn join_group(app: State<'_, Controller>, args: JoinGroup) -> Answer<OpenedGroup> {
    app.join_group(args).await
}

#[tauri::command]
async fn mark_read(app: State<'_, Controller>, args: MarkRead) -> Answer<()> {
    app.mark_read(args).await
}

#[tauri::command]
async fn messages(app: State<'_, Controller>, args: ReadMessages) -> Answer<MessagePage> {
    app.messages(args).await
}

#[tauri::command]
async fn quit(app: State<'_, Controller>) -> Answer<()> {
    app.quit().await;
    Ok(())
}

#[tauri::command]
async fn read_invitation(
    app: State<'_, Controller>,
    args: ReadInvitation,
) -> Answer<InvitationPreview> {
    app.read_invitation(&args)
}

#[tauri::command]
async fn read_invitation_image(
    app: State<'_, Controller>,
    args: ReadInvitationImage,
) -> Answer<InvitationText> {
    app.read_invitation_image(args).await
}

#[tauri::command]
async fn send_message(app: State<'_, Controller>, args: SendMessage) -> Answer<SentMessage> {
    app.send_message(args).await
}

#[tauri::command]
async fn set_relay_running(app: State<'_, Controller>, args: SetRelayRunning) -> Answer<()> {
    app.set_relay_running(args).await
}

#[tauri::command]
async fn start_group(app: State<'_, Controller>, args: StartGroup) -> Answer<OpenedGroup> {
    app.start_group(args).await
}

#[tauri::command]
async fn start_pairing(app: State<'_, Controller>, args: InGroup) -> Answer<()> {
    app.start_pairing(args).await
}

#[tauri::command]
async fn try_keychain_again(app: State<'_, Controller>) -> Answer<()> {
    app.try_keychain_again().await
}

#[tauri::command]
async fn unlock(app: State<'_, Controller>, args: Passphrase) -> Answer<()> {
    app.unlock(args).await
}

#[tauri::command]
async fn view(app: State<'_, Controller>) -> Answer<AppView> {
    Ok(app.view().await)
}

#[tauri::command]
async fn words_different(app: State<'_, Controller>, args: InGroup) -> Answer<()> {
    app.words_different(args).await
}

#[tauri::command]
async fn words_same(app: State<'_, Controller>, args: InGroup) -> Answer<()> {
    app.words_same(args).await
}
