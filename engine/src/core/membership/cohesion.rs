//! How well this device holds together with the others, as far as it can see.
//!
//! Two situations can't be repaired by any rule (amendment 2): an admission by a device that
//! was removed at the same time is void, and a group whose common members have all gone is
//! torn. No message says so to the device itself, so what it can see is put together here. It
//! changes nothing and decides nothing; it is there to be shown.
//!
//! Spec: membership rule, section 4 (1, 2).

use std::collections::BTreeSet;

use sealpost_protocol::key::SigningPublic;

use super::Membership;

/// What a device sees of its place among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cohesion {
    /// Nothing speaks against it.
    Whole,
    /// The members' manifests don't list this device at the moment. Its messages wait.
    Unlisted,
    /// Whoever let this device in had been removed by then. The others don't know it, and it
    /// has to pair again with one of them.
    AdmissionVoid,
    /// Whoever let this device in is gone, and none of those that are left was ever heard of.
    /// They may be offline; or they don't know this device, and the group is torn.
    CutOff,
}

impl Cohesion {
    /// The stable name of the value, for JSON and the message catalogue.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Unlisted => "unlisted",
            Self::AdmissionVoid => "admissionVoid",
            Self::CutOff => "cutOff",
        }
    }
}

impl Membership {
    /// How this device stands with the others. `heard` are those that wrote a message.
    #[must_use]
    pub fn cohesion(&self, heard: &BTreeSet<SigningPublic>) -> Cohesion {
        if self.is_admission_void() {
            Cohesion::AdmissionVoid
        } else if !self.is_listed() {
            Cohesion::Unlisted
        } else if self.is_cut_off(heard) {
            Cohesion::CutOff
        } else {
            Cohesion::Whole
        }
    }

    /// Whether whoever let this device in had been removed by then, and nobody else did.
    ///
    /// Either this device knows that; or it never heard of the removal, and the merge that
    /// closes its admission takes its admitter and itself out at once, which nobody does by
    /// hand.
    #[must_use]
    pub fn is_admission_void(&self) -> bool {
        self.standing.is_admission_void || self.is_closed_with_admitter()
    }

    fn is_closed_with_admitter(&self) -> bool {
        let admitter = self.known.tombs.get(self.root.issuer());
        let me = self.known.tombs.get(&self.me.signing);
        let (Some(admitter), Some(me), Some(_)) = (admitter, me, self.root.parent()) else {
            return false;
        };
        !admitter.removals.is_disjoint(&me.removals)
    }

    fn is_cut_off(&self, heard: &BTreeSet<SigningPublic>) -> bool {
        let is_left_alone =
            self.root.parent().is_some() && self.known.tombs.contains_key(self.root.issuer());
        let me = self.me.signing;
        let mut others = self.view().keys().filter(|key| **key != me).peekable();
        is_left_alone
            && others.peek().is_some()
            && others.all(|key| {
                let has_written =
                    self.known.hello.contains_key(key) || self.known.seen.contains_key(key);
                !has_written && !heard.contains(key)
            })
    }
}
