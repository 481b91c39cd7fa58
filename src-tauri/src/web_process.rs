//! The process that draws the window's page, and what is done when it ends.
//!
//! The system ends it where memory is short, and a driver may crash it; the window would stay
//! empty then. Everything else of the app lives in this process and goes on, and the page holds
//! nothing that the app doesn't have, so it is loaded anew. Where that doesn't help either,
//! whoever watches is told.
//!
//! For WebKitGTK. The web views of other systems bring a page for this, or are left alone.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How often the page is loaded anew in [`SPAN`].
const RELOADS_MAX: usize = 3;

/// The time in which too many ends are no accident.
const SPAN: Duration = Duration::from_secs(60);

/// What to do about an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remedy {
    /// Load the page anew.
    Reload,
    /// It ends again and again: loading it anew is no help.
    GiveUp,
}

/// The latest ends of the process.
#[derive(Debug, Default)]
struct Ends(VecDeque<Instant>);

impl Ends {
    /// Takes note of an end.
    fn note(&mut self, now: Instant) -> Remedy {
        self.0
            .retain(|&end| now.saturating_duration_since(end) < SPAN);
        if self.0.len() == RELOADS_MAX {
            return Remedy::GiveUp;
        }
        self.0.push_back(now);
        Remedy::Reload
    }
}

/// Loads the page anew whenever its process ends, and calls `on_hopeless` where that is no
/// help.
#[cfg(target_os = "linux")]
pub fn watch(window: &tauri::WebviewWindow, on_hopeless: impl Fn() + Send + 'static) {
    use std::cell::RefCell;
    use webkit2gtk::WebViewExt as _;

    let watched = window.with_webview(move |view| {
        let ends = RefCell::new(Ends::default());
        view.inner()
            .connect_web_process_terminated(move |view, why| {
                let remedy = ends.borrow_mut().note(Instant::now());
                tracing::warn!(?why, ?remedy, "the page's process ended");
                match remedy {
                    Remedy::Reload => view.reload(),
                    Remedy::GiveUp => on_hopeless(),
                }
            });
    });
    if watched.is_err() {
        tracing::warn!("the page's process can't be watched");
    }
}

/// Nothing to do on this system.
#[cfg(not(target_os = "linux"))]
pub fn watch(_: &tauri::WebviewWindow, _: impl Fn() + Send + 'static) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_ends_again_and_again_is_given_up_and_one_that_ends_now_and_then_is_not() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut ends = Ends::default();
        for second in [0, 10, 20] {
            assert_eq!(ends.note(at(second)), Remedy::Reload);
        }
        assert_eq!(ends.note(at(30)), Remedy::GiveUp);
        assert_eq!(ends.note(at(59)), Remedy::GiveUp);
        assert_eq!(ends.note(at(60)), Remedy::Reload, "the first is long ago");
        let mut ends = Ends::default();
        for hour in 0..100 {
            assert_eq!(ends.note(at(hour * 3_600)), Remedy::Reload);
        }
    }
}
