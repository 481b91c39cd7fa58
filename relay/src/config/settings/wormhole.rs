//! The settings of the wormhole door.

use super::web::WebDraft;
use super::{BYTES_MAX, COUNT_MAX, Reason, Setting, duration, number, setting, size, switch};

/// The shortest life of a mailbox: clients come back after a minute at most.
const LIFE_MS: std::ops::RangeInclusive<u64> = 60_000..=365 * 24 * 3_600_000;

/// Bytes of a frame; the largest is what a browser or a program can be expected to hold.
const FRAME_BYTES: std::ops::RangeInclusive<u64> = 4_096..=64 * 1_024 * 1_024;

fn life(to: &mut WebDraft, text: &str) -> Result<(), Reason> {
    let life_ms = u64::try_from(duration(text)?.as_millis()).unwrap_or(u64::MAX);
    super::check_range(life_ms, *LIFE_MS.start(), *LIFE_MS.end())
        .map_err(|_| Reason::DurationTooShort { seconds_min: 60 })
        .map(|()| to.wormhole().rules.life_ms = life_ms)
}

/// `off`, or the multiple to which moments are rounded down.
fn usage(to: &mut WebDraft, text: &str) -> Result<(), Reason> {
    to.wormhole().rules.usage_blur_ms = match text {
        "off" => None,
        _ => Some(u64::try_from(duration(text)?.as_millis()).unwrap_or(u64::MAX)),
    };
    Ok(())
}

fn words(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub(super) const SETTINGS: &[Setting] = &[
    setting("wormhole.on", "TRUESEAL_RELAY_WORMHOLE_ON", |to, text| {
        switch(text).map(|is_on| to.web.has_wormhole = is_on)
    }),
    setting(
        "wormhole.mailbox_life",
        "TRUESEAL_RELAY_WORMHOLE_MAILBOX_LIFE",
        |to, text| life(&mut to.web, text),
    ),
    setting(
        "wormhole.listing",
        "TRUESEAL_RELAY_WORMHOLE_LISTING",
        |to, text| switch(text).map(|listing| to.web.wormhole().listing = listing),
    ),
    setting(
        "wormhole.motd",
        "TRUESEAL_RELAY_WORMHOLE_MOTD",
        |to, text| {
            to.web.wormhole().welcome.motd = words(text);
            Ok(())
        },
    ),
    setting(
        "wormhole.current_cli_version",
        "TRUESEAL_RELAY_WORMHOLE_CURRENT_CLI_VERSION",
        |to, text| {
            to.web.wormhole().welcome.current_cli_version = words(text);
            Ok(())
        },
    ),
    setting(
        "wormhole.welcome_error",
        "TRUESEAL_RELAY_WORMHOLE_WELCOME_ERROR",
        |to, text| {
            to.web.wormhole().welcome.error = words(text);
            Ok(())
        },
    ),
    setting(
        "wormhole.usage",
        "TRUESEAL_RELAY_WORMHOLE_USAGE",
        |to, text| usage(&mut to.web, text),
    ),
    setting(
        "wormhole.max_mailboxes",
        "TRUESEAL_RELAY_WORMHOLE_MAX_MAILBOXES",
        |to, text| {
            let mailboxes = number(text, 1, COUNT_MAX)?;
            to.web.wormhole().rules.limits.mailboxes_max = mailboxes;
            Ok(())
        },
    ),
    setting(
        "wormhole.max_messages",
        "TRUESEAL_RELAY_WORMHOLE_MAX_MESSAGES",
        |to, text| {
            let messages = number(text, 1, COUNT_MAX)?;
            to.web.wormhole().rules.limits.messages_max = messages;
            Ok(())
        },
    ),
    setting(
        "wormhole.max_bytes",
        "TRUESEAL_RELAY_WORMHOLE_MAX_BYTES",
        |to, text| {
            let bytes = number(text, 65_536, BYTES_MAX)?;
            to.web.wormhole().rules.limits.bytes_max = bytes;
            Ok(())
        },
    ),
    setting(
        "wormhole.max_frame_bytes",
        "TRUESEAL_RELAY_WORMHOLE_MAX_FRAME_BYTES",
        |to, text| {
            let bytes = size(super::number_in(text, FRAME_BYTES)?)?;
            to.web.wormhole().rules.limits.frame_bytes_max = bytes;
            Ok(())
        },
    ),
];
