//! The rules of the whole machine, one test each.

mod absence;
mod copies;
mod destroying;
mod destroying_at_random;
mod ending;
mod last_place;
mod mail;
mod manifests;
mod naming;
mod pairing;
mod pairing_adversaries;
mod pairing_restarts;
mod pairing_states;
mod progress;
mod receiving;
mod running_ahead;
mod sending;
mod void;
