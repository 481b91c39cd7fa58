//! QR codes of invitations: drawn for the window, read from pictures.
//!
//! Owns the look of the code: level M, dark on light whatever the theme, four modules of
//! quiet zone, square modules, no ornament, because phones fail on anything else. Reading
//! never trusts the picture: its bytes and its size are bounded before it is decoded.

use std::fmt::Write as _;
use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{DynamicImage, GrayImage, ImageReader, Limits};
use qrcode::{Color, EcLevel, QrCode};

use crate::app_error::{AppError, AppErrorCode};

/// The light border that the standard asks for, in modules.
const QUIET_ZONE_MODULES: usize = 4;

/// The largest picture file that is read.
pub const IMAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The longest side of a picture that is decoded, in pixels.
const IMAGE_SIDE_MAX: u32 = 12_000;

/// The memory that decoding a picture may take.
const IMAGE_MEMORY_MAX: u64 = 512 * 1024 * 1024;

/// Draws a text as a QR code: a complete SVG document, one unit per module.
///
/// Nothing when the text is too long for any code, which no invitation is.
pub fn draw(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let side = width.saturating_add(QUIET_ZONE_MODULES.saturating_mul(2));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\" \
         shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h{side}v{side}H0z\"/>\
         <path fill=\"#000\" d=\""
    );
    for (y, row) in code.to_colors().chunks(width).enumerate() {
        draw_row(&mut svg, row, y);
    }
    svg.push_str("\"/></svg>");
    Some(svg)
}

/// How many pixels a module has in a picture that is saved.
const MODULE_PIXELS: usize = 8;

/// Draws a text as a QR code in a PNG file.
///
/// Nothing when the text is too long for any code.
pub fn png(text: &str) -> Option<Vec<u8>> {
    let code = QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
    let width = code.width();
    let side = width.saturating_add(QUIET_ZONE_MODULES.saturating_mul(2));
    let pixels = u32::try_from(side.saturating_mul(MODULE_PIXELS)).ok()?;
    let colours = code.to_colors();
    let module = |pixel: u32| {
        let at = usize::try_from(pixel).ok()?.checked_div(MODULE_PIXELS)?;
        at.checked_sub(QUIET_ZONE_MODULES).filter(|at| *at < width)
    };
    let picture = GrayImage::from_fn(pixels, pixels, |x, y| {
        let place = module(x).zip(module(y));
        let is_dark = place.is_some_and(|(x, y)| {
            colours.get(y.saturating_mul(width).saturating_add(x)) == Some(&Color::Dark)
        });
        image::Luma([if is_dark { 0 } else { 255 }])
    });
    let mut file = Cursor::new(Vec::new());
    picture
        .write_to(&mut file, image::ImageFormat::Png)
        .ok()
        .map(|()| file.into_inner())
}

/// Draws the dark runs of one row of modules.
fn draw_row(svg: &mut String, row: &[Color], y: usize) {
    let mut x = 0_usize;
    for run in row.chunk_by(|left, right| left == right) {
        if run.first() == Some(&Color::Dark) {
            let (left, top) = (x + QUIET_ZONE_MODULES, y + QUIET_ZONE_MODULES);
            // Writing into a string can't fail.
            let _ = write!(svg, "M{left} {top}h{0}v1h-{0}z", run.len());
        }
        x += run.len();
    }
}

/// Reads the first QR code of a picture in base64.
///
/// # Errors
///
/// As [`read`].
pub fn read_base64(text: &str) -> Result<String, AppError> {
    // Four digits stand for three bytes.
    if text.len() / 4 > IMAGE_BYTES_MAX / 3 {
        return Err(AppErrorCode::ImageUnreadable.into());
    }
    let bytes = STANDARD
        .decode(text)
        .map_err(|_| AppErrorCode::ImageUnreadable)?;
    read(&bytes)
}

