//! The pairing window of a group, on the admitting side.
//!
//! Owns its end: ten minutes after it opened, when a device was accepted, or when the person
//! left its screen; the reason stays to be shown. Who may be admitted, the words and the
//! proof are the engine's.

use sealpost_engine::core::event::{JoinRequestId, PairingWindow};
use sealpost_engine::engine::Engine;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::invitation::Invitation;

use super::Controller;
use crate::app_error::{AppError, AppErrorCode};
use crate::qr_code;
use crate::view::{InGroup, JoinRequestIn, PairingClosed};

/// The code of an open window and its picture.
pub(super) struct DrawnCode {
    pub(super) link: String,
    pub(super) svg: String,
}

impl DrawnCode {
    /// The link of a window. Nothing without a relay to name in it.
    pub(super) fn link(window: &PairingWindow, relay: Option<RelayAddress>) -> Option<String> {
        Invitation {
            relay,
            token: window.token.clone(),
        }
        .to_link()
    }

    /// Draws the code of a link.
    pub(super) fn new(link: String) -> Option<Self> {
        let svg = qr_code::draw(&link)?;
        Some(Self { link, svg })
    }
}

impl Controller {
    /// Opens a pairing window. One that is open stays: its code may be on its way to somebody.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `not-member`.
    pub async fn start_pairing(&self, args: InGroup) -> Result<(), AppError> {
        self.begin_pairing(&args.group).await
    }

    /// Closes the pairing window, because the person did or left its screen.
    ///
    /// # Errors
    ///
    /// `group-unknown`.
    pub async fn cancel_pairing(&self, args: InGroup) -> Result<(), AppError> {
        let engine = self.engine(&args.group)?;
        if engine.pairing().window.is_some() {
            self.close_window(&args.group, &engine, PairingClosed::Cancelled)
                .await?;
        }
        Ok(())
    }

    /// Admits the device that made a request.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `request-unknown`, `pairing-closed`, `removed-before`, `keys-mismatch`,
    /// `group-full`.
    pub async fn accept_request(&self, args: JoinRequestIn) -> Result<(), AppError> {
        let engine = self.engine(&args.group)?;
        engine.accept(request_id(&engine, &args.request)?).await?;
        if engine.pairing().window.is_none() {
            self.note_closed(&args.group, PairingClosed::Accepted);
        }
        Ok(())
    }

    /// Dismisses a request; the device that made it isn't told.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `request-unknown`.
    pub async fn dismiss_request(&self, args: JoinRequestIn) -> Result<(), AppError> {
        let engine = self.engine(&args.group)?;
        engine.dismiss(request_id(&engine, &args.request)?).await?;
        self.changed();
        Ok(())
    }

    pub(super) async fn begin_pairing(&self, group: &str) -> Result<(), AppError> {
        let engine = self.engine(group)?;
        let now_ms = self.now_ms();
        let window = engine.pairing().window;
        if window.is_none_or(|window| window.is_over(now_ms)) {
            engine.start_pairing().await?;
        }
        if let Some(group) = self.state().groups.get_mut(group) {
            group.pairing_closed = None;
            group.stale_request = None;
            group.dropped_admission = None;
        }
        self.changed();
        Ok(())
    }

    /// Closes the windows whose time is over, also those of an earlier run.
    pub(super) async fn close_expired_windows(&self) {
        let now_ms = self.now_ms();
        let is_over = |engine: &Engine| {
            let window = engine.pairing().window;
            window.is_some_and(|window| window.is_over(now_ms))
        };
        for (group, engine) in self.engines() {
            if is_over(&engine) {
                // An engine that is closed has closed its window.
                let _ = self
                    .close_window(&group, &engine, PairingClosed::Expired)
                    .await;
            }
        }
    }

    async fn close_window(
        &self,
        group: &str,
        engine: &Engine,
        reason: PairingClosed,
    ) -> Result<(), AppError> {
        engine.cancel_pairing().await?;
        self.note_closed(group, reason);
        Ok(())
    }

    fn note_closed(&self, group: &str, reason: PairingClosed) {
        if let Some(group) = self.state().groups.get_mut(group) {
            group.pairing_closed = Some(reason);
        }
        self.changed();
    }
}

/// The request that the window means; only one that is still on the screen.
fn request_id(engine: &Engine, text: &str) -> Result<JoinRequestId, AppError> {
    let requests = engine
        .pairing()
        .window
        .ok_or(AppErrorCode::PairingClosed)?
        .requests;
    requests
        .iter()
        .map(|request| request.id)
        .find(|id| request_text(*id) == text)
        .ok_or_else(|| AppErrorCode::RequestUnknown.into())
}

/// A request's id as the window knows it.
pub(super) fn request_text(id: JoinRequestId) -> String {
    id.0.to_string()
}
