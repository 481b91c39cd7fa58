//! The calls of the handle, on the thread.

use sealpost_protocol::link::payload::PayloadId;

use super::Actor;
use crate::link::error::LinksError;
use crate::link::info::{Arrived, LinkContent, PairingStarted, SentRow};
use crate::link::links::PairingOptions;
use crate::link::name::LinkName;

type Result<T> = std::result::Result<T, LinksError>;

#[expect(
    clippy::unused_self,
    clippy::needless_pass_by_ref_mut,
    reason = "made in the next step"
)]
impl Actor {
    pub(in crate::link) fn start_pairing(&mut self, _: &PairingOptions) -> Result<PairingStarted> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn join(&mut self, _: &str, _: &str) -> Result<LinkName> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn confirm_digits(&mut self, _: &LinkName) -> Result<()> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn cancel_pairing(&mut self, _: &LinkName) -> Result<()> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn rename(&mut self, _: &LinkName, _: &str) -> Result<()> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn unpair(&mut self, _: &LinkName) -> Result<()> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn dismiss(&mut self, _: &LinkName) -> Result<()> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn send(
        &mut self,
        _: &LinkName,
        _: LinkContent,
        _: Vec<u8>,
        _: Option<PayloadId>,
    ) -> Result<PayloadId> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn arrived(
        &mut self,
        _: &LinkName,
        _: u64,
        _: usize,
    ) -> Result<Vec<Arrived>> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn handled(&mut self, _: &LinkName, _: &PayloadId) -> Result<()> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn outbox(&mut self, _: &LinkName) -> Result<Vec<SentRow>> {
        Err(LinksError::Closed)
    }
    pub(in crate::link) fn dismiss_failed(&mut self, _: &LinkName, _: &PayloadId) -> Result<bool> {
        Err(LinksError::Closed)
    }
}
