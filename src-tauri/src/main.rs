//! App.
fn main(){ }
