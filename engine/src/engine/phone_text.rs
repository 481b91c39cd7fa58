//! Texts that were written on a phone of this device.
//!
//! Owns that each is sent once. A phone's message comes over its link at least once, and the
//! program may stop between sending it on and saying that it was handled; the id that the
//! phone gave it tells the second time from the first.

use sealpost_protocol::app_message::{AppMessage, AppMessageKind};
use sealpost_protocol::message_id::MessageId;
use sealpost_protocol::name::DeviceName;

use super::Engine;
use crate::core::error::EngineError;
use crate::core::message::AppMessageId;

impl Engine {
    /// Queues a text that was written on `phone`, unless this device has sent one of that id
    /// already; then it is that one's Message ID. It is in the outbox on return.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub async fn send_phone_text(
        &self,
        id: AppMessageId,
        phone: &str,
        text: String,
    ) -> Result<MessageId, EngineError> {
        let me = self.me().id;
        let body = AppMessage {
            id,
            kind: AppMessageKind::Text(text),
            via: DeviceName::of_phone(phone),
        };
        self.actor
            .call_with(
                move |store| store.message_of_app_id(&me, &id),
                move |device, sent, now_ms| match sent {
                    Some(sent) => Ok(sent),
                    None => device.handle_send(body.encode(), now_ms),
                },
            )
            .await
    }
}
