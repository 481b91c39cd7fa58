//! `sealpost-relay`: the relay as a program of its own.
//!
//! Owns: options, where files lie by default, and words for people. Everything a relay does
//! is in the library.

mod program;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use crate::program::arguments::{Arguments, Command};
use crate::program::{address, backup, check_config, health, run};

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Pubkey(options) => address::print_public_key(&options),
        Command::Address(options) => address::print_address(&options),
        Command::CheckConfig(options) => check_config::check(&options),
        Command::Health(options) => health::check(&options),
        Command::Backup(options) => backup::back_up_store(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(explanation) => {
            // Nobody is left to tell if this can't be written.
            let _ = writeln!(std::io::stderr().lock(), "{explanation}");
            ExitCode::FAILURE
        }
    }
}
