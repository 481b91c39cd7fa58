//! What ten thousand devices that say nothing cost, and what is left after much was said.

use std::process::ExitCode;

fn main() -> ExitCode {
    match sealpost_bench::idle::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this can't be written.
            let _ = std::io::Write::write_fmt(
                &mut std::io::stderr().lock(),
                format_args!("bench-idle: {error:#}\n"),
            );
            ExitCode::FAILURE
        }
    }
}
