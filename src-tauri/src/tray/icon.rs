//! The icon in the tray, with a mark for what waits for the person.
//!
//! Owns the picture only. The mark is drawn onto the icon instead of being files of its own,
//! so that each state of the relay has it without one more picture.

use tauri::image::Image;
use tauri::include_image;

/// The icon while the relay on this computer is off.
const PLAIN: Image<'_> = include_image!("icons/tray.png");

/// The icon while it is on.
const RELAY_ON: Image<'_> = include_image!("icons/tray-relay-on.png");

/// What waits for the person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// Nothing.
    #[default]
    None,
    /// Messages that were not read.
    Unread,
    /// Delivery issues.
    Issue,
}

/// What the icon shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IconState {
    /// Whether the relay on this computer is on.
    pub(super) relay_on: bool,
    /// What waits for the person; the more urgent one where there are two.
    pub(super) mark: Mark,
}

impl IconState {
    /// Draws the icon.
    pub(super) fn draw(self) -> Image<'static> {
        let base = if self.relay_on { RELAY_ON } else { PLAIN };
        let (width, height) = (base.width(), base.height());
        let mut pixels = base.rgba().to_vec();
        if self.mark != Mark::None {
            draw_mark(&mut pixels, width, self.mark);
        }
        Image::new_owned(pixels, width, height)
    }
}

type Colour = [u8; 4];

const RING: Colour = [0xff, 0xff, 0xff, 0xff];
const UNREAD: Colour = [0x1f, 0x6f, 0xd6, 0xff];
const ISSUE: Colour = [0xc8, 0x4b, 0x0c, 0xff];

/// A disc in the lower right quarter, below the dot of the relay; for an issue with an
/// exclamation mark, because colour alone tells nothing to those who don't see it.
fn draw_mark(pixels: &mut [u8], width: u32, mark: Mark) {
    let size = f64::from(width);
    let (centre_x, centre_y, radius) = (size * 0.75, size * 0.75, size * 0.25);
    let fill = if mark == Mark::Issue { ISSUE } else { UNREAD };
    let mut x = 0;
    let mut y = 0;
    for pixel in pixels.chunks_exact_mut(4) {
        let (dx, dy) = (f64::from(x) + 0.5 - centre_x, f64::from(y) + 0.5 - centre_y);
        let from_centre = dx.hypot(dy);
        let colour = if mark == Mark::Issue && is_exclamation(dx / radius, dy / radius) {
            Some(RING)
        } else if from_centre <= radius * 0.84 {
            Some(fill)
        } else if from_centre <= radius {
            Some(RING)
        } else {
            None
        };
        if let Some(colour) = colour {
            pixel.copy_from_slice(&colour);
        }
        x += 1;
        if x == width {
            (x, y) = (0, y + 1);
        }
    }
}

/// Whether a point is in the sign, in radii from the centre of the disc.
fn is_exclamation(x: f64, y: f64) -> bool {
    let stroke = x.abs() <= 0.13 && (-0.55..=0.12).contains(&y);
    let dot = x.hypot(y - 0.42) <= 0.15;
    stroke || dot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_a_picture_of_its_own() {
        let mut pictures = Vec::new();
        for relay_on in [false, true] {
            for mark in [Mark::None, Mark::Unread, Mark::Issue] {
                let picture = IconState { relay_on, mark }.draw();
                assert_eq!(picture.rgba().len(), 64 * 64 * 4);
                pictures.push(picture.rgba().to_vec());
            }
        }
        for (at, picture) in pictures.iter().enumerate() {
            assert!(!pictures.iter().skip(at + 1).any(|other| other == picture));
        }
    }

    #[test]
    fn a_mark_leaves_the_dot_of_the_relay_as_it_was() {
        let plain = IconState {
            relay_on: true,
            mark: Mark::None,
        };
        let marked = IconState {
            mark: Mark::Issue,
            ..plain
        };
        let (plain, marked) = (plain.draw(), marked.draw());
        let half = plain.rgba().len() / 2 - 64 * 4;
        assert_eq!(plain.rgba().get(..half), marked.rgba().get(..half));
    }
}
