//! A QR code in a terminal: two modules per character, dark on light in every theme.
//!
//! The colours are set and not taken from the theme, because readers of QR codes don't read
//! light on dark, and the quiet zone belongs to the code.

use std::fmt::Write as _;

use qrcode::{Color, EcLevel, QrCode};

/// Light modules around the code, as the standard asks.
const QUIET_MODULES: usize = 4;
/// Black on bright white.
const COLOURS_ON: &str = "\u{1b}[30;107m";
/// The terminal's own colours again.
const COLOURS_OFF: &str = "\u{1b}[0m";

/// Draws `text`, or nothing when it is too long for any code.
pub(crate) fn draw(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let side = code.width() + 2 * QUIET_MODULES;
    let is_dark = |x: usize, y: usize| {
        let inside = |place: usize| {
            place
                .checked_sub(QUIET_MODULES)
                .filter(|i| *i < code.width())
        };
        inside(x)
            .zip(inside(y))
            .is_some_and(|place| code[place] == Color::Dark)
    };
    let mut drawing = String::new();
    for y in (0..side).step_by(2) {
        let row: String = (0..side)
            .map(|x| half(is_dark(x, y), is_dark(x, y + 1)))
            .collect();
        let _ = writeln!(drawing, "{COLOURS_ON}{row}{COLOURS_OFF}");
    }
    Some(drawing)
}

/// The character with a dark upper and a dark lower half, as wanted.
const fn half(upper: bool, lower: bool) -> char {
    match (upper, lower) {
        (true, true) => '█',
        (true, false) => '▀',
        (false, true) => '▄',
        (false, false) => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the drawing back with another decoder, as a camera would.
    fn read(drawing: &str) -> String {
        let rows: Vec<Vec<char>> = drawing
            .lines()
            .map(|line| {
                let line = line.strip_prefix(COLOURS_ON).unwrap();
                line.strip_suffix(COLOURS_OFF).unwrap().chars().collect()
            })
            .collect();
        const SCALE: usize = 4;
        let (width, height) = (rows[0].len() * SCALE, rows.len() * 2 * SCALE);
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| {
            let character = rows[y / SCALE / 2][x / SCALE];
            let is_upper = (y / SCALE).is_multiple_of(2);
            let dark = matches!((character, is_upper), ('█', _) | ('▀', true) | ('▄', false));
            if dark { 0 } else { 255 }
        });
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1);
        grids[0].decode().unwrap().1
    }

    #[test]
    fn the_drawing_of_an_invitation_is_read_back() {
        let link = format!(
            "trueseal://{}@a-relay.example.org:7700?push=7701#tsp1_{}",
            "38ab664bd86f77d7".repeat(4),
            "e06Qm75__kTEZaIg".repeat(8),
        );
        let drawing = draw(&link).unwrap();
        assert_eq!(read(&drawing), link);
        // It must fit beside nothing in the narrowest usual terminal.
        assert!(drawing.lines().all(|line| line.chars().count() <= 80 + 12));
    }

    #[test]
    fn what_fits_no_code_is_not_drawn() {
        assert_eq!(draw(&"x".repeat(5000)), None);
    }
}
