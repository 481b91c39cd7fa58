//! What a command says, as JSON for a script and as text for a person.
//!
//! Owns the shape of both: the names in the JSON are part of what scripts rely on. Every text
//! from outside passes through [`crate::terminal_text`] on its way to a person.

mod backup;
mod link;
mod relay_step;
mod standing;
mod wormhole;

mod membership;
mod pairing;

use serde::Serialize;

pub(crate) use link::{ArrivedReport, BodyReport, LinkReport, LinkRow, SentReport};
pub(crate) use relay_step::RelayStepReport;
pub(crate) use standing::{IssueReport, StatusReport};
pub(crate) use wormhole::WormholeReport;

use crate::explanation::issue_text;
use crate::terminal_text::{lines, one_line};
use sealpost_engine::utc;

pub(crate) use membership::{DestroyLimits, MembershipReport, NoteReport};

/// What a person reads once a group is forgotten.
const FORGOTTEN: &str = "This computer has forgotten that it was in the group. Whoever was not \
                         told still lists it.";

/// One thing that a command says. The JSON has the variant's name as `type`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Report {
    /// The profile was made.
    Profile {
        profile: String,
        device_name: String,
        key_store: &'static str,
    },
    /// A group of this profile.
    Group {
        number: u32,
        group: String,
        name: String,
        status: &'static str,
        members: usize,
        unread: u64,
    },
    /// The invitation that the other device needs.
    Invitation {
        link: String,
        minutes: u64,
        seconds: u64,
    },
    /// The invitation of another program of this profile is closed.
    InvitationCancelled,
    /// A device asks to be let in; `looks_like` is the member that its name could be taken for.
    JoinRequest {
        name: String,
        words: [String; 4],
        #[serde(skip_serializing_if = "Option::is_none")]
        looks_like: Option<String>,
    },
    /// A device asked with an invitation that is closed: `accepted` somebody else, or `closed`.
    StaleRequest { name: String, reason: &'static str },
    /// A device that was accepted here is not in the group after all.
    AdmissionDropped { name: String, reason: &'static str },
    /// A device was let in; `delivered` tells whether the relay has its admission.
    Accepted { name: String, delivered: bool },
    /// A request was dismissed.
    Dismissed { name: String },
    /// The relay that an invitation leads to.
    Relay {
        host: String,
        receive_port: u16,
        push_port: u16,
        fingerprint: String,
    },
    /// The four words that both sides compare.
    Words { words: [String; 4] },
    /// The request is stored; `on_relay` tells whether the relay has it.
    Pending { group: String, on_relay: bool },
    /// How far the join has come: `queued`, `sending`, `on_relay`, `refused` or `admitted`;
    /// `reason` tells why no relay is reached.
    JoinProgress {
        group: String,
        state: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
    },
    /// This device is in the group now.
    Joined { group: String, members: usize },
    /// The join was given up.
    Cancelled { group: String },
    /// This device left the group; `told` tells whether the relay has the news for the
    /// others.
    Left { group: String, told: bool },
    /// A member was removed; `told` as for leaving.
    Removed {
        id: String,
        name: String,
        told: bool,
    },
    /// The end of a group is not waited for any more.
    Forgotten { group: String },
    /// A text is stored and on its way.
    Queued { message_id: String },
    /// Where a text is.
    Delivery {
        message_id: String,
        on_relay: usize,
        failed: usize,
        of: usize,
    },
    /// A message of the group.
    Message(MessageReport),
    /// An exception to the delivery promise.
    Issue {
        issue: &'static str,
        message_id: Option<String>,
    },
    /// Where this device stands in the group changed.
    Status {
        status: &'static str,
        reason: Option<&'static str>,
    },
    /// The connection to the relay changed.
    Connection {
        state: &'static str,
        reason: Option<&'static str>,
    },
    /// A member of the group.
    Member {
        id: String,
        name: String,
        is_me: bool,
    },
    /// A delivery issue of the group that was not dismissed.
    DeliveryIssue(IssueReport),
    /// Where this device stands in a group, and how its relay answers.
    GroupStatus(StatusReport),
    /// A step of a relay's test ended.
    RelayStep(RelayStepReport),
    /// The member list as a whole.
    Membership(MembershipReport),
    /// A line of the membership history.
    MembershipNote(NoteReport),
    /// The group has another name; `told` as for leaving.
    Renamed {
        group: String,
        name: String,
        told: bool,
    },
    /// What destroying a group does, and what it can't do.
    DestroyLimits(DestroyLimits),
    /// The group is over for this device; `told` as for leaving.
    Destroyed { group: String, told: bool },
    /// The code that this device and a member have in common, if they hold each other's keys.
    CompareCode {
        id: String,
        name: String,
        code: String,
    },
    /// A backup was written.
    Backup { groups: u64, messages: u64 },
    /// The groups of a backup are here, each a member of nothing.
    Restored {
        groups: Vec<u32>,
        messages: u64,
        made_at_ms: u64,
    },
    /// A group whose messages follow; `complete` tells whether all of them could be read.
    Export {
        number: u32,
        group: String,
        name: String,
        messages: u64,
        complete: bool,
    },
    /// A relay runs in this process.
    RelayRunning {
        address: String,
        receive_port: u16,
        push_port: u16,
        health_port: Option<u16>,
        #[serde(skip_serializing_if = "Option::is_none")]
        web_port: Option<u16>,
        #[serde(skip_serializing_if = "Option::is_none")]
        web_url: Option<String>,
    },
    /// The relay of this process ended.
    RelayStopped,
    /// Something of a link, under a type of its own.
    #[serde(untagged)]
    Link(LinkReport),
    /// Something of a wormhole, under a type of its own.
    #[serde(untagged)]
    Wormhole(WormholeReport),
}

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MessageReport {
    /// Its place in the store of this device.
    pub(crate) position: u64,
    /// Its id, the same on every device.
    pub(crate) message_id: String,
    /// Whether this device wrote it.
    pub(crate) own: bool,
    /// The member who wrote it.
    pub(crate) author: String,
    /// That member's name.
    pub(crate) author_name: String,
    /// That member's phone, where it was written on one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) via: Option<String>,
    /// Its text; nothing when this version can't show it.
    pub(crate) text: Option<String>,
    /// When its author sent it, by the author's clock.
    pub(crate) sent_at_ms: u64,
    /// When it was stored here.
    pub(crate) stored_at_ms: u64,
    /// Where an own message is, per recipient.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deliveries: Vec<DeliveryReport>,
}

/// Where an own message is for one recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DeliveryReport {
    /// The recipient.
    pub(crate) member: String,
    /// Its name when the message was sent.
    pub(crate) name: String,
    /// `waiting`, `sending`, `on_relay`, `failed` or `withdrawn`: taken back because the
    /// recipient left the group, or this device did.
    pub(crate) state: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'static str>,
}

