//! The messages of a group, as the window reads and writes them.
//!
//! Owns the translation of the history's rows. The order is the engine's: that of arrival.

use sealpost_engine::core::error::EngineError;
use sealpost_engine::core::issue::SendFailure;
use sealpost_engine::core::message::DeliveryState as EngineState;
use sealpost_engine::engine::Engine;
use sealpost_engine::history::{Delivery, PAGE_ROWS_MAX, Progress, StoredMessage};
use sealpost_protocol::limit;
use sealpost_protocol::message_id::MessageId;

use super::Controller;
use crate::app_error::{AppError, AppErrorCode};
use crate::view::{
    DeliveryState, DeliveryView, FailureReason, MarkRead, MessageIn, MessagePage, MessageText,
    MessageView, MessagesChanged, ReadMessages, RecipientView, RetryMessage, SaveDraft,
    SendMessage, SentMessage,
};

impl Controller {
    /// Queues a text to every other member.
    ///
    /// # Errors
    ///
    /// `message-empty`, `message-too-large`, `not-member`, `group-unknown`, `storage`.
    pub async fn send_message(&self, args: SendMessage) -> Result<SentMessage, AppError> {
        self.note_use();
        if args.text.trim().is_empty() {
            return Err(AppErrorCode::MessageEmpty.into());
        }
        let engine = self.engine(&args.group)?;
        let id = engine.send_text(&args.text).await.map_err(|error| {
            let size = u64::try_from(args.text.len()).unwrap_or(u64::MAX);
            let error = AppError::from(error);
            if error.code == AppErrorCode::MessageTooLarge {
                error.with_number("size", size)
            } else {
                error
            }
        })?;
        Ok(SentMessage { id: id.to_text() })
    }

    /// Some consecutive messages, oldest first.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn messages(&self, args: ReadMessages) -> Result<MessagePage, AppError> {
        let limit = usize::try_from(args.limit)
            .unwrap_or(PAGE_ROWS_MAX)
            .clamp(1, PAGE_ROWS_MAX - 1);
        let engine = self.engine(&args.group)?;
        // One more than asked for says whether there are older ones.
        let mut rows = engine.messages_before(args.before, limit + 1).await?;
        let more = rows.len() > limit;
        if more {
            rows.remove(0);
        }
        Ok(MessagePage {
            messages: rows.into_iter().map(message_view).collect(),
            more,
        })
    }

    /// The whole text of a message, to be copied.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`; `message-unknown` when it is gone or can't be shown.
    pub async fn message_text(&self, args: MessageIn) -> Result<MessageText, AppError> {
        let engine = self.engine(&args.group)?;
        let before = Some(args.position.saturating_add(1));
        let found = engine.messages_before(before, 1).await?;
        let found = found.iter().find(|row| row.position == args.position);
        let text = found.and_then(|row| row.content.text());
        let text = text.ok_or(AppErrorCode::MessageUnknown)?.to_owned();
        Ok(MessageText { text })
    }

    /// Sends a message once more to those at whom it failed.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `not-member`, `storage`; `message-unknown` when it is gone or failed
    /// at nobody.
    pub async fn retry_message(&self, args: RetryMessage) -> Result<(), AppError> {
        self.note_use();
        let id = MessageId::parse(&args.id).ok_or(AppErrorCode::MessageUnknown)?;
        let retried = self.engine(&args.group)?.retry(id).await;
        retried.map_err(|error| match error {
            EngineError::MemberNotFound => AppErrorCode::MessageUnknown.into(),
            other => AppError::from(other),
        })?;
        self.changed();
        Ok(())
    }

    /// Deletes a message on this device.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn delete_message(&self, args: MessageIn) -> Result<(), AppError> {
        self.note_use();
        let engine = self.engine(&args.group)?;
        engine.delete_message(args.position).await?;
        self.forget_subject(&args.group);
        let group = args.group;
        self.window().emit_messages(&MessagesChanged {
            group: group.clone(),
            from: args.position,
        });
        self.recount(&group);
        Ok(())
    }

    /// Keeps what was typed and not sent.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn save_draft(&self, args: SaveDraft) -> Result<(), AppError> {
        self.note_use();
        let engine = self.engine(&args.group)?;
        engine.set_draft(args.text).await?;
        self.take_draft(&args.group, &engine).await;
        Ok(())
    }

    /// Takes over the draft as the engine keeps it, which may be shorter than it was typed.
    pub(super) async fn take_draft(&self, group: &str, engine: &Engine) {
        let Ok(draft) = engine.draft().await else {
            return;
        };
        if let Some(group) = self.state().groups.get_mut(group) {
            group.draft = draft;
        }
        self.changed();
    }

    /// Keeps that everything up to a position was seen.
    ///
    /// # Errors
    ///
    /// `group-unknown`, `storage`.
    pub async fn mark_read(&self, args: MarkRead) -> Result<(), AppError> {
        self.engine(&args.group)?.mark_read(args.position).await?;
        self.note_read(&args.group, args.position);
        self.recount(&args.group);
        Ok(())
    }
}

