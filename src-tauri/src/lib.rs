//! App.
pub mod app_error;
pub mod view;
mod commands {
    pub(crate) const NAMES: &[&str] = &[
        "view",
        "start_group",
        "read_invitation",
        "read_invitation_image",
        "join_group",
        "words_same",
        "words_different",
        "cancel_join",
        "start_pairing",
        "cancel_pairing",
        "accept_request",
        "dismiss_request",
        "send_message",
        "messages",
        "mark_read",
        "set_relay_running",
        "try_keychain_again",
        "choose_passphrase",
        "unlock",
        "copy_text",
        "quit",
    ];
}
#[cfg(test)]
mod bindings;
