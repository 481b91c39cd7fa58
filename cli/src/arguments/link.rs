//! What can be typed after `sealpost link`.

use clap::{Args, Subcommand};

/// Arguments of `link`.
#[derive(Debug, Subcommand)]
pub(crate) enum Link {
    /// Show a code to a phone or to another device, and pair with it.
    New(LinkNew),
    /// Pair with a device that shows a code.
    Join(LinkJoin),
    /// List the links of this profile.
    List,
    /// Call the other device something else, on this one.
    Rename(LinkRename),
    /// End a link: its keys and its mailbox are gone for both sides.
    Unpair(LinkUnpair),
    /// Send a text over a link.
    Send(LinkSend),
    /// Print what arrives over a link, and what had arrived before.
    Tail(LinkTail),
    /// Print what has arrived over a link and wasn't printed by `link tail`, and end.
    Messages(OnLink),
    /// Print what was sent over a link and is not confirmed by the other device, or has failed.
    Outbox(LinkOutbox),
}

/// Arguments of `link new`.
#[derive(Args, Debug)]
pub(crate) struct LinkNew {
    /// Web door of the relay as the other device reaches it: http://HOST:PORT or https://HOST.
    #[arg(long, value_name = "URL")]
    pub(crate) relay: String,
    /// Take the six digits without comparing: for scripts.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Draw no QR code.
    #[arg(long)]
    pub(crate) no_qr: bool,
}

/// Arguments of `link join`.
#[derive(Args, Debug)]
pub(crate) struct LinkJoin {
    /// What the QR code says: the whole address with what stands after the #; `-` reads it
    /// from the input, which keeps it out of the list of processes.
    pub(crate) url: String,
    /// Take the relay and the six digits without asking: for scripts.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The link that a command is about.
#[derive(Args, Clone, Debug)]
pub(crate) struct OnLink {
    /// Link, by the other device's name or by the link's own in `link list`; needed when there
    /// are several.
    #[arg(long)]
    pub(crate) link: Option<String>,
}

/// Arguments of `link rename`.
#[derive(Args, Debug)]
pub(crate) struct LinkRename {
    /// The new name of the other device.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) link: OnLink,
}

/// Arguments of `link unpair`.
#[derive(Args, Debug)]
pub(crate) struct LinkUnpair {
    #[command(flatten)]
    pub(crate) link: OnLink,
    /// Do it without asking: for scripts.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Arguments of `link send`.
#[derive(Args, Debug)]
pub(crate) struct LinkSend {
    /// The text; `-` reads it from the input.
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) link: OnLink,
    /// Send it as a state: it replaces one with the same key that was not sent yet.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Wait up to this many seconds for the other device to confirm it, and fail if it doesn't.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u32>,
}

/// Arguments of `link tail`.
#[derive(Args, Debug)]
pub(crate) struct LinkTail {
    #[command(flatten)]
    pub(crate) link: OnLink,
    /// Send each line of the input as a text.
    #[arg(long)]
    pub(crate) stdin: bool,
}

/// Arguments of `link outbox`.
#[derive(Args, Debug)]
pub(crate) struct LinkOutbox {
    #[command(flatten)]
    pub(crate) link: OnLink,
    /// Take what has failed off the list after printing it.
    #[arg(long)]
    pub(crate) dismiss: bool,
}
