//! `messages`: what is stored, without waiting for more.

use sealpost_engine::Engine;
use sealpost_engine::core::message::DeliveryState;
use sealpost_engine::history::StoredMessage;

use crate::arguments::{Global, Messages};
use crate::device::Device;
use crate::explanation::engine_error;
use crate::failure::Failure;
use crate::open_group::OpenGroup;
use crate::output::Output;
use crate::report::{DeliveryReport, MessageReport, Report};

/// Messages read and printed at a time.
const PAGE_ROWS: usize = 200;

pub(super) async fn run(
    global: &Global,
    messages: &Messages,
    output: Output,
) -> Result<(), Failure> {
    let device = Device::open(global)?;
    let group = OpenGroup::find(&device, messages.group.group.as_deref()).await?;
    let outcome = print_after(&group.engine, messages.after, output).await;
    group.close().await;
    outcome.map(drop)
}

/// Prints every stored message after `position` and returns the position of the last.
pub(super) async fn print_after(
    engine: &Engine,
    position: u64,
    output: Output,
) -> Result<u64, Failure> {
    let mut printed = position;
    loop {
        let page = engine
            .messages_after(printed, PAGE_ROWS)
            .await
            .map_err(engine_error)?;
        let Some(last) = page.last() else {
            return Ok(printed);
        };
        printed = last.position;
        let reports: Vec<_> = page.iter().map(report).map(Report::Message).collect();
        output.say_all(&reports)?;
    }
}

pub(super) fn report(message: &StoredMessage) -> MessageReport {
    MessageReport {
        position: message.position,
        message_id: message.id.to_text(),
        own: message.own,
        author: message.author.as_str().to_owned(),
        author_name: message.author_name.clone(),
        via: message.via.clone(),
        text: message.content.text().map(str::to_owned),
        sent_at_ms: message.sent_at_ms,
        stored_at_ms: message.stored_at_ms,
        deliveries: message
            .deliveries
            .iter()
            .map(|delivery| DeliveryReport {
                member: delivery.member.as_str().to_owned(),
                name: delivery.name.clone(),
                state: state_name(delivery.state),
                reason: match delivery.state {
                    DeliveryState::Failed(failure) => Some(failure.code()),
                    _ => None,
                },
            })
            .collect(),
    }
}

/// The name of a state in the output; the engine's own names have another shape.
const fn state_name(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Waiting => "waiting",
        DeliveryState::Sending => "sending",
        DeliveryState::OnRelay { .. } => "on_relay",
        DeliveryState::Failed(_) => "failed",
        DeliveryState::Withdrawn => "withdrawn",
    }
}

#[cfg(test)]
mod tests {
    use sealpost_engine::core::issue::SendFailure;

    use super::*;

    #[test]
    fn every_state_has_the_name_that_is_documented() {
        let states = [
            DeliveryState::Waiting,
            DeliveryState::Sending,
            DeliveryState::OnRelay { at_ms: 1 },
            DeliveryState::Failed(SendFailure::Expired),
            DeliveryState::Withdrawn,
        ];
        let names = ["waiting", "sending", "on_relay", "failed", "withdrawn"];
        assert_eq!(states.map(state_name), names);
    }
}
