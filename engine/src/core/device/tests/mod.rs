//! The rules of the whole machine, one test each.

mod copies;
mod ending;
mod pairing;
mod receiving;
mod pairing_adversaries;
mod pairing_restarts;
mod pairing_states;
mod running_ahead;
mod sending;
