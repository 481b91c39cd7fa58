//! The support bundle: what a person can hand to somebody who helps.
//!
//! Owns what is in it: versions, states and numbers. No name, no key, no id, no address, no
//! path and no text ever gets in; that is why it is made from the view of the window by
//! picking, and never by leaving out.

use std::fmt::Write as _;

use super::Controller;
use crate::app_error::AppError;
use crate::view::{
    AppView, ConnectionState, GroupView, IssueView, PhonesView, ReadIssues, SavedFile,
    SupportBundle,
};
use crate::window::FileProposal;

/// How many of the newest issues are counted.
const ISSUES_MAX: u32 = 500;

impl Controller {
    /// The support bundle as it would be saved.
    ///
    /// # Errors
    ///
    /// None; a command like the others.
    pub async fn support_bundle(&self) -> Result<SupportBundle, AppError> {
        let view = self.view().await;
        let issues = ReadIssues {
            before: None,
            limit: ISSUES_MAX,
        };
        // A store that can't be read says so elsewhere in the bundle.
        let issues = self.delivery_issues(issues).await;
        let issues = issues.map(|page| page.issues).unwrap_or_default();
        let text = bundle(&view, &issues, &Surroundings::of_this_computer());
        Ok(SupportBundle { text })
    }

    /// Saves the support bundle where the person wants it.
    ///
    /// # Errors
    ///
    /// `file-unwritable`.
    pub async fn save_support_bundle(&self) -> Result<SavedFile, AppError> {
        let SupportBundle { text } = self.support_bundle().await?;
        let catalogue = self.shared.setup.catalogue.get();
        let proposal = FileProposal {
            name: "sealpost-support.txt".to_owned(),
            kind: catalogue.text("file-text"),
            extension: "txt",
        };
        self.save_file(proposal, text.into_bytes()).await
    }
}

/// What of this computer matters for a fault: kinds only.
struct Surroundings {
    system: &'static str,
    architecture: &'static str,
    /// A variable of the environment with a few known values, and what it says.
    session: Vec<(&'static str, String)>,
}

impl Surroundings {
    fn of_this_computer() -> Self {
        const KINDS: [&str; 4] = [
            "XDG_SESSION_TYPE",
            "XDG_CURRENT_DESKTOP",
            "GDK_BACKEND",
            "WEBKIT_DISABLE_DMABUF_RENDERER",
        ];
        let session = KINDS.iter().filter_map(|name| {
            let value = std::env::var(name).ok()?;
            Some((*name, known_word(&value)))
        });
        Self {
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
            session: session.collect(),
        }
    }
}

/// A value of the environment, if it is a plain word of a usual length.
fn known_word(value: &str) -> String {
    let is_plain = value
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | ','));
    if is_plain && value.len() <= 32 {
        value.to_owned()
    } else {
        "other".to_owned()
    }
}

fn bundle(view: &AppView, issues: &[IssueView], surroundings: &Surroundings) -> String {
    let mut text = String::from("Sealpost support bundle\n\n");
    let mut line = |name: &str, value: String| {
        // Writing into a string can't fail.
        let _ = writeln!(text, "{name}: {value}");
    };
    line("version", view.versions.app.clone());
    line("transport version", view.versions.transport.to_string());
    line("end-to-end version", view.versions.end_to_end.to_string());
    line(
        "system",
        format!("{} {}", surroundings.system, surroundings.architecture),
    );
    for (name, value) in &surroundings.session {
        line(name, value.clone());
    }
    line("language", view.language.clone());
    line("screen", format!("{:?}", view.screen));
    line("tray", yes(view.has_tray));
    if let Some(keychain) = &view.keychain {
        line("keychain", format!("{:?}", keychain.kind));
    }
    if let Some(failure) = &view.failure {
        line("failure", format!("{:?} {:?}", failure.code, failure.args));
    }
    let settings = &view.settings;
    line("keys", format!("{:?}", settings.key_store));
    line("notifications", format!("{:?}", settings.notifications));
    line("muted", yes(settings.muted_until_ms.is_some()));
    line("start at login", yes(settings.start_at_login));
    line("start hidden", yes(settings.start_hidden));
    line("automatic lock", format!("{:?}", settings.auto_lock));
    relay_lines(view, &mut line);
    phone_lines(&view.phones, &mut line);
    line("groups", view.groups.len().to_string());
    for (number, group) in view.groups.iter().enumerate() {
        line(&format!("group {}", number + 1), group_line(group));
    }
    for (code, count) in counted(issues) {
        line(&format!("issue {code}"), count.to_string());
    }
    text
}

fn relay_lines(view: &AppView, line: &mut impl FnMut(&str, String)) {
    let relay = &view.relay;
    line("relay here", format!("{:?}", relay.state));
    if let Some(failure) = &relay.failure {
        line(
            "relay failure",
            format!("{:?} {:?}", failure.code, failure.args),
        );
    }
    line(
        "relay ports",
        format!("{} {}", relay.receive_port, relay.push_port),
    );
    line("relay blobs", relay.waiting_blobs.to_string());
    line("relay bytes", relay.stored_bytes.to_string());
    line("relay devices", relay.devices.to_string());
}

fn phone_lines(phones: &PhonesView, line: &mut impl FnMut(&str, String)) {
    line("phones", format!("{:?}", phones.door));
    line("phone port", phones.port.to_string());
    if let Some(failure) = &phones.failure {
        line(
            "phones failure",
            format!("{:?} {:?}", failure.code, failure.args),
        );
    }
    if let Some(end) = phones.pairing_closed {
        line("phone pairing", format!("{end:?}"));
    }
    for (number, phone) in phones.phones.iter().enumerate() {
        let trouble = phone
            .trouble
            .map_or("None".to_owned(), |one| format!("{one:?}"));
        let told = format!(
            "{:?}, trouble: {trouble}, heard of: {}, waiting: {}, address gone: {}, groups: {}",
            phone.state,
            yes(phone.last_contact_ms.is_some()),
            phone.waiting,
            yes(phone.address_gone.is_some()),
            phone.sharing.groups.len(),
        );
        line(&format!("phone {}", number + 1), told);
    }
}

fn group_line(group: &GroupView) -> String {
    let connection = match (group.connection.state, group.connection.reason) {
        (ConnectionState::Disconnected, Some(reason)) => format!("Disconnected {reason:?}"),
        (state, _) => format!("{state:?}"),
    };
    format!(
        "{:?}, {connection}, relay here: {}, members: {}, messages: {}, unread: {}, issues: {}, \
         clock off: {}",
        group.status,
        yes(group.relay_is_here),
        group.members.len() + 1,
        group.last_position,
        group.unread,
        group.issue_count,
        yes(group.clock_off_ms.is_some()),
    )
}

fn counted(issues: &[IssueView]) -> std::collections::BTreeMap<&str, u64> {
    let mut counted = std::collections::BTreeMap::new();
    for issue in issues {
        *counted.entry(issue.code.as_str()).or_default() += 1;
    }
    counted
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_with_a_path_or_a_name_in_it_is_no_kind() {
        assert_eq!(known_word("wayland"), "wayland");
        assert_eq!(known_word("ubuntu:GNOME"), "ubuntu:GNOME");
        assert_eq!(known_word("/home/anna"), "other");
        assert_eq!(known_word("Anna Schmidt"), "other");
        assert_eq!(known_word(&"x".repeat(33)), "other");
    }
}
