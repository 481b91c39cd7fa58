//! What a desktop and a phone say to each other inside a link: the bodies of `msg` and `state`.
//!
//! Owns the JSON of both sides, `ui/phone/src/feed.ts` mirrors it. Types and fields that aren't
//! known are passed over on both sides. Nothing here is trusted because it arrived: texts are
//! shown as text, names cleaned, sizes checked by whoever acts on them.
//!
//! A group is named by its local namespace on the desktop; that name means nothing anywhere else.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The collapse key of [`FromDesktop::Groups`].
pub const GROUPS_KEY: &str = "groups";

/// The collapse key of a group's [`FromDesktop::Tail`].
#[must_use]
pub fn tail_key(group: &str) -> String {
    format!("tail:{group}")
}

/// The collapse key of a group's [`FromDesktop::Changed`].
#[must_use]
pub fn changed_key(group: &str) -> String {
    format!("changed:{group}")
}

/// The collapse key of a group's [`FromPhone::Read`].
#[must_use]
pub fn read_key(group: &str) -> String {
    format!("read:{group}")
}

/// From desktop to phone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FromDesktop {
    /// A `state`: the groups that the phone may see.
    Groups {
        /// The desktop's name.
        desktop: String,
        /// The phone's name, as the desktop calls it.
        phone: String,
        /// The language of the desktop: `en` or `de`.
        language: String,
        /// The groups, in the desktop's order.
        groups: Vec<Group>,
    },
    /// A `state`: the newest messages of a group, whole and replaceable.
    Tail {
        /// The group.
        group: String,
        /// The position of the message before the first one; `None`: it is the oldest.
        from: Option<u64>,
        /// Oldest first.
        messages: Vec<Message>,
    },
    /// A `state`: older own messages of which a delivery moved on.
    Changed {
        /// The group.
        group: String,
        /// Oldest first.
        messages: Vec<Message>,
    },
    /// A `msg`: the answer to [`FromPhone::History`].
    Page {
        /// The group.
        group: String,
        /// The id of the payload that asked.
        request: String,
        /// Oldest first.
        messages: Vec<Message>,
        /// Whether there are older ones.
        more: bool,
    },
    /// A `msg`: what the phone sent can't be done.
    Refused {
        /// The id of the payload that was refused.
        message: String,
        /// Why: `notMember`, `tooLarge`, `groupGone`, `notShared`, or another word later.
        code: String,
    },
    /// Something that this build doesn't know.
    #[serde(other)]
    Unknown,
}

/// From phone to desktop.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum FromPhone {
    /// A `msg`: a text for a group. The payload's id becomes the id of the app's message, so
    /// that handling it twice shows it once.
    Text {
        /// The group.
        group: String,
        /// The text.
        text: String,
    },
    /// A `msg`: asks for older messages.
    History {
        /// The group.
        group: String,
        /// Messages before this position.
        before: u64,
    },
    /// A `state`: the person has read up to here.
    Read {
        /// The group.
        group: String,
        /// The newest message that was read.
        position: u64,
    },
    /// Something that this build doesn't know.
    #[serde(other)]
    Unknown,
}

/// A group in the phone's list.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Names the group on this link.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How many members it has.
    pub members: u32,
    /// How many messages are unread on the desktop.
    pub unread: u64,
    /// The position of its newest message.
    pub last: Option<u64>,
    /// What keeps it from working, if something does.
    pub trouble: Option<Trouble>,
}

/// What keeps a group from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Trouble {
    /// The desktop has no connection to the group's relay.
    NotConnected,
    /// The desktop asks for something.
    NeedsYou,
    /// The group is over.
    Ended,
    /// Something that this build doesn't know.
    #[serde(other)]
    Other,
}

/// A message of a group.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its place in the desktop's history of the group.
    pub position: u64,
    /// The id of the app's message: 22 characters of base64url.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// Whether the desktop's device did.
    pub own: bool,
    /// The phone from which it was written.
    pub via: Option<String>,
    /// What it says; `None`: something that the desktop doesn't know.
    pub text: Option<String>,
    /// Whether the text is only the beginning: the whole is too long for a phone.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub cut: bool,
    /// When the desktop stored it, in Unix ms.
    pub at: u64,
    /// How far an own message got.
    pub delivery: Option<Delivery>,
}

/// How far an own message got.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Of the copy that is the furthest behind.
    pub state: DeliveryState,
    /// How many copies are on the relay.
    pub on_relay: u32,
    /// How many copies there are.
    pub total: u32,
    /// The code of the reason, where one failed.
    pub reason: Option<String>,
}

/// How far a copy got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeliveryState {
    /// It waits on the desktop.
    Waiting,
    /// It is being sent.
    Sending,
    /// The relay has it.
    OnRelay,
    /// It won't arrive.
    Failed,
    /// Something that this build doesn't know.
    #[serde(other)]
    Other,
}

