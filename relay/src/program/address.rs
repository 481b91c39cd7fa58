//! `pubkey` and `address`: what devices need to know of this relay.

use sealpost_protocol::address::RelayAddress;

use super::arguments::{AddressOptions, Place};
use super::explanation::Explanation;
use super::print;
use super::setup::Setup;

/// Prints the public key in hex; makes the key if there is none yet.
pub(crate) fn print_public_key(place: &Place) -> Result<(), Explanation> {
    let key = Setup::load(place, &[])?.key()?;
    print(hex::encode(key.public().as_bytes()))
}

/// Prints the full address for a host; makes the key if there is none yet.
pub(crate) fn print_address(options: &AddressOptions) -> Result<(), Explanation> {
    let setup = Setup::load(&options.place, &[])?;
    let public_key = setup.key()?.public();
    let receive_port = options
        .receive_port
        .unwrap_or(setup.config.listen_receive.port());
    let push_port = options.push_port.unwrap_or(setup.config.listen_push.port());
    let address = RelayAddress::new(public_key, &options.host, receive_port, push_port)
        .map_err(Explanation::address)?;
    print(address.to_text())
}
