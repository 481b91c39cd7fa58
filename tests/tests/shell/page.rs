//! The process that draws the page is killed, as a system without memory does.
//!
//! WebDriver goes with the page, so this looks at the screen: what a person sees.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use image::RgbImage;
use rustix::process::{Pid, Signal, kill_process};
use sealpost_tests::desktop::Keychain;
use sealpost_tests::driver::PATIENCE;
use sealpost_tests::process::{child_of, wait_until};

use super::stage::{ONE_AT_A_TIME, Stage};

/// Points of the screen, in a thousand, that may differ between two pictures of one page: the
/// cursor blinks.
const DIFFERENCE_MAX: usize = 5;

/// Points of the screen, in a thousand, that a drawn page has at least in other colours than
/// the most frequent one.
const DRAWN_MIN: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_whose_process_was_killed_is_drawn_again() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let app = stage.start(&[]).unwrap();
    stage.until_on_screen(true).unwrap();
    let before = until_still(&stage, "the page is drawn", is_drawn).unwrap();
    for _ in 0..2 {
        let page = page_of(app.id()).unwrap();
        kill_process(page, Signal::KILL).unwrap();
        wait_until("another process that draws", PATIENCE, || {
            page_of(app.id()).filter(|&other| other != page)
        })
        .unwrap();
        until_still(&stage, "the same page", |now| is_alike(&before, now)).unwrap();
    }
}

fn page_of(app: u32) -> Option<Pid> {
    child_of(app, |program: &Path| program.ends_with("WebKitWebProcess"))
}

/// Waits for a picture of the screen in which something is so, twice in a row.
fn until_still(
    stage: &Stage,
    what: &str,
    is_so: impl Fn(&RgbImage) -> bool,
) -> anyhow::Result<RgbImage> {
    let mut last: Option<RgbImage> = None;
    wait_until(what, PATIENCE, || {
        let now = picture(stage).ok().filter(&is_so);
        let before = std::mem::replace(&mut last, now);
        let now = last.as_ref()?;
        before
            .is_some_and(|before| is_alike(&before, now))
            .then(|| now.clone())
    })
}

fn picture(stage: &Stage) -> anyhow::Result<RgbImage> {
    let mut command = Command::new("import");
    let output = stage
        .desktop
        .place(&mut command)
        .args(["-silent", "-window", "root", "png:-"])
        .output()?;
    let picture = image::load_from_memory(&output.stdout).context("this is no picture")?;
    Ok(picture.to_rgb8())
}

fn is_alike(one: &RgbImage, other: &RgbImage) -> bool {
    let differing = one
        .pixels()
        .zip(other.pixels())
        .filter(|(one, other)| one != other);
    one.dimensions() == other.dimensions()
        && in_a_thousand(differing.count(), one) <= DIFFERENCE_MAX
}

fn is_drawn(picture: &RgbImage) -> bool {
    let mut times = std::collections::HashMap::new();
    for point in picture.pixels() {
        *times.entry(point.0).or_insert(0_usize) += 1;
    }
    let most = times.values().max().copied().unwrap_or(0);
    in_a_thousand(picture.pixels().len() - most, picture) >= DRAWN_MIN
}

fn in_a_thousand(points: usize, picture: &RgbImage) -> usize {
    points * 1_000 / picture.pixels().len()
}
