//! What the errors of the libraries mean to the person who typed the command.
//!
//! Each error has its own three sentences, and each code its own text. Sentences name no
//! key, no path of somebody else and no text that came from outside; they say that nothing
//! was changed only where that is so.

mod backup;
mod engine;
mod invitation;
mod issue;
mod keys;
mod link;
mod profile;
mod relay;
mod wormhole;

pub(crate) use backup::backup_error;
pub(crate) use engine::{engine_error, open_error};
pub(crate) use invitation::{address_error, invitation_error};
pub(crate) use issue::issue_text;
pub(crate) use keys::key_store_error;
pub(crate) use link::{
    code_error, link_ended, link_failure, link_lost, link_trouble, link_unconfirmed, link_unheard,
    links_error, links_open_error, pairing_failure, relay_url_error, row_failure,
    unknown as link_unknown,
};
pub(crate) use profile::profile_error;
pub(crate) use relay::{
    connect_failure, relay_key_error, relay_start_error, relay_step_failure, unsupported_version,
};
pub(crate) use wormhole::{
    wormhole_code_error, wormhole_end, wormhole_no_text, wormhole_refused_by_peer,
    wormhole_send_error,
};