impl Report {
    /// What a person reads.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Profile {
                profile,
                device_name,
                key_store,
            } => profile_text(profile, device_name, key_store),
            Self::Group {
                number,
                name,
                status,
                members,
                unread,
                ..
            } => {
                let name = one_line(name);
                format!(
                    "{number}  {name}  {status}  {}  {unread} unread",
                    devices(*members)
                )
            }
            Self::Member { id, name, is_me } => member_text(id, name, *is_me),
            Self::Membership(report) => report.to_text(),
            Self::MembershipNote(note) => note.to_text(),
            Self::Renamed { name, told, .. } => membership::renamed_text(name, *told),
            Self::DestroyLimits(limits) => limits.to_text(),
            Self::Destroyed { told, .. } => membership::destroyed_text(*told).to_owned(),
            Self::CompareCode { .. }
            | Self::Invitation { .. }
            | Self::InvitationCancelled
            | Self::JoinRequest { .. }
            | Self::StaleRequest { .. }
            | Self::AdmissionDropped { .. }
            | Self::Accepted { .. }
            | Self::Dismissed { .. }
            | Self::Relay { .. }
            | Self::Words { .. }
            | Self::Pending { .. }
            | Self::JoinProgress { .. }
            | Self::Joined { .. }
            | Self::Cancelled { .. } => pairing::text(self),
            Self::Left { told, .. } => left_text(*told).to_owned(),
            Self::Removed { name, told, .. } => removed_text(name, *told),
            Self::Forgotten { .. } => FORGOTTEN.to_owned(),
            Self::Queued { message_id } => message_id.clone(),
            Self::Delivery {
                on_relay,
                failed,
                of,
                ..
            } => delivery_text(*on_relay, *failed, *of),
            Self::Message(message) => message_text(message),
            Self::Issue { issue, .. } => issue_text(issue),
            Self::Status { status, reason } => with_reason("Status", status, *reason),
            Self::Connection { state, reason } => with_reason("Relay", state, *reason),
            Self::DeliveryIssue(issue) => issue.to_text(),
            Self::GroupStatus(status) => status.to_text(),
            Self::RelayStep(step) => step.to_text(),
            Self::Backup { .. } | Self::Restored { .. } | Self::Export { .. } => backup::text(self),
            Self::RelayRunning {
                address, web_url, ..
            } => running_text(address, web_url.as_deref()),
            Self::RelayStopped => "The relay stopped.".to_owned(),
            Self::Link(report) => report.to_text(),
            Self::Wormhole(report) => report.to_text(),
        }
    }
}

