//! `backup`: a copy of the store, while the relay runs or not.

use std::time::{Duration, Instant};

use sealpost_relay::store::{BackupError, BackupProgress, back_up};

use super::arguments::BackupOptions;
use super::explanation::Explanation;
use super::print;
use super::setup::Setup;

/// Between two lines about a backup that takes long.
const REPORT_INTERVAL: Duration = Duration::from_secs(2);

/// Copies the store that the configuration names.
pub(crate) fn back_up_store(options: &BackupOptions) -> Result<(), Explanation> {
    let store = Setup::load(&options.place, &[])?.config.store_path;
    let mut report_at = Instant::now() + REPORT_INTERVAL;
    let copied = back_up(&store, &options.file, |progress| {
        if Instant::now() >= report_at {
            report_at = Instant::now() + REPORT_INTERVAL;
            // A backup that nobody watches goes on.
            let _ = print(format!("  {}", words(progress)));
        }
    });
    match copied {
        Ok(copied) => print(format!(
            "Copied {} to {}.\nThe relay's key is not in it; keep a copy of the key file too.",
            size(copied.bytes_total),
            options.file.display()
        )),
        Err(error) => Err(explain(options, &store, error)),
    }
}

fn words(progress: BackupProgress) -> String {
    let percent = progress.bytes.saturating_mul(100) / progress.bytes_total.max(1);
    format!("{percent} % of {}", size(progress.bytes_total))
}

/// Rounded up, so that no copy has nought bytes.
fn size(bytes: u64) -> String {
    const MIB: u64 = 1_024 * 1_024;
    if bytes < MIB {
        format!("{} KiB", bytes.div_ceil(1_024))
    } else {
        format!("{} MiB", bytes.div_ceil(MIB))
    }
}

fn explain(options: &BackupOptions, store: &std::path::Path, error: BackupError) -> Explanation {
    let what = format!(
        "There is no backup of {}; it is unchanged.",
        store.display()
    );
    let advice = match error {
        BackupError::Missing => {
            "start the relay once, or name its folder with --data-dir or its configuration with \
             --config."
                .to_owned()
        }
        BackupError::Exists => format!(
            "name a file that doesn't exist yet, or move {} away.",
            options.file.display()
        ),
        BackupError::NotWritable(_) => format!(
            "check that the folder of {} exists, that this user may write there, and that it \
             has room.",
            options.file.display()
        ),
        BackupError::NotReadable(_) => {
            "run this as root or as the user that the relay runs as.".to_owned()
        }
        BackupError::Damaged => {
            "keep your last backup. Stop the relay and start it again: it tells whether it can \
             still use its store."
                .to_owned()
        }
        BackupError::Store(_) => {
            "run this as root or as the user that the relay runs as, with the same release and \
             the same configuration."
                .to_owned()
        }
    };
    Explanation::new(what, format!("{error}."), advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_whole_percent_and_no_size_is_nought() {
        let told = |bytes, bytes_total| words(BackupProgress { bytes, bytes_total });
        assert_eq!(told(4_096, 4_096), "100 % of 4 KiB");
        assert_eq!(told(1, 3 << 20), "0 % of 3 MiB");
        assert_eq!(told(0, 0), "0 % of 0 KiB");
        assert_eq!(size(1), "1 KiB");
    }
}
