//! The link's machine against the relay's own rules.

mod ending;
mod full;
mod receiving;
mod retrying;
mod rig;
mod sending;
mod watching;