fn running_text(address: &str, web_url: Option<&str>) -> String {
    let web = web_url.map_or_else(String::new, |url| {
        format!("\nFor links to phones and other paired devices:\n\n{url}\n")
    });
    format!("The relay runs. Its address:\n\n{address}\n{web}")
}

fn profile_text(profile: &str, device_name: &str, key_store: &str) -> String {
    let (name, profile) = (one_line(device_name), one_line(profile));
    format!("This device is called {name} (profile {profile}; keys in the {key_store}).")
}

fn devices(count: usize) -> String {
    if count == 1 {
        "1 device".to_owned()
    } else {
        format!("{count} devices")
    }
}

fn member_text(id: &str, name: &str, is_me: bool) -> String {
    let me = if is_me { "  (this device)" } else { "" };
    format!("{}  {id}{me}", one_line(name))
}

const fn left_text(told: bool) -> &'static str {
    if told {
        "This device has left the group; the others learn so from the relay. The messages that \
         were stored here stay."
    } else {
        "This device leaves the group, but the relay doesn't have the news for the others yet. \
         `sealpost leave` tries again; `sealpost forget` stops trying."
    }
}

fn removed_text(name: &str, told: bool) -> String {
    let name = one_line(name);
    if told {
        format!("{name} is removed; the others learn so from the relay. It keeps what it has.")
    } else {
        format!(
            "{name} is removed, but the relay doesn't have the news for the others yet. It goes \
             out with the next `sealpost tail` or `sealpost send` that reaches the relay."
        )
    }
}

fn delivery_text(on_relay: usize, failed: usize, of: usize) -> String {
    let failed = if failed == 0 {
        String::new()
    } else {
        format!(", failed for {failed}")
    };
    format!("on relay for {on_relay} of {of}{failed}")
}

fn with_reason(what: &str, state: &str, reason: Option<&str>) -> String {
    reason.map_or_else(
        || format!("{what}: {state}"),
        |reason| format!("{what}: {state}, {reason}"),
    )
}

fn message_text(message: &MessageReport) -> String {
    let author = if message.own {
        "you".to_owned()
    } else {
        one_line(&message.author_name)
    };
    let via = message.via.as_deref();
    let via = via.map_or_else(String::new, |phone| format!(" · from {}", one_line(phone)));
    let text = message.text.as_deref().map_or_else(
        || "(a message that this version can't show)".to_owned(),
        lines,
    );
    let deliveries: String = message.deliveries.iter().map(delivery_line).collect();
    format!(
        "{}  {}  {author}{via}: {text}{deliveries}",
        message.position,
        utc::to_text(message.sent_at_ms)
    )
}

