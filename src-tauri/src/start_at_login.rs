//! The entry that starts the app when the person logs in.
//!
//! Owns the text of the entry and its place (the XDG autostart folder). It names the program
//! where the person started it: the file of an AppImage and not the folder it is mounted in,
//! and without the folders of a link that an update moves. Its command is written anew at each
//! start of the app, so a program that moved mends its entry when it is started by hand once;
//! what else somebody changed in the entry stays, and one that is switched off stays off.

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
        let program = program(Surroundings::of_this_run())?;
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
        self.write(&self.text(start == LoginStart::Hidden)?)
    }

    /// Lets the entry lead to this program. Whether it is in force: not when somebody has
    /// switched it off outside of the app, and then it is left alone.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn mend(&self, start: LoginStart) -> io::Result<bool> {
        if start == LoginStart::Never {
            return Ok(false);
        }
        let old = match std::fs::read_to_string(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.set(start)?;
                return Ok(true);
            }
            read => read?,
        };
        if is_switched_off(&old) {
            return Ok(false);
        }
        let command = self.command(start == LoginStart::Hidden)?;
        self.write(&with_command(&old, &command))?;
        Ok(true)
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let path = self.path();
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

    fn command(&self, hidden: bool) -> io::Result<String> {
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
        Ok(words.join(" "))
    }

    fn text(&self, hidden: bool) -> io::Result<String> {
        Ok(format!(
            "[Desktop Entry]\nType=Application\nName={PRODUCT_NAME}\nExec={}\n\
             Icon={IDENTIFIER}\nTerminal=false\nX-GNOME-Autostart-enabled=true\n",
            self.command(hidden)?
        ))
    }
}

/// Where the program is: the file of an AppImage, or the path that it was started by, which
/// stays the same when a link in it is turned to another version.
fn program(run: Surroundings) -> Option<PathBuf> {
    let Surroundings {
        appimage,
        mount,
        started_as,
        current,
    } = run;
    // Whatever an AppImage starts inherits its name, and this program may be such a child.
    let is_mounted = match (&mount, &current) {
        (Some(mount), Some(current)) => mount.is_absolute() && current.starts_with(mount),
        _ => false,
    };
    if let (true, Some(appimage)) = (is_mounted, appimage)
        && appimage.is_absolute()
    {
        return Some(appimage);
    }
    let as_started = started_as.filter(|path| path.is_absolute() && path.exists());
    as_started.or(current)
}

/// What this run of the program knows of where it is.
struct Surroundings {
    appimage: Option<PathBuf>,
    /// Where the AppImage is mounted.
    mount: Option<PathBuf>,
    started_as: Option<PathBuf>,
    current: Option<PathBuf>,
}

impl Surroundings {
    fn of_this_run() -> Self {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Self {
            appimage: path("APPIMAGE"),
            // The path of the program has no links in it, so the mount may have none either.
            mount: path("APPDIR").and_then(|mount| std::fs::canonicalize(mount).ok()),
            started_as: std::env::args_os().next().map(PathBuf::from),
            current: std::env::current_exe().ok(),
        }
    }
}

/// The keys and values of the group that describes the entry, with the numbers of their lines.
fn entry_lines(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut is_entry = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        if line.starts_with('[') {
            is_entry = line.trim_end() == "[Desktop Entry]";
        }
        let (key, value) = line.split_once('=')?;
        is_entry.then(|| (number, key.trim(), value.trim()))
    })
}

/// Whether somebody has switched an entry off, as the settings of desktops do.
fn is_switched_off(text: &str) -> bool {
    entry_lines(text).any(|(_, key, value)| {
        matches!(
            (key, value),
            ("Hidden", "true") | ("X-GNOME-Autostart-enabled", "false")
        )
    })
}

/// The entry with another command; all else as it was.
fn with_command(text: &str, command: &str) -> String {
    let place = entry_lines(text).find(|(_, key, _)| *key == "Exec");
    let place = place.map(|(number, _, _)| number);
    let lines = text.lines().enumerate();
    lines
        .map(|(number, line)| {
            if Some(number) == place {
                format!("Exec={command}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect()
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
        let path = |text: &str| Some(PathBuf::from(text));
        let run = |appimage: &str, mount: Option<&str>, current: &str| {
            program(Surroundings {
                appimage: path(appimage),
                mount: mount.map(PathBuf::from),
                started_as: path(current),
                current: path(current),
            })
        };
        let inside = "/tmp/.mount_A/usr/bin/sealpost-app";
        let mount = Some("/tmp/.mount_A");
        assert_eq!(run("/x/A.AppImage", mount, inside), path("/x/A.AppImage"));
        // The terminal that this was started from is an AppImage, and this is none.
        let outside = "/usr/bin/sealpost-app";
        for mount in [mount, None, Some(""), Some("/usr/bin/sealpost")] {
            assert_eq!(run("/x/Terminal.AppImage", mount, outside), path(outside));
        }
        assert_eq!(run("A.AppImage", mount, inside), path(inside));
    }

    #[test]
    fn a_link_to_a_version_is_kept_as_a_link() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let version = folder.path().join("1.0");
        std::fs::write(&version, "").expect("it can be written");
        let link = folder.path().join("current");
        std::os::unix::fs::symlink(&version, &link).expect("links can be made");
        let run = |started_as: &Path| {
            program(Surroundings {
                appimage: None,
                mount: None,
                started_as: Some(started_as.to_owned()),
                current: Some(version.clone()),
            })
        };
        assert_eq!(run(&link), Some(link.clone()));
        assert_eq!(run(Path::new("/no/such/program")), Some(version.clone()));
    }

    #[test]
    fn mending_changes_the_command_only_and_leaves_an_entry_that_is_off() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let old = entry(folder.path(), "/old/A.AppImage");
        let new = entry(folder.path(), "/new/A.AppImage");
        assert!(!new.mend(LoginStart::Never).expect("nothing to do"));
        assert!(!new.path().exists());
        assert!(old.mend(LoginStart::Shown).expect("it is written"));
        let read = || std::fs::read_to_string(new.path()).expect("the entry");
        let changed = read() + "X-GNOME-Autostart-Delay=20\n[Desktop Action x]\nExec=mine\n";
        std::fs::write(new.path(), &changed).expect("it can be written");
        assert!(new.mend(LoginStart::Hidden).expect("it is mended"));
        let mended = changed.replace("\"/old/A.AppImage\"", "\"/new/A.AppImage\" --hidden");
        assert_eq!(read(), mended);
        for off in [
            mended.replace("enabled=true", "enabled=false"),
            mended.replace("Terminal", "Hidden=true\nTerminal"),
        ] {
            std::fs::write(new.path(), &off).expect("it can be written");
            assert!(!old.mend(LoginStart::Shown).expect("it is read"));
            assert_eq!(read(), off);
        }
        // The person switches it on again in the app.
        old.set(LoginStart::Shown).expect("it can be written");
        assert!(old.mend(LoginStart::Shown).expect("it is read"));
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
