//! What processes use of the machine: memory, processor, files in its cache.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::PathBuf;

use anyhow::ensure;
use rustix::fs::{Advice, fadvise};

/// The ticks of the processor's clock in a second, as Linux counts a process's time.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process and all that it started.
pub(crate) fn family(of: u32) -> Vec<u32> {
    let mut found = vec![of];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        // Any thread may have started one.
        let threads = std::fs::read_dir(format!("/proc/{parent}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(thread.path().join("children"));
            let children = children.unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|id| id.parse::<u32>().ok()),
            );
        }
        next += 1;
    }
    found
}

/// How long the processor worked for a process by now, in seconds.
pub(crate) fn worked(id: u32) -> f64 {
    let of_stat = |stat: String| -> Option<f64> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some(field(11)? + field(12)?)
    };
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok();
    stat.and_then(of_stat).unwrap_or_default() / TICKS_PER_SECOND
}

/// The memory of a process, in MiB.
pub(crate) struct Memory {
    /// Everything of it that is in memory, with what it shares with others.
    pub(crate) resident: f64,
    /// What it made itself: not code, not files.
    pub(crate) data: f64,
    /// What the system's graphics driver is of it: tens of MiB where the processor draws.
    pub(crate) driver: f64,
    /// Its share, and that of all that it started, where what is shared counts once.
    pub(crate) of_all: f64,
}

impl Memory {
    /// What it is now.
    pub(crate) fn of(id: u32) -> anyhow::Result<Self> {
        let resident = rollup(id, "Rss:");
        ensure!(resident > 0.0, "the app is gone");
        Ok(Self {
            resident,
            data: rollup(id, "Anonymous:"),
            driver: driver(id),
            of_all: family(id).into_iter().map(|id| rollup(id, "Pss:")).sum(),
        })
    }
}

fn rollup(id: u32, name: &str) -> f64 {
    let rollup = std::fs::read_to_string(format!("/proc/{id}/smaps_rollup"));
    let rollup = rollup.unwrap_or_default();
    let line = rollup.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// What the parts of the graphics driver have in the memory of a process.
fn driver(id: u32) -> f64 {
    const PARTS: [&str; 6] = [
        "/dri/",
        "LLVM",
        "libgallium",
        "libglapi",
        "libnvidia",
        "libz3",
    ];
    let maps = std::fs::read_to_string(format!("/proc/{id}/smaps")).unwrap_or_default();
    let (mut is_part, mut kib) = (false, 0.0);
    for line in maps.lines() {
        match line.strip_prefix("Rss:") {
            Some(size) if is_part => {
                let size = size.trim().trim_end_matches(" kB").parse::<f64>();
                kib += size.unwrap_or_default();
            }
            // The line that begins a mapping is the only one with a path.
            None if line.contains('-') && line.contains('/') => {
                is_part = PARTS.iter().any(|part| line.contains(part));
            }
            None if line.contains('-') => is_part = false,
            _ => {}
        }
    }
    kib / 1024.0
}

/// The files that a process and all that it started have in their memory.
pub(crate) fn mapped_files(of: u32) -> BTreeSet<PathBuf> {
    let maps = |id: u32| std::fs::read_to_string(format!("/proc/{id}/maps")).unwrap_or_default();
    let of_maps = |maps: String| -> Vec<PathBuf> {
        let paths = maps
            .lines()
            .filter_map(|line| line.find('/').map(|at| line.split_at(at).1));
        paths.map(PathBuf::from).collect()
    };
    family(of).into_iter().map(maps).flat_map(of_maps).collect()
}

/// Has the system forget what it keeps of files, so that they are read from the disk again.
/// What another program has in its memory stays.
pub(crate) fn drop_from_cache(files: &BTreeSet<PathBuf>) {
    for file in files.iter().filter_map(|path| File::open(path).ok()) {
        // One that stays only makes a cold start less cold.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
    }
}
