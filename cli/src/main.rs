//! CLI.
fn main(){}
