//! The commands as a script sees them: what they say, and how they end.

mod backup;
mod full_disk;
mod giving_up;
mod link;
mod program;
mod relay_faults;
mod standing;
mod wormhole;
