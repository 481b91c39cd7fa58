//! What ten thousand devices that say nothing cost.

fn main() {}
