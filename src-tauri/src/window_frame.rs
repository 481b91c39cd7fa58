//! Where the window opens.
//!
//! Owns the rule that a window is always seen: what was stored is used only as far as it lies
//! on a screen that is there now. The stored frame is a file of its own beside the profile's
//! data, because the window opens before the profile does; it says nothing about anybody.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The smallest size at which everything can be used, in logical pixels.
pub const SIZE_MIN: (u32, u32) = (360, 480);

/// The size of a new window, in logical pixels.
pub const SIZE: (u32, u32) = (960, 680);

/// How much of the window has to be on one screen for it to be found and moved, in pixels.
const SEEN_MIN: i64 = 120;

/// The file of the stored frame in a profile's folder.
const FILE: &str = "window.json";

/// A rectangle on the desktop, in logical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The left edge.
    pub x: i32,
    /// The upper edge.
    pub y: i32,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
    /// Whether the window fills the screen.
    #[serde(default)]
    pub maximised: bool,
}

/// Where and how large the window opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The size.
    pub size: (u32, u32),
    /// The upper left corner; where the system wants it if nothing.
    pub position: Option<(i32, i32)>,
    /// Whether it fills the screen.
    pub maximised: bool,
}

/// Where the window opens, with what was stored and the screens that are there.
pub fn opening(stored: Option<Frame>, screens: &[Frame]) -> Opening {
    let Some(stored) = stored else {
        return Opening {
            size: SIZE,
            position: None,
            maximised: false,
        };
    };
    let screen = screens.iter().max_by_key(|screen| seen(&stored, screen));
    let largest = screen.map_or((u32::MAX, u32::MAX), |screen| (screen.width, screen.height));
    let size = (
        stored.width.clamp(SIZE_MIN.0, largest.0.max(SIZE_MIN.0)),
        stored.height.clamp(SIZE_MIN.1, largest.1.max(SIZE_MIN.1)),
    );
    let is_found = screen.is_some_and(|screen| is_found(&stored, screen));
    Opening {
        size,
        position: is_found.then_some((stored.x, stored.y)),
        maximised: stored.maximised,
    }
}

/// How much of a frame lies on a screen.
fn seen(frame: &Frame, screen: &Frame) -> i64 {
    let (width, height) = overlap(frame, screen);
    width.max(0) * height.max(0)
}

/// Whether enough of a window is on a screen, and its upper edge, by which it is moved.
fn is_found(frame: &Frame, screen: &Frame) -> bool {
    let (width, height) = overlap(frame, screen);
    width >= SEEN_MIN && height >= SEEN_MIN && frame.y >= screen.y
}

fn overlap(a: &Frame, b: &Frame) -> (i64, i64) {
    let along = |a: i32, a_length: u32, b: i32, b_length: u32| {
        let end = |start: i32, length: u32| i64::from(start) + i64::from(length);
        end(a, a_length).min(end(b, b_length)) - i64::from(a.max(b))
    };
    (
        along(a.x, a.width, b.x, b.width),
        along(a.y, a.height, b.y, b.height),
    )
}

/// The file in which a profile's frame is kept.
#[derive(Clone, Debug)]
pub struct FrameFile {
    path: PathBuf,
}

impl FrameFile {
    /// The file of a profile.
    pub fn new(data_dir: &Path, profile: &str) -> Self {
        Self {
            path: data_dir.join(profile).join(FILE),
        }
    }

    /// The stored frame. What can't be read counts as not there.
    pub fn load(&self) -> Option<Frame> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }

    /// Stores a frame. A frame that can't be stored is not worth an error.
    pub fn store(&self, frame: Frame) {
        let Ok(text) = serde_json::to_vec(&frame) else {
            return;
        };
        // The folder belongs to the profile: it is not made for this.
        let beside = self.path.with_extension("new");
        if std::fs::write(&beside, text).is_ok() {
            let _ = std::fs::rename(beside, &self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn frame(x: i32, y: i32, width: u32, height: u32) -> Frame {
        Frame {
            x,
            y,
            width,
            height,
            maximised: false,
        }
    }

    const SCREEN: Frame = frame(0, 0, 1920, 1080);
    const SECOND: Frame = frame(1920, 0, 1280, 1024);

    #[test]
    fn a_window_off_every_screen_opens_where_it_is_seen_and_usable() {
        let lost = opening(Some(frame(9_999, -5_000, 1, 1)), &[SCREEN]);
        assert_eq!(lost.position, None);
        assert_eq!(lost.size, SIZE_MIN);
        for (x, y) in [
            (i32::MAX, i32::MAX),
            (i32::MIN, i32::MIN),
            (-900, 100),
            (1_850, 100),
            (100, -40),
        ] {
            let opening = opening(Some(frame(x, y, 960, 680)), &[SCREEN]);
            assert_eq!(opening.position, None, "{x} {y}");
        }
        let huge = opening(Some(frame(0, 0, u32::MAX, u32::MAX)), &[SCREEN]);
        assert_eq!(huge.size, (SCREEN.width, SCREEN.height));
    }

    #[test]
    fn a_window_on_a_screen_that_is_gone_comes_back_to_the_other() {
        let stored = frame(2_000, 100, 960, 680);
        let there = opening(Some(stored), &[SCREEN, SECOND]);
        assert_eq!(there.position, Some((2_000, 100)));
        assert_eq!(opening(Some(stored), &[SCREEN]).position, None);
        // No screen is known: the system places it.
        assert_eq!(opening(Some(stored), &[]).position, None);
    }

    #[test]
    fn a_window_that_is_seen_opens_as_it_was() {
        let stored = Frame {
            maximised: true,
            ..frame(100, 50, 1_000, 700)
        };
        let same = Opening {
            size: (1_000, 700),
            position: Some((100, 50)),
            maximised: true,
        };
        assert_eq!(opening(Some(stored), &[SCREEN]), same);
        assert_eq!(opening(None, &[SCREEN]).size, SIZE);
    }

    #[test]
    fn a_frame_is_kept_and_rubbish_counts_as_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = FrameFile::new(folder.path(), "default");
        // No profile yet: nothing is written and nothing is read.
        file.store(SCREEN);
        assert_eq!(file.load(), None);
        std::fs::create_dir(folder.path().join("default")).expect("a folder");
        file.store(SCREEN);
        assert_eq!(file.load(), Some(SCREEN));
        std::fs::write(folder.path().join("default").join(FILE), "{x").expect("a file");
        assert_eq!(file.load(), None);
    }
}
