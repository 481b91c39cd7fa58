//! The relay of a group: changing it, and handing its address on.
//!
//! Owns nothing that lasts: the address is in the group's data, and whether the group follows
//! the relay on this computer is in a list of the profile.

use sealpost_protocol::address::RelayAddress;

use super::group::{GROUPS_ON_RELAY_HERE, read_address};
use super::{Controller, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::qr_code;
use crate::settings::Settings as _;
use crate::view::{InGroup, RelayChoice, RelayCode, RelayOf, SavedFile, SetGroupRelay};
use crate::window::FileProposal;

impl Controller {
    /// Takes this device's part of a group to another relay. The other devices stay where
    /// they are until they are told.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `relay-address-invalid`, what keeps the relay on this computer from
    /// running, `storage`.
    pub async fn set_group_relay(&self, args: SetGroupRelay) -> Result<(), AppError> {
        let _lifecycle = self.shared.lifecycle.lock().await;
        let (profile, keys) = self.opened()?;
        let engine = self.engine(&args.group)?;
        let is_here = matches!(args.relay, RelayChoice::ThisComputer);
        let relay = match &args.relay {
            RelayChoice::ThisComputer => self.relay_here(&profile, &keys).await?,
            RelayChoice::Address { address } => read_address(address)?,
        };
        engine.set_relay(relay).await?;
        if is_here {
            profile.list(GROUPS_ON_RELAY_HERE, &args.group)?;
        } else {
            profile.unlist(GROUPS_ON_RELAY_HERE, &args.group)?;
        }
        self.changed();
        Ok(())
    }

    /// The address of a relay as text and as a code.
    ///
    /// # Errors
    ///
    /// `group-unknown`; `relay-needed` when the group has no relay, or the one on this
    /// computer is off.
    pub fn relay_code(&self, args: &RelayOf) -> Result<RelayCode, AppError> {
        let relay = match &args.group {
            Some(group) => self.engine(group)?.relay(),
            None => self.running_relay(),
        };
        let address = relay.ok_or(AppErrorCode::RelayNeeded)?.to_text();
        let qr_svg = qr_code::draw(&address).ok_or(AppErrorCode::Internal)?;
        Ok(RelayCode { address, qr_svg })
    }

    /// Saves the code of the open pairing window as a picture, where the person wants it.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `pairing-closed`, `file-unwritable`.
    pub async fn save_qr_image(&self, args: InGroup) -> Result<SavedFile, AppError> {
        let engine = self.engine(&args.group)?;
        let window = engine.pairing().window.ok_or(AppErrorCode::PairingClosed)?;
        let link = super::pairing::DrawnCode::link(&window, engine.relay());
        let link = link.ok_or(AppErrorCode::PairingClosed)?;
        let catalogue = self.shared.setup.catalogue.get();
        let proposal = FileProposal {
            name: catalogue.text("file-code"),
            kind: catalogue.text("file-picture"),
            extension: "png",
        };
        let png = blocking(move || qr_code::png(&link))
            .await?
            .ok_or(AppErrorCode::Internal)?;
        self.save_file(proposal, png).await
    }

    /// Asks the person for a place and writes a file there.
    pub(super) async fn save_file(
        &self,
        proposal: FileProposal,
        content: Vec<u8>,
    ) -> Result<SavedFile, AppError> {
        let window = std::sync::Arc::clone(&self.shared.setup.window);
        blocking(move || {
            let Some(path) = window.choose_new_file(&proposal) else {
                return Ok(SavedFile { saved: false });
            };
            std::fs::write(path, content).map_err(|_| AppErrorCode::FileUnwritable)?;
            Ok(SavedFile { saved: true })
        })
        .await?
    }

    /// The address of the running relay on this computer.
    fn running_relay(&self) -> Option<RelayAddress> {
        self.state().relay.address(&self.shared.setup)
    }
}
