//! Lists the files of the phone's page, so that they become part of the binary.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folder of the page, beside this file.
const PAGE: &str = "page";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PAGE}");
    let home = env::var_os("CARGO_MANIFEST_DIR").ok_or(io::ErrorKind::NotFound)?;
    let folder = PathBuf::from(home).join(PAGE);
    let mut files = Vec::new();
    list(&folder, &mut files)?;
    files.sort();
    let mut table = "const FILES: &[File] = &[\n".to_owned();
    for file in files {
        let name = file
            .strip_prefix(&folder)
            .map_err(io::Error::other)?
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/");
        let row = (name, kind_of(&file)?, file.display().to_string());
        writeln!(
            table,
            "    ({:?}, {:?}, include_bytes!({:?})),",
            row.0, row.1, row.2
        )
        .map_err(io::Error::other)?;
    }
    table.push_str("];\n");
    let target = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&target).join("page_files.rs"), table)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// What a file is called in HTTP. A kind that isn't here would be refused by browsers, which
/// are told not to guess.
fn kind_of(file: &Path) -> io::Result<&'static str> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    Ok(match ending {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => return Err(io::Error::other("a file of the page has an unknown ending")),
    })
}
