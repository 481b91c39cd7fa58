//! What a command says about a group as a whole: who is in it, who came and went, its end.

use std::fmt::Write as _;

use sealpost_engine::core::membership::Cohesion;
use sealpost_engine::history::{NoteKind, StoredNote};
use sealpost_protocol::limit::RELAY_LIFE_MS_MAX;
use sealpost_protocol::manifest::ManifestHash;
use serde::Serialize;

use crate::terminal_text::one_line;
use sealpost_engine::utc;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The member list as a whole. On devices that agree all but `cohesion` is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct MembershipReport {
    /// The version of the current manifest.
    pub(crate) version: u64,
    /// Its hash, in hex.
    pub(crate) hash: String,
    /// The ids of all members, this device among them, in order.
    pub(crate) members: Vec<String>,
    /// How this device stands with the others.
    pub(crate) cohesion: &'static str,
}

impl MembershipReport {
    pub(crate) fn new(
        (version, hash): (u64, ManifestHash),
        members: Vec<String>,
        cohesion: Cohesion,
    ) -> Self {
        let hash = hash.as_bytes().iter().fold(String::new(), |mut hex, byte| {
            // Writing to a text can't fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        Self {
            version,
            hash,
            members,
            cohesion: cohesion.code(),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let short = self.hash.get(..16).unwrap_or_default();
        let list = format!(
            "List {}, {short}: the same on devices that agree.",
            self.version
        );
        match cohesion_text(self.cohesion) {
            Some(text) => format!("{list}\n{text}"),
            None => list,
        }
    }
}

fn cohesion_text(cohesion: &str) -> Option<&'static str> {
    let text = if cohesion == Cohesion::Unlisted.code() {
        "The others don't list this device at the moment. What it sends waits until they do."
    } else if cohesion == Cohesion::AdmissionVoid.code() {
        "The device that let this one in was itself removed at the same time, so the others \
         don't count this one in. Leave with `sealpost leave` and join again, with an invitation \
         of a device that is in the group."
    } else if cohesion == Cohesion::CutOff.code() {
        "The device that let this one in is gone, and nothing has been heard of those that are \
         left. They may be offline. If it stays so, the group has come apart: join again, with \
         an invitation of one of them."
    } else {
        return None;
    };
    Some(text)
}

/// A line of the membership history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NoteReport {
    /// Its place in the history of this device.
    pub(crate) position: u64,
    /// When this device saw it.
    pub(crate) seen_at_ms: u64,
    /// `created`, `added`, `found`, `left`, `removed` or `void`.
    pub(crate) what: &'static str,
    /// Whom it happened to.
    pub(crate) member: String,
    /// That device's name.
    pub(crate) name: String,
    /// Whether that is this device.
    pub(crate) is_me: bool,
    /// Who did it, where that is known.
    pub(crate) by: Option<String>,
    /// That device's name, where it is known.
    pub(crate) by_name: Option<String>,
    /// Whether that is this device.
    pub(crate) by_me: bool,
    /// The version of the list that says so, where it is known.
    pub(crate) version: Option<u64>,
}

impl NoteReport {
    pub(crate) fn of(stored: StoredNote) -> Self {
        let what = stored.note.kind().code();
        let note = stored.note;
        Self {
            position: stored.position,
            seen_at_ms: note.seen_ms,
            what,
            member: note.member.keys.signing.member_id().as_str().to_owned(),
            name: note.member.name.as_str().to_owned(),
            is_me: note.is_me,
            version: note.by.as_ref().map(|by| by.version),
            by: note
                .by
                .as_ref()
                .map(|by| by.issuer.member_id().as_str().to_owned()),
            by_name: note
                .by
                .and_then(|by| by.name)
                .map(|name| name.as_str().to_owned()),
            by_me: note.by_me,
        }
    }

