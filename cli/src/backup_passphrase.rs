//! The passphrase of a backup: from a file, from outside, or typed.
//!
//! It is another one than that of the key file, so it has a variable of its own.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use zeroize::Zeroizing;

use crate::arguments::BackupPassphrase;
use crate::device::PASSPHRASE_CHARS_MIN;
use crate::failure::{Exit, Failure};

/// The passphrase from outside, where nobody can be asked.
const VARIABLE: &str = "SEALPOST_BACKUP_PASSPHRASE";

/// The most that is read of a file for one.
const BYTES_MAX: u64 = 4 * 1024;

/// The passphrase that a backup is to have; typed twice.
pub(crate) fn new(given: &BackupPassphrase) -> Result<Zeroizing<String>, Failure> {
    let from_outside = from_outside(given)?;
    let is_typed = from_outside.is_none();
    let passphrase = from_outside.map_or_else(|| ask("New passphrase for the backup: "), Ok)?;
    if passphrase.chars().count() < PASSPHRASE_CHARS_MIN {
        return Err(Failure::new(
            "passphrase-short",
            Exit::Input,
            "This passphrase is too short.",
            format!("It needs {PASSPHRASE_CHARS_MIN} characters or more."),
            "Choose a longer one; several words are good. Nothing was written.",
        ));
    }
    if is_typed && ask("The same passphrase again: ")? != passphrase {
        return Err(Failure::new(
            "passphrase-differs",
            Exit::Input,
            "The two passphrases are not the same.",
            "At least one of them was mistyped.",
            "Run `sealpost backup` again. Nothing was written.",
        ));
    }
    Ok(passphrase)
}

/// The passphrase of a backup that is there.
pub(crate) fn of_existing(given: &BackupPassphrase) -> Result<Zeroizing<String>, Failure> {
    from_outside(given)?.map_or_else(|| ask("Passphrase of the backup: "), Ok)
}

fn from_outside(given: &BackupPassphrase) -> Result<Option<Zeroizing<String>>, Failure> {
    match given.passphrase_file.as_deref() {
        Some(path) => of_file(path).map(Some),
        None => Ok(std::env::var(VARIABLE).ok().map(Zeroizing::new)),
    }
}

fn of_file(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let read = if path == Path::new("-") {
        first_line(io::stdin().lock())
    } else {
        File::open(path).and_then(first_line)
    };
    read.map_err(|error| {
        Failure::new(
            "passphrase-file",
            Exit::Input,
            "The file with the passphrase can't be read.",
            format!("The system says: {}.", error.kind()),
            "Check the name after --passphrase-file. Nothing was changed.",
        )
    })
}

fn first_line(from: impl Read) -> io::Result<Zeroizing<String>> {
    let mut line = Zeroizing::new(String::new());
    BufReader::new(from.take(BYTES_MAX)).read_line(&mut line)?;
    let end = line.trim_end_matches(['\n', '\r']).len();
    line.truncate(end);
    Ok(line)
}

fn ask(prompt: &str) -> Result<Zeroizing<String>, Failure> {
    let typed = rpassword::prompt_password(prompt).map_err(|_| {
        Failure::new(
            "passphrase-missing",
            Exit::Refused,
            "The backup needs its passphrase.",
            format!("There is no terminal to ask at, and {VARIABLE} is not set."),
            format!("Run this in a terminal, use --passphrase-file, or set {VARIABLE}."),
        )
    })?;
    Ok(Zeroizing::new(typed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_file_is_the_passphrase() {
        let read = |text: &str| first_line(text.as_bytes()).unwrap().to_string();
        assert_eq!(read("four plain words\nand a note\n"), "four plain words");
        assert_eq!(read("dos\r\n"), "dos");
        assert_eq!(read(" blanks stay "), " blanks stay ");
    }

    #[test]
    fn a_short_one_is_refused_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passphrase");
        std::fs::write(&file, "short\n").unwrap();
        let given = BackupPassphrase {
            passphrase_file: Some(file),
        };
        assert_eq!(new(&given).unwrap_err().code, "passphrase-short");
        let given = BackupPassphrase {
            passphrase_file: Some(folder.path().join("missing")),
        };
        assert_eq!(new(&given).unwrap_err().code, "passphrase-file");
    }
}
