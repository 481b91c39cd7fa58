//! The rules of the whole machine, one test each.

mod copies;
mod ending;
mod pairing;
mod receiving;
mod running_ahead;
mod sending;