/// Implements that a value prints its type and nothing else.
macro_rules! prints_its_name {
    ($name:ident) => {
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

/// Implements a body's bytes, and that it prints its type and nothing else.
macro_rules! body {
    ($name:ident) => {
        impl $name {
            /// The body as bytes.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                serde_json::to_vec(self).unwrap_or_default()
            }

            /// Reads a body; `None` where it isn't one.
            #[must_use]
            pub fn decode(body: &[u8]) -> Option<Self> {
                serde_json::from_slice(body).ok()
            }
        }

        prints_its_name!($name);
    };
}

body!(FromDesktop);
body!(FromPhone);
prints_its_name!(Group);
prints_its_name!(Message);
prints_its_name!(Delivery);

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message {
            position: 7,
            id: "q6urq6urq6urq6urq6urqw".to_owned(),
            author: "Desk".to_owned(),
            own: true,
            via: Some("Phone".to_owned()),
            text: Some("hello".to_owned()),
            cut: false,
            at: 1_795_000_000_000,
            delivery: Some(Delivery {
                state: DeliveryState::OnRelay,
                on_relay: 2,
                total: 3,
                reason: None,
            }),
        }
    }

    const MESSAGE: &str = r#"{"position":7,"id":"q6urq6urq6urq6urq6urqw","author":"Desk","own":true,"via":"Phone","text":"hello","at":1795000000000,"delivery":{"state":"onRelay","onRelay":2,"total":3,"reason":null}}"#;

    #[test]
    fn each_body_from_the_desktop_has_its_bytes() {
        let home = || "home".to_owned();
        let group = Group {
            id: home(),
            name: "Home".to_owned(),
            members: 3,
            unread: 1,
            last: Some(7),
            trouble: Some(Trouble::NotConnected),
        };
        let groups = FromDesktop::Groups {
            desktop: "Desk".to_owned(),
            phone: "Phone".to_owned(),
            language: "en".to_owned(),
            groups: vec![group],
        };
        let tail = FromDesktop::Tail {
            group: home(),
            from: None,
            messages: vec![message()],
        };
        let changed = FromDesktop::Changed {
            group: home(),
            messages: vec![],
        };
        let page = FromDesktop::Page {
            group: home(),
            request: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            messages: vec![],
            more: true,
        };
        let refused = FromDesktop::Refused {
            message: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            code: "notMember".to_owned(),
        };
        let tail_text =
            format!(r#"{{"type":"tail","group":"home","from":null,"messages":[{MESSAGE}]}}"#);
        for (body, text) in [
            (
                groups,
                r#"{"type":"groups","desktop":"Desk","phone":"Phone","language":"en","groups":[{"id":"home","name":"Home","members":3,"unread":1,"last":7,"trouble":"notConnected"}]}"#,
            ),
            (tail, &tail_text),
            (
                changed,
                r#"{"type":"changed","group":"home","messages":[]}"#,
            ),
            (
                page,
                r#"{"type":"page","group":"home","request":"AAAAAAAAAAAAAAAAAAAAAA","messages":[],"more":true}"#,
            ),
            (
                refused,
                r#"{"type":"refused","message":"AAAAAAAAAAAAAAAAAAAAAA","code":"notMember"}"#,
            ),
        ] {
            assert_eq!(String::from_utf8(body.encode()).unwrap(), text);
            assert_eq!(FromDesktop::decode(text.as_bytes()), Some(body));
        }
    }

    #[test]
    fn each_body_from_the_phone_has_its_bytes() {
        let group = || "home".to_owned();
        let text = FromPhone::Text {
            group: group(),
            text: "hi".to_owned(),
        };
        let history = FromPhone::History {
            group: group(),
            before: 7,
        };
        let read = FromPhone::Read {
            group: group(),
            position: 9,
        };
        for (body, text) in [
            (text, r#"{"type":"text","group":"home","text":"hi"}"#),
            (history, r#"{"type":"history","group":"home","before":7}"#),
            (read, r#"{"type":"read","group":"home","position":9}"#),
        ] {
            assert_eq!(String::from_utf8(body.encode()).unwrap(), text);
            assert_eq!(FromPhone::decode(text.as_bytes()), Some(body));
        }
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let later = br#"{"type":"wave","group":"home","x":[1]}"#;
        assert_eq!(FromPhone::decode(later), Some(FromPhone::Unknown));
        assert_eq!(FromDesktop::decode(later), Some(FromDesktop::Unknown));
        let more = br#"{"type":"text","group":"home","text":"hi","reply":7}"#;
        assert!(matches!(
            FromPhone::decode(more),
            Some(FromPhone::Text { .. })
        ));
        let trouble: Trouble = serde_json::from_str(r#""later""#).unwrap();
        assert_eq!(trouble, Trouble::Other);
        for wrong in ["", "{}", "[]", r#"{"type":"text"}"#] {
            let wrong = wrong.as_bytes();
            assert!(FromPhone::decode(wrong).is_none_or(|body| body == FromPhone::Unknown));
            assert!(FromDesktop::decode(wrong).is_none_or(|body| body == FromDesktop::Unknown));
        }
    }

    #[test]
    fn states_have_their_keys_and_nothing_is_printed() {
        let keys = [tail_key("home"), changed_key("home"), read_key("home")];
        assert_eq!(keys, ["tail:home", "changed:home", "read:home"]);
        assert_eq!(format!("{:?}", message()), "Message");
    }
}