fn delivery_line(delivery: &DeliveryReport) -> String {
    let name = one_line(&delivery.name);
    let state = match delivery.state {
        "on_relay" => "on the relay",
        "withdrawn" => "taken back, no longer in the group together",
        state => state,
    };
    format!("\n    -> {}", with_reason(&name, state, delivery.reason))
}

#[cfg(test)]
mod tests {
    use super::pairing::{accepted_text, pending_text};
    use super::*;

    fn json(report: &Report) -> String {
        serde_json::to_string(report).unwrap()
    }

    fn message(text: Option<&str>) -> Report {
        Report::Message(MessageReport {
            position: 12,
            message_id: "tsm1_x".to_owned(),
            own: false,
            author: "oJql".to_owned(),
            author_name: "Amber\u{202e}Otter".to_owned(),
            via: None,
            text: text.map(str::to_owned),
            sent_at_ms: 1_790_812_800_000,
            stored_at_ms: 1_790_812_800_001,
            deliveries: Vec::new(),
        })
    }

    #[test]
    fn a_message_is_one_object_with_a_type() {
        assert_eq!(
            json(&message(Some("hello\nthere"))),
            "{\"type\":\"message\",\"position\":12,\"message_id\":\"tsm1_x\",\"own\":false,\
             \"author\":\"oJql\",\"author_name\":\"Amber\u{202e}Otter\",\
             \"text\":\"hello\\nthere\",\"sent_at_ms\":1790812800000,\
             \"stored_at_ms\":1790812800001}"
        );
    }

    #[test]
    fn a_message_names_the_phone_that_it_was_written_on() {
        let Report::Message(mut from_phone) = message(Some("hello")) else {
            unreachable!("it is one");
        };
        from_phone.via = Some("Mo\u{202e}to".to_owned());
        let told = Report::Message(from_phone);
        assert!(
            json(&told)
                .contains("\"author_name\":\"Amber\u{202e}Otter\",\"via\":\"Mo\u{202e}to\",")
        );
        assert_eq!(
            told.to_text(),
            "12  2026-10-01 00:00:00Z  Amber\\u{202e}Otter · from Mo\\u{202e}to: hello"
        );
    }

    #[test]
    fn a_message_on_a_terminal_is_safe_and_indented() {
        assert_eq!(
            message(Some("hello\n\u{1b}[2J")).to_text(),
            "12  2026-10-01 00:00:00Z  Amber\\u{202e}Otter: hello\n    \\u{1b}[2J"
        );
        assert!(
            message(None)
                .to_text()
                .ends_with("(a message that this version can't show)")
        );
    }

    #[test]
    fn a_person_sees_where_an_own_message_is() {
        let Report::Message(mut message) = message(Some("hello")) else {
            unreachable!();
        };
        message.own = true;
        message.deliveries = [("on_relay", None), ("failed", Some("expired"))]
            .map(|(state, reason)| DeliveryReport {
                member: "id".to_owned(),
                name: "Phone".to_owned(),
                state,
                reason,
            })
            .to_vec();
        assert!(
            message_text(&message)
                .ends_with("you: hello\n    -> Phone: on the relay\n    -> Phone: failed, expired")
        );
    }

    #[test]
    fn what_the_relay_lacks_is_told_with_the_command_that_goes_on() {
        assert!(pending_text(true).contains("on the relay"));
        for text in [
            pending_text(false),
            left_text(false),
            &accepted_text("B", false),
            &removed_text("B", false),
        ] {
            assert!(text.contains("the relay doesn't have"), "{text}");
            assert!(text.contains("`sealpost "), "{text}");
        }
    }

    #[test]
    fn names_in_json_are_snake_case() {
        let report = Report::RelayStopped;
        assert_eq!(json(&report), r#"{"type":"relay_stopped"}"#);
        let report = Report::JoinRequest {
            name: "B".to_owned(),
            words: Default::default(),
            looks_like: None,
        };
        assert_eq!(
            json(&report),
            r#"{"type":"join_request","name":"B","words":["","","",""]}"#
        );
    }
}