    pub(super) fn to_text(&self) -> String {
        let who = if self.is_me {
            "this device".to_owned()
        } else {
            one_line(&self.name)
        };
        let by = match (&self.by_name, self.by_me) {
            (_, true) => " by this device".to_owned(),
            (Some(name), false) => format!(" by {}", one_line(name)),
            (None, false) => String::new(),
        };
        let what = if self.what == NoteKind::Created.code() {
            "made the group".to_owned()
        } else if self.what == NoteKind::Added.code() {
            format!("was let in{by}")
        } else if self.what == NoteKind::Found.code() {
            "was found in the group".to_owned()
        } else if self.what == NoteKind::Left.code() {
            "left".to_owned()
        } else if self.what == NoteKind::Void.code() {
            "is not in the group after all".to_owned()
        } else {
            format!("was removed{by}")
        };
        let version = self
            .version
            .map_or_else(String::new, |version| format!("  (list {version})"));
        format!("{}  {who} {what}{version}", utc::to_text(self.seen_at_ms))
    }
}

/// What destroying a group does, and what it can't do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DestroyLimits {
    /// How many other devices are told.
    devices: usize,
    /// For how many days at most the relay keeps the news for a device that is offline.
    reaches_within_days: u64,
    /// What it can't do.
    cannot: [&'static str; 4],
}

impl DestroyLimits {
    pub(crate) const fn new(devices: usize) -> Self {
        Self {
            devices,
            reaches_within_days: RELAY_LIFE_MS_MAX / DAY_MS,
            cannot: [
                "erase_stolen",
                "reach_later",
                "finish_without_relay",
                "be_undone",
            ],
        }
    }

    pub(super) fn to_text(&self) -> String {
        format!(
            "This ends the group for everybody: each device that the news reaches ({} are told) \
             leaves it and takes new keys. The messages that are stored on a device stay there \
             to be read.\n\
             It can't\n\
             - erase anything on a device that was stolen;\n\
             - reach a device that stays offline for more than {} days, or for less where the \
             relay keeps messages for a shorter time;\n\
             - finish while the relay can't be reached;\n\
             - be undone. Every member can do it, and so can every former one.",
            self.devices, self.reaches_within_days
        )
    }
}

pub(super) const fn destroyed_text(told: bool) -> &'static str {
    if told {
        "The group is over for this device; the others learn so from the relay. The messages \
         that were stored here stay."
    } else {
        "The group ends, but the relay doesn't have the news for all of the others yet. \
         `sealpost group destroy` tries again; `sealpost forget` stops trying, and whoever was \
         not told goes on with the group."
    }
}

pub(super) fn renamed_text(name: &str, told: bool) -> String {
    let name = one_line(name);
    if told {
        format!("The group is called {name} now.")
    } else {
        format!(
            "The group is called {name} now, but the relay doesn't have the news for the others \
             yet. It goes out with the next `sealpost tail` or `sealpost send` that reaches the \
             relay."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_everywhere_is_told_in_full_to_scripts() {
        let members = vec!["a".to_owned(), "b".to_owned()];
        let hash = ManifestHash::from_bytes([0xab; 32]);
        let report = MembershipReport::new((7, hash), members, Cohesion::Whole);
        assert_eq!(report.members, ["a", "b"]);
        assert_eq!(report.hash, "ab".repeat(32));
        assert!(report.to_text().contains("List 7, abababababababab:"));
        assert!(!report.to_text().contains('\n'));
    }

    #[test]
    fn what_can_not_be_repaired_is_told_with_what_to_do() {
        for cohesion in [Cohesion::AdmissionVoid, Cohesion::CutOff] {
            let text = cohesion_text(cohesion.code()).unwrap();
            assert!(text.contains("join again"), "{text}");
        }
        assert!(cohesion_text(Cohesion::Unlisted.code()).is_some());
        assert_eq!(cohesion_text(Cohesion::Whole.code()), None);
    }

    #[test]
    fn the_end_of_a_group_is_announced_with_its_limits() {
        let limits = DestroyLimits::new(3);
        assert_eq!(limits.reaches_within_days, 30);
        let text = limits.to_text();
        for part in [
            "stolen",
            "30 days",
            "relay can't be reached",
            "former",
            "new keys",
        ] {
            assert!(text.contains(part), "{part}");
        }
        assert!(destroyed_text(false).contains("`sealpost forget`"));
    }
}