/// Reads the first QR code of a PNG or JPEG picture.
///
/// # Errors
///
/// [`AppErrorCode::ImageUnreadable`] when it is no such picture or too large,
/// [`AppErrorCode::ImageHoldsNoCode`] when nothing in it can be read as a code.
pub fn read(bytes: &[u8]) -> Result<String, AppError> {
    if bytes.len() > IMAGE_BYTES_MAX {
        return Err(AppErrorCode::ImageUnreadable.into());
    }
    let picture = decode(bytes).ok_or(AppErrorCode::ImageUnreadable)?;
    let picture = on_white(&picture);
    find_code(&picture)
        .or_else(|| find_code(&inverted(&picture)))
        .ok_or_else(|| AppErrorCode::ImageHoldsNoCode.into())
}

fn decode(bytes: &[u8]) -> Option<DynamicImage> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .ok()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(IMAGE_SIDE_MAX);
    limits.max_image_height = Some(IMAGE_SIDE_MAX);
    limits.max_alloc = Some(IMAGE_MEMORY_MAX);
    reader.limits(limits);
    reader.decode().ok()
}

/// Makes a picture grey on white: a code drawn on a transparent ground would be black on
/// black otherwise.
fn on_white(picture: &DynamicImage) -> GrayImage {
    let mut pixels = picture.to_luma_alpha8();
    for pixel in pixels.pixels_mut() {
        let [light, alpha] = pixel.0;
        let covered = u16::from(light) * u16::from(alpha);
        let ground = 255 * (255 - u16::from(alpha));
        pixel.0 = [
            u8::try_from((covered + ground) / 255).unwrap_or(u8::MAX),
            u8::MAX,
        ];
    }
    DynamicImage::ImageLumaA8(pixels).into_luma8()
}

fn inverted(picture: &GrayImage) -> GrayImage {
    let mut picture = picture.clone();
    image::imageops::invert(&mut picture);
    picture
}

