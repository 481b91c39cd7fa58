//! The ids that were accepted, so that what comes again isn't delivered again.

use std::collections::{BTreeSet, VecDeque};

use sealpost_protocol::link::payload::PayloadId;

use super::step::{LinkChange, LinkStep};
use super::timing;

/// The newest accepted ids.
#[derive(Default)]
pub(super) struct AcceptedIds {
    order: VecDeque<PayloadId>,
    known: BTreeSet<PayloadId>,
}

impl AcceptedIds {
    /// Builds it from the stored ids, oldest first.
    pub(super) fn restore(ids: Vec<PayloadId>) -> Self {
        let known = ids.iter().copied().collect();
        let order = ids.into();
        Self { order, known }
    }

    pub(super) fn knows(&self, id: &PayloadId) -> bool {
        self.known.contains(id)
    }

    /// Takes an id; whether it is a new one.
    pub(super) fn accept(&mut self, id: PayloadId, step: &mut LinkStep) -> bool {
        if !self.known.insert(id) {
            return false;
        }
        self.order.push_back(id);
        step.changes.push(LinkChange::Accepted { id });
        while self.order.len() > timing::ACCEPTED_IDS_MAX {
            let Some(id) = self.order.pop_front() else {
                break;
            };
            self.known.remove(&id);
            step.changes.push(LinkChange::AcceptedForgotten { id });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> PayloadId {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        PayloadId::from_bytes(bytes)
    }

    #[test]
    fn an_id_is_new_once_and_the_oldest_go() {
        let mut step = LinkStep::default();
        let first = u32::try_from(timing::ACCEPTED_IDS_MAX).unwrap();
        let mut accepted = AcceptedIds::restore((0..first).map(id).collect());
        assert!(!accepted.accept(id(0), &mut step));
        assert!(step.is_empty());
        assert!(accepted.accept(id(first), &mut step));
        assert!(
            step.changes
                == [
                    LinkChange::Accepted { id: id(first) },
                    LinkChange::AcceptedForgotten { id: id(0) }
                ]
        );
        assert!(!accepted.knows(&id(0)) && accepted.knows(&id(1)));
    }
}
