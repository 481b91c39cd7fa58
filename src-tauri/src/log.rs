//! What the app writes to its error output.
//!
//! Owns the filter: only Sealpost's own crates speak, because only they promise to write
//! nothing that identifies anybody. Other libraries put addresses and paths into theirs.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::options::LogLevel;

/// The crates that may write.
const OWN_CRATES: [&str; 4] = [
    "sealpost_app",
    "sealpost_engine",
    "sealpost_protocol",
    "sealpost_relay",
];

/// What is written at a level.
pub fn filter(level: LogLevel) -> EnvFilter {
    EnvFilter::new(directives(level))
}

/// Starts writing.
pub fn start(level: LogLevel) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter(level))
        .with_writer(io::stderr)
        .with_ansi(false)
        .finish();
    // Only a test sets one before; then that one stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn directives(level: LogLevel) -> String {
    let Some(level) = level.level() else {
        return "off".to_owned();
    };
    let own = OWN_CRATES.map(|name| format!("{name}={level}"));
    format!("off,{}", own.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_crates_are_silent_at_every_level() {
        assert_eq!(directives(LogLevel::Off), "off");
        let all = directives(LogLevel::Trace);
        assert!(all.starts_with("off,sealpost_app=TRACE,"), "{all}");
        assert!(
            all.split(',')
                .skip(1)
                .all(|directive| directive.starts_with("sealpost_"))
        );
    }
}
