//! What can be typed after `sealpost wormhole`.

use clap::{Args, Subcommand};

/// Arguments of `wormhole`.
#[derive(Debug, Subcommand)]
pub(crate) enum WormholeCommand {
    /// Send a text to whoever gets the code that is printed.
    Send(WormholeSend),
    /// Receive the text that a code stands for.
    Receive(WormholeReceive),
}

/// Arguments of `wormhole send`.
#[derive(Args, Debug)]
pub(crate) struct WormholeSend {
    /// The text; `-` reads it from the input.
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) server: AtServer,
}

/// Arguments of `wormhole receive`.
#[derive(Args, Debug)]
pub(crate) struct WormholeReceive {
    /// The code, as the other side says it.
    pub(crate) code: String,
    #[command(flatten)]
    pub(crate) server: AtServer,
}

/// The server that both sides use.
#[derive(Args, Clone, Debug)]
pub(crate) struct AtServer {
    /// Web door of the relay that both sides use: http://HOST:PORT or https://HOST.
    #[arg(long, value_name = "URL", env = "SEALPOST_WEB_DOOR")]
    pub(crate) relay: String,
    /// Give up when nobody has come for so long.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u32>,
}