fn find_code(picture: &GrayImage) -> Option<String> {
    let mut prepared = rqrr::PreparedImage::prepare_from_greyscale(
        usize::try_from(picture.width()).ok()?,
        usize::try_from(picture.height()).ok()?,
        |x, y| {
            let (x, y) = (u32::try_from(x).unwrap_or(0), u32::try_from(y).unwrap_or(0));
            picture
                .get_pixel_checked(x, y)
                .map_or(u8::MAX, |pixel| pixel.0[0])
        },
    );
    prepared
        .detect_grids()
        .iter()
        .find_map(|grid| grid.decode().ok())
        .map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageFormat, Luma};

    const TEXT: &str = "trueseal://0011223344556677@192.0.2.7:7700?push=7701#token-of-some-length";

    /// The longest invitation that there can be.
    fn longest_invitation() -> String {
        use sealpost_protocol::address::RelayAddress;
        use sealpost_protocol::invitation::Invitation;
        use sealpost_protocol::key::{DeviceKeys, NoiseSecret, SigningSecret};
        use sealpost_protocol::token::{PairingSecret, PairingToken};

        const LABEL: &str = "a-name-as-long-as-a-part-of-a-name-can-be-0123456789-0123456789";
        const SHORTER: &str = "a-name-as-long-as-a-part-of-a-name-can-be-0123456789-01234567";
        let host = format!("{LABEL}.{LABEL}.{LABEL}.{SHORTER}");
        let relay = NoiseSecret::from_bytes([1; 32]).public();
        let relay = RelayAddress::new(relay, &host, 65_534, 65_535).expect("a legal host");
        assert!(RelayAddress::new(*relay.public_key(), &format!("{host}b"), 1, 2).is_err());
        let keys = DeviceKeys {
            noise: NoiseSecret::from_bytes([2; 32]).public(),
            signing: SigningSecret::from_bytes([3; 32]).public(),
        };
        let token = PairingToken::new(keys, PairingSecret::from_bytes([4; 32]));
        let relay = Some(relay);
        let link = Invitation { relay, token }.to_link();
        link.expect("it names a relay")
    }

    /// Its code is read off the window in `ui/tests/code.test.ts`; here is where it is drawn.
    #[test]
    fn the_longest_invitation_has_the_code_that_the_window_is_tested_with() {
        let link = longest_invitation();
        let code = draw(&link).expect("every invitation has a code");
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/tests/samples");
        for (name, content) in [("longest_code.svg", code), ("longest_code.txt", link)] {
            let path = folder.join(name);
            if std::env::var_os("SEALPOST_WRITE_BINDINGS").is_some() {
                std::fs::create_dir_all(&folder).expect("a folder");
                std::fs::write(&path, &content).expect("a file");
            }
            let kept = std::fs::read_to_string(&path).expect("run `make bindings`");
            assert!(kept == content, "{name} is old: run `make bindings`");
        }
    }

    /// Paints the dark modules of a drawn code, eight pixels each.
    fn paint(text: &str, dark: u8, light: u8) -> GrayImage {
        let code = QrCode::with_error_correction_level(text, EcLevel::M).expect("short enough");
        code.render::<Luma<u8>>()
            .dark_color(Luma([dark]))
            .light_color(Luma([light]))
            .module_dimensions(8, 8)
            .build()
    }

    fn as_png(picture: &GrayImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture
            .write_to(&mut bytes, ImageFormat::Png)
            .expect("a picture can be written");
        bytes.into_inner()
    }

    #[test]
    fn a_painted_code_is_read_whether_dark_or_light() {
        assert_eq!(read(&as_png(&paint(TEXT, 0, 255))), Ok(TEXT.to_owned()));
        assert_eq!(read(&as_png(&paint(TEXT, 255, 0))), Ok(TEXT.to_owned()));
    }

    #[test]
    fn what_is_no_picture_and_what_holds_no_code_are_told_apart() {
        let blank = GrayImage::from_pixel(64, 64, Luma([200]));
        assert_eq!(
            read(&as_png(&blank)),
            Err(AppErrorCode::ImageHoldsNoCode.into())
        );
        assert_eq!(
            read(b"no picture"),
            Err(AppErrorCode::ImageUnreadable.into())
        );
        assert_eq!(read(&[]), Err(AppErrorCode::ImageUnreadable.into()));
    }

    #[test]
    fn a_picture_that_claims_to_be_huge_is_refused_before_it_is_unpacked() {
        let mut bytes = as_png(&GrayImage::from_pixel(8, 8, Luma([0])));
        // The width stands behind the signature, the length and the name of the first chunk.
        bytes[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        assert_eq!(read(&bytes), Err(AppErrorCode::ImageUnreadable.into()));
    }

    #[test]
    fn the_drawn_code_is_the_painted_one_with_a_quiet_zone() {
        let svg = draw(TEXT).expect("short enough");
        let painted = paint(TEXT, 0, 255);
        let width = QrCode::with_error_correction_level(TEXT, EcLevel::M)
            .expect("short")
            .width();
        let side = width + 2 * QUIET_ZONE_MODULES;
        assert!(svg.starts_with(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {side} {side}\""
        )));
        let mut drawn = GrayImage::from_pixel(side as u32, side as u32, Luma([255]));
        for run in svg
            .rsplit("d=\"")
            .next()
            .expect("the dark path")
            .split('M')
            .skip(1)
        {
            let (left, rest) = run.split_once(' ').expect("x and y");
            let (top, rest) = rest.split_once('h').expect("y and length");
            let (length, _) = rest.split_once('v').expect("length");
            let number = |text: &str| text.parse::<u32>().expect("a number");
            for x in number(left)..number(left) + number(length) {
                drawn.put_pixel(x, number(top), Luma([0]));
            }
        }
        for (x, y, pixel) in drawn.enumerate_pixels() {
            assert_eq!(pixel, painted.get_pixel(x * 8, y * 8), "module {x}, {y}");
        }
    }
}
