//! The entry that starts the app when the person logs in.
//!
//! Owns the text of the entry and its place (the XDG autostart folder). It names the program
//! where the person started it: the file of an AppImage and not the folder it is mounted in,
//! and without the folders of a link that an update moves. It is written anew at each start
//! of the app, so a program that moved mends its entry when it is started by hand once.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::options::{DEFAULT_PROFILE, IDENTIFIER, Options, PRODUCT_NAME};
use crate::window::LoginStart;

/// What the entry of a profile is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginEntry {
    folder: PathBuf,
    program: PathBuf,
    profile: String,
    data_dir: Option<PathBuf>,
}

impl LoginEntry {
    /// The entry for this run of the app; nothing where this system has no place for one.
    pub fn of_this_run(options: &Options) -> Option<Self> {
        let folder = autostart_folder()?;
        let program = program(std::env::var_os("APPIMAGE"), std::env::args_os().next())?;
        Some(Self {
            folder,
            program,
            profile: options.profile.clone(),
            data_dir: options
                .data_dir
                .as_deref()
                .and_then(|path| std::path::absolute(path).ok()),
        })
    }

    /// Writes or removes the entry.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn set(&self, start: LoginStart) -> io::Result<()> {
        let path = self.path();
        if start == LoginStart::Never {
            return match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let text = self.text(start == LoginStart::Hidden)?;
        if std::fs::read_to_string(&path).is_ok_and(|old| old == text) {
            return Ok(());
        }
        std::fs::create_dir_all(&self.folder)?;
        let beside = path.with_extension("new");
        std::fs::write(&beside, text)?;
        std::fs::rename(beside, path)
    }

    /// Each profile has an entry of its own.
    fn path(&self) -> PathBuf {
        let name = if self.profile == DEFAULT_PROFILE {
            format!("{IDENTIFIER}.desktop")
        } else {
            format!("{IDENTIFIER}.{}.desktop", self.profile)
        };
        self.folder.join(name)
    }

    fn text(&self, hidden: bool) -> io::Result<String> {
        let mut words = vec![quoted(&self.program)?];
        if self.profile != DEFAULT_PROFILE {
            words.push("--profile".to_owned());
            words.push(quoted(Path::new(&self.profile))?);
        }
        if let Some(data_dir) = &self.data_dir {
            words.push("--data-dir".to_owned());
            words.push(quoted(data_dir)?);
        }
        if hidden {
            words.push("--hidden".to_owned());
        }
        Ok(format!(
            "[Desktop Entry]\nType=Application\nName={PRODUCT_NAME}\nExec={}\n\
             Icon={IDENTIFIER}\nTerminal=false\nX-GNOME-Autostart-enabled=true\n",
            words.join(" ")
        ))
    }
}

/// Where the program is: the file of an AppImage, or the path that it was started by, which
/// stays the same when a link in it is turned to another version.
fn program(appimage: Option<OsString>, started_as: Option<OsString>) -> Option<PathBuf> {
    if let Some(appimage) = appimage.map(PathBuf::from)
        && appimage.is_absolute()
    {
        return Some(appimage);
    }
    let started_as = started_as.map(PathBuf::from);
    let as_started = started_as.filter(|path| path.is_absolute() && path.exists());
    as_started.or_else(|| std::env::current_exe().ok())
}

/// One argument of `Exec`, quoted as the Desktop Entry Specification wants it.
fn quoted(argument: &Path) -> io::Result<String> {
    let text = argument.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    if text.chars().any(char::is_control) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            // Escaped once for the argument and once more for the value of the key.
            '\\' => quoted.push_str("\\\\\\\\"),
            '"' | '`' | '$' => {
                quoted.push_str("\\\\");
                quoted.push(character);
            }
            '%' => quoted.push_str("%%"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

#[cfg(target_os = "linux")]
fn autostart_folder() -> Option<PathBuf> {
    let directories = directories::BaseDirs::new()?;
    Some(directories.config_dir().join("autostart"))
}

/// No entry is written on this system yet.
#[cfg(not(target_os = "linux"))]
fn autostart_folder() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(folder: &Path, program: &str) -> LoginEntry {
        LoginEntry {
            folder: folder.join("autostart"),
            program: PathBuf::from(program),
            profile: DEFAULT_PROFILE.to_owned(),
            data_dir: None,
        }
    }

    fn exec(folder: &Path) -> String {
        let path = folder
            .join("autostart")
            .join(format!("{IDENTIFIER}.desktop"));
        let text = std::fs::read_to_string(path).expect("the entry is there");
        let line = text.lines().find_map(|line| line.strip_prefix("Exec="));
        line.expect("it starts something").to_owned()
    }

    #[test]
    fn an_appimage_is_started_by_its_file_and_not_by_its_mount() {
        let appimage = Some(OsString::from("/x/A.AppImage"));
        let mounted = Some(OsString::from("/tmp/.mount_A/usr/bin/sealpost-app"));
        assert_eq!(
            program(appimage, mounted),
            Some(PathBuf::from("/x/A.AppImage"))
        );
    }

    #[test]
    fn a_link_to_a_version_is_kept_as_a_link() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let version = folder.path().join("1.0");
        std::fs::write(&version, "").expect("it can be written");
        let link = folder.path().join("current");
        std::os::unix::fs::symlink(&version, &link).expect("links can be made");
        let started = Some(link.clone().into_os_string());
        assert_eq!(program(None, started), Some(link));
        let gone = Some(OsString::from("/no/such/program"));
        assert_eq!(program(None, gone), std::env::current_exe().ok());
    }

    #[test]
    fn an_entry_of_a_program_that_moved_is_mended() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let old = entry(folder.path(), "/old/place/A.AppImage");
        old.set(LoginStart::Shown).expect("it can be written");
        assert_eq!(exec(folder.path()), "\"/old/place/A.AppImage\"");
        let new = entry(folder.path(), "/new/place/A.AppImage");
        new.set(LoginStart::Hidden).expect("it can be written");
        assert_eq!(exec(folder.path()), "\"/new/place/A.AppImage\" --hidden");
        new.set(LoginStart::Never).expect("it can be removed");
        new.set(LoginStart::Never)
            .expect("nothing to remove is fine");
        let left = std::fs::read_dir(folder.path().join("autostart")).expect("the folder");
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_profile_of_its_own_starts_as_itself() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut work = entry(folder.path(), "/bin/sealpost-app");
        work.profile = "work".to_owned();
        work.data_dir = Some(PathBuf::from("/data/a \"b\" $c 100%"));
        work.set(LoginStart::Shown).expect("it can be written");
        let path = work.path();
        assert_ne!(path, entry(folder.path(), "").path());
        let text = std::fs::read_to_string(path).expect("the entry");
        assert!(
            text.contains(
                "Exec=\"/bin/sealpost-app\" --profile \"work\" \
                 --data-dir \"/data/a \\\\\"b\\\\\" \\\\$c 100%%\"\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_path_that_would_break_the_entry_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bad = entry(folder.path(), "/x/A\nExec=evil");
        assert!(bad.set(LoginStart::Shown).is_err());
        assert!(!bad.path().exists());
    }
}
