//! The program of the desktop app. Everything is in the library, where it can be tested.

// Without this a console window opens behind the app.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use clap::Parser as _;
use sealpost_app::options::Options;

fn main() -> anyhow::Result<()> {
    sealpost_app::app::run(Options::parse())
}
