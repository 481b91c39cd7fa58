//! The shape of the code: who may depend on whom, what pure code may not touch, how large a
//! file may grow and what it may be called.
//!
//! Each rule fails with the sentence that forbids the new thing, so that the person who met
//! it knows what to do without reading this file. `ARCHITECTURE.md` says why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use sealpost_tests::program::workspace_folder;
use serde_json::Value;

/// A crate of the workspace, the crates of the workspace that it and its tests may use, and
/// why no other.
struct CrateRule {
    name: &'static str,
    may_use: &'static [&'static str],
    tests_may_use: &'static [&'static str],
    sentence: &'static str,
}

const CRATE_RULES: [CrateRule; 8] = [
    CrateRule {
        name: "sealpost-protocol",
        may_use: &[],
        tests_may_use: &[],
        sentence: "protocol is what everything else stands on: it uses no crate of the workspace",
    },
    CrateRule {
        name: "sealpost-engine",
        may_use: &["sealpost-protocol"],
        tests_may_use: &["sealpost-relay"],
        sentence: "the engine knows only the protocol, and only its tests know the relay",
    },
    CrateRule {
        name: "sealpost-relay",
        may_use: &["sealpost-protocol"],
        tests_may_use: &[],
        sentence: "the relay knows only the protocol, and nothing of the engine",
    },
    CrateRule {
        name: "sealpost-cli",
        may_use: &["sealpost-protocol", "sealpost-engine", "sealpost-relay"],
        tests_may_use: &[],
        sentence: "the command-line client stands on the engine and the relay, not on the app",
    },
    CrateRule {
        name: "sealpost",
        may_use: &["sealpost-protocol", "sealpost-engine", "sealpost-relay"],
        tests_may_use: &[],
        sentence: "the app is a shell around the engine and the relay, and uses no other program",
    },
    CrateRule {
        name: "sealpost-tests",
        may_use: &["sealpost-protocol", "sealpost-engine", "sealpost-relay"],
        tests_may_use: &[],
        sentence: "the whole-system tests drive the app and the client from outside",
    },
    CrateRule {
        name: "sealpost-bench",
        may_use: &["sealpost-protocol", "sealpost-relay"],
        tests_may_use: &[],
        sentence: "the measurements stand beside the relay, and nothing stands on them",
    },
    CrateRule {
        name: "sealpost-fuzz",
        may_use: &["sealpost-protocol", "sealpost-relay"],
        tests_may_use: &[],
        sentence: "fuzzing feeds what takes bytes from outside, and nothing stands on it",
    },
];

impl CrateRule {
    fn allows(&self, other: &str, is_for_tests: bool) -> bool {
        self.may_use.contains(&other) || (is_for_tests && self.tests_may_use.contains(&other))
    }
}

/// Dependencies from outside that a crate must never have.
const FOREIGN_RULES: [(&str, &[&str], &str); 4] = [
    (
        "sealpost-protocol",
        &[
            "tokio",
            "tokio-util",
            "rusqlite",
            "tracing",
            "getrandom",
            "rand",
            "axum",
            "rustix",
        ],
        "protocol is pure: no runtime, no files, no clock, no randomness of its own",
    ),
    (
        "sealpost-engine",
        &["tauri", "axum", "clap"],
        "the engine is a client without a face",
    ),
    (
        "sealpost-relay",
        &["tauri", "keyring", "keyring-core"],
        "the relay is a server",
    ),
    (
        "sealpost-cli",
        &["tauri", "rusqlite"],
        "the client reaches the store through the engine",
    ),
];

/// Code that gets the time, its randomness and every byte as an argument.
const PURE: [&str; 4] = [
    "protocol/src",
    "engine/src/core",
    "relay/src/limits",
    "relay/src/mailbox",
];

/// What pure code may not name, and what it does instead.
const IMPURE: [(&str, &str); 19] = [
    ("std::fs", "hands its writes out as values"),
    ("std::env", "gets its settings as arguments"),
    ("std::process", "starts nothing"),
    ("std::thread", "runs on its caller's thread"),
    ("TcpStream", "turns bytes into bytes"),
    ("TcpListener", "turns bytes into bytes"),
    ("UdpSocket", "turns bytes into bytes"),
    ("ToSocketAddrs", "never looks a name up"),
    ("SystemTime", "gets `now_ms` as an argument"),
    ("Instant", "gets `now_ms` as an argument"),
    ("OsRng", "gets its random numbers as an argument"),
    ("thread_rng", "gets its random numbers as an argument"),
    ("from_entropy", "gets its random numbers as an argument"),
    ("getrandom", "gets its random numbers as an argument"),
    ("tokio", "is not async"),
    ("rusqlite", "hands its writes out as values"),
    (
        "HashMap",
        "uses BTreeMap, so that every run takes the same way",
    ),
    (
        "HashSet",
        "uses BTreeSet, so that every run takes the same way",
    ),
    ("tracing", "returns what happened and lets the shell log it"),
];