fn message_view(row: StoredMessage) -> MessageView {
    MessageView {
        position: row.position,
        id: row.id.to_text(),
        own: row.own,
        author_id: row.author.as_str().to_owned(),
        text: row.content.text().map(str::to_owned),
        sent_at_ms: row.sent_at_ms,
        stored_at_ms: row.stored_at_ms,
        delivery: delivery_view(&row.deliveries).filter(|_| row.own),
        author_name: row.author_name,
        via: row.via,
    }
}

/// What is known about a message on its way; nothing of a message to nobody.
fn delivery_view(deliveries: &[Delivery]) -> Option<DeliveryView> {
    let progress = Progress::of(deliveries)?;
    Some(DeliveryView {
        state: state_view(progress.state)?,
        on_relay: count(progress.on_relay),
        total: count(progress.total),
        // The earliest end: none of the copies is promised for longer.
        kept_until_ms: progress
            .on_relay_at_ms
            .map(|at| at.saturating_add(limit::RELAY_LIFE_MS_MAX)),
        reason: progress.failure.map(FailureReason::from),
        recipients: deliveries.iter().filter_map(recipient_view).collect(),
    })
}

/// Nothing of a copy that was taken back.
fn state_view(state: EngineState) -> Option<DeliveryState> {
    match state {
        EngineState::Waiting => Some(DeliveryState::Waiting),
        EngineState::Sending => Some(DeliveryState::Sending),
        EngineState::OnRelay { .. } => Some(DeliveryState::OnRelay),
        EngineState::Failed(_) => Some(DeliveryState::Failed),
        EngineState::Withdrawn => None,
    }
}

fn recipient_view(delivery: &Delivery) -> Option<RecipientView> {
    let reason = match delivery.state {
        EngineState::Failed(failure) => Some(failure.into()),
        _ => None,
    };
    Some(RecipientView {
        name: delivery.name.clone(),
        state: state_view(delivery.state)?,
        reason,
    })
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl From<SendFailure> for FailureReason {
    fn from(failure: SendFailure) -> Self {
        match failure {
            SendFailure::TooLarge => Self::TooLarge,
            SendFailure::Malformed => Self::Malformed,
            SendFailure::Expired => Self::Expired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::OsRng;
    use sealpost_protocol::key::DeviceSecrets;

    fn to(state: EngineState) -> Delivery {
        let member = DeviceSecrets::generate(&mut OsRng)
            .keys()
            .signing
            .member_id();
        Delivery {
            member,
            name: "Phone".to_owned(),
            state,
        }
    }

    #[test]
    fn a_message_is_as_far_as_its_least_advanced_recipient() {
        let day = 24 * 60 * 60 * 1000;
        let view = delivery_view(&[
            to(EngineState::OnRelay { at_ms: 2 * day }),
            to(EngineState::OnRelay { at_ms: day }),
            to(EngineState::Waiting),
            to(EngineState::Withdrawn),
        ])
        .expect("there are recipients");
        assert_eq!(view.state, DeliveryState::Waiting);
        assert_eq!((view.on_relay, view.total), (2, 3));
        assert_eq!(view.kept_until_ms, Some(31 * day));
        assert_eq!(view.recipients.len(), 3);
        assert!(view.reason.is_none());
    }

    #[test]
    fn a_failure_is_shown_before_everything_else() {
        let view = delivery_view(&[
            to(EngineState::Waiting),
            to(EngineState::Failed(SendFailure::TooLarge)),
            to(EngineState::OnRelay { at_ms: 0 }),
        ])
        .expect("there are recipients");
        assert_eq!(view.state, DeliveryState::Failed);
        assert_eq!(view.reason, Some(FailureReason::TooLarge));
    }

    #[test]
    fn nothing_is_claimed_of_a_message_to_nobody() {
        assert!(delivery_view(&[]).is_none());
        assert!(delivery_view(&[to(EngineState::Withdrawn)]).is_none());
    }
}
