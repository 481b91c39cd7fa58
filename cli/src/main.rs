//! `sealpost`: the command-line client.
//!
//! Owns the command line, what is said and the exit codes. Everything else is the engine's
//! and the relay's: no rule of delivery, pairing, membership or storage stands here.

mod arguments;
mod backup_passphrase;
mod command;
mod data_work;
mod device;
mod explanation;
mod failure;
mod interrupt;
mod open_group;
mod open_invitation;
mod open_links;
mod output;
mod qr_code;
mod question;
mod report;
mod terminal_text;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use crate::arguments::{Arguments, LogLevel};
use crate::failure::{Exit, Failure};
use crate::output::{OUTPUT_CLOSED, Output};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return not_understood(&error),
    };
    start_log(arguments.global.log_level);
    let output = Output::new(arguments.global.json);
    match run(arguments, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.code == OUTPUT_CLOSED => ExitCode::SUCCESS,
        Err(failure) => {
            output.fail(&failure);
            failure.exit_code()
        }
    }
}

fn run(arguments: Arguments, output: Output) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::bug("The program can't start.", error.kind()))?;
    let outcome = runtime.block_on(command::run(arguments, output));
    // A thread may wait for input that never comes; the end of the program must not.
    runtime.shutdown_background();
    outcome
}

/// What clap says, or an error object where one was asked for.
fn not_understood(error: &clap::Error) -> ExitCode {
    let is_answer = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    // An argument may be anything, also what is no text.
    if is_answer || !std::env::args_os().any(|argument| argument == "--json") {
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Other as u8));
    }
    let text = error.render().to_string();
    let why = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let failure = Failure::new(
        "usage",
        Exit::Usage,
        "The command line was not understood.",
        why,
        "See `sealpost --help`.",
    );
    Output::new(true).fail(&failure);
    failure.exit_code()
}

/// Logs go to the error output. They never hold a name, a key, an address or a text: only
/// Sealpost's own crates promise that, so only they may write.
fn start_log(level: LogLevel) {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(format!("off,sealpost={level}")))
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
}