/// Folders that hold the project's own code.
const CODE: [&str; 10] = [
    "protocol",
    "engine",
    "relay",
    "cli",
    "src-tauri",
    "tests",
    "bench",
    "fuzz",
    "ui/src",
    "ui/phone/src",
];

/// The most lines that a file may have, by its ending.
const FILE_LINES_MAX: [(&str, usize); 3] = [("rs", 800), ("ts", 300), ("svelte", 300)];

/// The one file of the interface that talks to the shell.
const SHELL_FILE: &str = "ui/src/api.ts";

/// File names that say nothing about what is inside.
const EMPTY_NAMES: [&str; 11] = [
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "misc",
    "manager",
    "service",
    "processor",
    "shared",
    "stuff",
];

#[test]
fn no_crate_depends_where_it_must_not() {
    let mut broken = Vec::new();
    for (name, dependencies) in dependencies_by_crate() {
        let Some(rule) = CRATE_RULES.iter().find(|rule| rule.name == name) else {
            broken.push(format!(
                "{name} has no rule: say in CRATE_RULES what it may use"
            ));
            continue;
        };
        for (dependency, is_for_tests) in dependencies {
            let is_ours = CRATE_RULES.iter().any(|rule| rule.name == dependency);
            if is_ours && !rule.allows(&dependency, is_for_tests) {
                broken.push(format!("{name} → {dependency}: {}", rule.sentence));
            }
            for (owner, forbidden, sentence) in FOREIGN_RULES {
                if owner == name && !is_for_tests && forbidden.contains(&dependency.as_str()) {
                    broken.push(format!("{name} → {dependency}: {sentence}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_source_imports_where_it_must_not() {
    let mut broken = Vec::new();
    let folders = [
        ("protocol", "sealpost-protocol"),
        ("engine", "sealpost-engine"),
        ("relay", "sealpost-relay"),
        ("cli", "sealpost-cli"),
        ("src-tauri", "sealpost"),
        ("tests", "sealpost-tests"),
        ("bench", "sealpost-bench"),
        ("fuzz", "sealpost-fuzz"),
    ];
    for (folder, name) in folders {
        let rule = CRATE_RULES.iter().find(|rule| rule.name == name).unwrap();
        for file in files_below(folder, &["rs"]) {
            let code = code_of(&file);
            for other in [
                "protocol", "engine", "relay", "cli", "app", "tests", "bench", "fuzz",
            ] {
                let is_own = folder == other || (folder == "src-tauri" && other == "app");
                let allowed = rule.allows(&format!("sealpost-{other}"), is_test(&file));
                if !is_own && !allowed && names(&code, &format!("sealpost_{other}")) {
                    let place = shown(&file);
                    broken.push(format!("{place} uses sealpost_{other}: {}", rule.sentence));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn pure_code_touches_nothing_outside_itself() {
    let mut broken = Vec::new();
    let mut seen = 0;
    let files: Vec<_> = PURE
        .iter()
        .flat_map(|place| files_below(place, &["rs"]))
        .collect();
    let test_modules: Vec<_> = files
        .iter()
        .flat_map(|file| test_modules_of(file))
        .collect();
    for file in files {
        let stem = file.with_extension("");
        if test_modules.iter().any(|module| stem.starts_with(module)) {
            continue;
        }
        seen += 1;
        let code = code_of(&file);
        for (word, instead) in IMPURE {
            if names(&code, word) {
                broken.push(format!(
                    "{} names {word}: pure code {instead}",
                    shown(&file)
                ));
            }
        }
    }
    assert!(
        seen > 0,
        "there is no pure code where this test looks for it"
    );
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_file_is_too_long_or_named_for_nothing() {
    let mut broken = Vec::new();
    for file in CODE
        .iter()
        .flat_map(|folder| files_below(folder, &["rs", "ts", "svelte"]))
    {
        let source = std::fs::read_to_string(&file).unwrap();
        let lines = source.lines().count();
        let ending = file.extension().unwrap();
        let (_, most) = FILE_LINES_MAX
            .into_iter()
            .find(|(end, _)| ending == *end)
            .unwrap();
        if lines > most {
            broken.push(format!(
                "{} has {lines} lines: above {most}, a file holds two ideas; part them",
                shown(&file)
            ));
        }
        let stem = file
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .split('.')
            .next()
            .unwrap();
        if EMPTY_NAMES.contains(&stem.to_lowercase().as_str()) {
            broken.push(format!(
                "{}: name the noun that the file holds",
                shown(&file)
            ));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_interface_has_one_door_to_the_shell() {
    let files = files_below("ui/src", &["ts", "svelte"]);
    let talks = |file: &PathBuf| {
        std::fs::read_to_string(file)
            .unwrap()
            .contains("@tauri-apps/")
            && shown(file) != SHELL_FILE
    };
    let broken: Vec<_> = files
        .iter()
        .filter(|file| talks(file))
        .map(|file| shown(file))
        .collect();
    assert!(
        !files.is_empty(),
        "there is no interface where this test looks for it"
    );
    assert!(
        broken.is_empty(),
        "{broken:?}: only {SHELL_FILE} talks to the shell"
    );
}

#[test]
fn the_rules_notice_what_they_forbid() {
    let code = strip("use std::fs::File; // SystemTime\n/* OsRng */\n#[cfg(test)]\nmod tests {\n}");
    assert!(names(&code, "std::fs"));
    assert!(!names(&code, "SystemTime"));
    assert!(names("let t = Instant::now();", "Instant"));
    assert!(!names("let instants = 3;", "Instant"));
    assert!(!names("let my_tokio_like = 3;", "tokio"));
    let tests_only = strip("fn f() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n");
    assert!(!names(&tests_only, "std::fs"));
}

/// The dependencies of each crate of the workspace, and whether they are for tests only.
fn dependencies_by_crate() -> BTreeMap<String, Vec<(String, bool)>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(workspace_folder())
        .output()
        .expect("cargo can be started");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let text = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"]
        .as_array()
        .expect("cargo lists packages");
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"]
                .as_array()
                .expect("a package lists them");
            let dependencies = dependencies
                .iter()
                .map(|one| (text(one), one["kind"] == "dev"));
            (text(package), dependencies.collect())
        })
        .collect()
}

/// The files with one of the endings below a folder, or the file of that name with `.rs`.
fn files_below(place: &str, endings: &[&str]) -> Vec<PathBuf> {
    let path = workspace_folder().join(place);
    let file = path.with_extension("rs");
    let mut found: Vec<PathBuf> = file.is_file().then_some(file).into_iter().collect();
    collect(&path, endings, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" && name != "node_modules" && name != "dist" {
            collect(&path, endings, found);
        } else if path
            .extension()
            .is_some_and(|end| endings.iter().any(|ending| end == *ending))
        {
            found.push(path);
        }
    }
}

fn shown(file: &Path) -> String {
    file.strip_prefix(workspace_folder())
        .unwrap_or(file)
        .display()
        .to_string()
}

/// The code of a file, without comments and without its tests.
fn code_of(file: &Path) -> String {
    strip(&std::fs::read_to_string(file).expect("source files are text"))
}

/// Whether the file holds nothing but tests or measurements, which may use what tests may: it
/// stands in a crate's folder for them, or in one of the modules that are called so.
fn is_test(file: &Path) -> bool {
    let below = file.strip_prefix(workspace_folder()).unwrap_or(file);
    below
        .with_extension("")
        .iter()
        .skip(1)
        .any(|part| part == "tests" || part == "benches")
}

/// The modules that a file declares for tests only, as paths without an ending.
fn test_modules_of(file: &Path) -> Vec<PathBuf> {
    let source = std::fs::read_to_string(file).expect("source files are text");
    let is_root = ["mod", "lib", "main"]
        .iter()
        .any(|stem| file.file_stem() == Some(stem.as_ref()));
    let folder = if is_root {
        file.parent().unwrap_or(file).to_owned()
    } else {
        file.with_extension("")
    };
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines
        .windows(2)
        .filter(|pair| pair[0] == "#[cfg(test)]")
        .filter_map(|pair| pair[1].split_once("mod ")?.1.strip_suffix(';'))
        .map(|module| folder.join(module))
        .collect()
}

/// Tests stand at the end of a file, behind `#[cfg(test)]` and a module with a body.
fn strip(source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let end = lines
        .windows(2)
        .position(|pair| {
            pair[0].trim() == "#[cfg(test)]"
                && pair[1].trim_start().starts_with("mod ")
                && pair[1].trim_end().ends_with('{')
        })
        .unwrap_or(lines.len());
    let mut code = lines[..end]
        .iter()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    while let Some((start, end)) = code.find("/*").zip(code.find("*/").map(|end| end + 2)) {
        code.replace_range(start..end.max(start + 2), "");
    }
    code
}

/// Whether the code names `word`, as a word of its own.
fn names(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, found)| {
        let (before, rest) = code.split_at(at);
        let after = rest.strip_prefix(found).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}
