//! The files of `packaging/` against the program they start.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sealpost_protocol::limit::WEB_PORT;
use sealpost_relay::{Config, Settings};

use crate::program::{Running, command, fail, run_command, succeed};

fn file(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

fn packaged(name: &str) -> String {
    file(&format!("packaging/{name}"))
}

/// The commands of the operators' page and of the Containerfile's head, continued lines joined.
fn written_commands() -> Vec<String> {
    let head = packaged("Containerfile").replace("\n#", "\n");
    let text = (file("docs/operating.md") + &head).replace("\\\n", " ");
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// `NAME=value` lines of the unit; of a name that stands twice, both values.
fn unit() -> BTreeMap<String, Vec<String>> {
    let mut unit: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in packaged("sealpost-relay.service").lines() {
        if let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
            unit.entry(name.to_owned())
                .or_default()
                .push(value.to_owned());
        }
    }
    unit
}

#[test]
fn the_unit_starts_the_program_with_options_it_has_and_room_to_stop() {
    let unit = unit();
    let start: Vec<&str> = unit["ExecStart"][0].split(' ').collect();
    assert!(start[0].ends_with("/sealpost-relay"));
    let [_, subcommand, option, path] = start[..] else {
        panic!("{start:?}")
    };
    assert!(
        path.starts_with("/etc/sealpost-relay/"),
        "ConfigurationDirectory"
    );
    // The same words are understood; only the file isn't there.
    let folder = tempfile::tempdir().unwrap();
    let mut run = command(folder.path());
    assert!(
        fail(
            run.args([subcommand, option, "missing.toml"])
                .output()
                .unwrap()
        )
        .contains("missing.toml")
    );
    let seconds: u64 = unit["TimeoutStopSec"][0].parse().unwrap();
    assert!(seconds > Config::default().shutdown_drain.as_secs() + 2);
    let files: usize = unit["LimitNOFILE"][0].parse().unwrap();
    assert!(files > 2 * Config::default().sessions.connections_max + 100);
}

#[test]
fn the_unit_keeps_the_paths_of_the_example_file() {
    let unit = unit();
    let state = format!("/var/lib/{}", unit["StateDirectory"][0]);
    let mut settings = Settings::default();
    settings.read_file(&packaged("relay.toml")).unwrap();
    assert!(settings.config.store_path.starts_with(&state));
    assert!(settings.key_path.unwrap().starts_with(&state));
    for (name, value) in [
        ("DynamicUser", "yes"),
        ("ProtectSystem", "strict"),
        ("NoNewPrivileges", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6"),
        ("Restart", "on-failure"),
        ("KillSignal", "SIGTERM"),
        ("CapabilityBoundingSet", ""),
    ] {
        assert_eq!(unit[name], [value], "{name}");
    }
}

/// The instructions of the last stage, with continued lines joined.
fn container() -> Vec<(String, String)> {
    let text = packaged("Containerfile").replace("\\\n", " ");
    let (_, last) = text.rsplit_once("\nFROM ").unwrap();
    let lines = last.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
        .collect()
}

fn instruction(name: &str) -> String {
    let all = container();
    let found = all.iter().find(|(one, _)| one == name);
    found
        .unwrap_or_else(|| panic!("{name} is missing"))
        .1
        .clone()
}

#[test]
fn the_container_publishes_the_devices_ports_and_runs_as_nobody_special() {
    let config = Config::default();
    let ports = format!(
        "{} {} {WEB_PORT}",
        config.listen_receive.port(),
        config.listen_push.port()
    );
    assert_eq!(instruction("EXPOSE"), ports, "and not the health port");
    assert_eq!(instruction("VOLUME"), "/data");
    assert!(!["root", "0"].contains(&instruction("USER").as_str()));
    assert_eq!(instruction("STOPSIGNAL"), "SIGTERM");
}

#[test]
fn the_containers_environment_and_commands_are_the_programs() {
    let environment = instruction("ENV");
    let variables = environment
        .split_whitespace()
        .map(|one| one.split_once('=').unwrap());
    let mut settings = Settings::default();
    let pairs = variables.map(|(name, value)| (name.into(), value.into()));
    settings.read_environment(pairs).unwrap();
    assert!(settings.config.store_path.starts_with("/data"));
    assert!(settings.key_path.unwrap().starts_with("/data"));
    let words = |text: &str| -> Vec<String> {
        serde_json::from_str(text.split_once("CMD ").map_or(text, |(_, list)| list)).unwrap()
    };
    assert_eq!(words(&instruction("ENTRYPOINT")), ["sealpost-relay"]);
    assert_eq!(words(&instruction("CMD")), ["run", "--no-config"]);
    let check = words(&instruction("HEALTHCHECK"));
    assert_eq!(check, ["sealpost-relay", "health", "--no-config"]);
}

/// The command of the container's health check.
#[test]
fn health_asks_the_configured_port() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let health = |address: &str| {
        let mut health = command(folder.path());
        health
            .args(["health", "--no-config"])
            .env("TRUESEAL_RELAY_LISTEN_HEALTH", address);
        health.output().unwrap()
    };
    assert!(fail(health(&address)).contains("gives no answer"));
    assert!(fail(health("off")).contains("no fixed health port"));
    let mut run = run_command(folder.path());
    run.args(["--log", "warn"]);
    let arguments: Vec<_> = run.get_args().map(std::ffi::OsStr::to_owned).collect();
    let mut with_health = command(folder.path());
    with_health.args(arguments.iter().map(|one| {
        if one == "off" {
            std::ffi::OsStr::new(&address)
        } else {
            one
        }
    }));
    let _running = Running::start(&mut with_health);
    assert_eq!(succeed(health(&address)), "The relay is well.\n");
    let everywhere = format!(":{}", address.rsplit(':').next().unwrap());
    assert_eq!(succeed(health(&everywhere)), "The relay is well.\n");
}

#[test]
fn check_config_prints_every_setting_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "7".repeat(64);
    let mut check = command(folder.path());
    check.args(["check-config", "--no-config", "--data-dir", "data"]);
    check
        .env("TRUESEAL_RELAY_TTL", "168h")
        .env("TRUESEAL_RELAY_KEYPAIR_HEX", &secret);
    let printed = succeed(check.output().unwrap());
    assert!(
        printed.contains("\nttl = \"168h\"\n") && !printed.contains(&secret),
        "{printed}"
    );
    let (_, file) = printed.split_once("\n\n").unwrap();
    let mut settings = Settings::default();
    settings.read_file(file).unwrap();
    assert_eq!(settings.config.life_ms, 168 * 3_600_000);
}

#[test]
fn development_mode_is_loud() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for by_option in [true, false] {
        // It ends by itself, because the port is in use, and has warned before.
        let mut run = command(folder.path());
        run.args([
            "run",
            "--no-config",
            "--data-dir",
            "data",
            "--listen-push",
            &address,
        ]);
        run.args(["--listen-receive", "127.0.0.1:0", "--listen-health", "off"]);
        if by_option {
            run.arg("--dev");
        } else {
            run.env("TRUESEAL_RELAY_DEV", "1");
        }
        let output = String::from_utf8(run.output().unwrap().stdout).unwrap();
        assert!(
            output.contains("WARN") && output.contains("development mode is on"),
            "{output}"
        );
    }
}

/// Podman's defaults are another format and a shorter wait than the relay's longest.
#[test]
fn the_containers_commands_keep_its_health_check_its_store_and_its_life() {
    let commands = written_commands();
    let of = |start: &str| -> Vec<&String> {
        let found = commands.iter().filter(|line| line.starts_with(start));
        found.collect()
    };
    let (builds, runs) = (of("podman build "), of("podman run -d "));
    assert_eq!((builds.len(), runs.len()), (2, 2), "{commands:?}");
    for build in builds {
        assert!(build.contains("--format docker"), "{build}");
    }
    for run in runs {
        assert!(run.contains("--restart on-failure"), "{run}");
        let (_, rest) = run.split_once("--stop-timeout ").unwrap();
        let seconds: u64 = rest.split(' ').next().unwrap().parse().unwrap();
        assert!(seconds > Config::default().shutdown_drain.as_secs() + 2);
    }
}

#[test]
fn no_key_no_store_and_no_build_of_this_machine_gets_into_the_image() {
    let ignored = file(".containerignore");
    let ignored: Vec<&str> = ignored.lines().collect();
    for pattern in [
        ".git",
        ".tools",
        "ui/dist",
        "**/node_modules",
        "**/target",
        "**/*.hex",
        "**/*.db",
        "**/*.db-*",
    ] {
        assert!(ignored.contains(&pattern), "{pattern}");
    }
    assert!(packaged("Containerfile").contains("\nCOPY . .\n"));
}

/// The page's steps for both deployments, on a store that is damaged and has a log.
#[cfg(target_os = "linux")]
#[test]
fn the_steps_to_restore_a_store_restore_it() {
    let commands = written_commands();
    let systemd = commands
        .iter()
        .skip_while(|line| *line != "cd /var/lib/sealpost-relay")
        .skip(1)
        .take_while(|line| !line.starts_with("systemctl"));
    let systemd: Vec<&str> = systemd.map(String::as_str).collect();
    let systemd = systemd.join("\n").replace("/root/inbox-DATE.db", "../copy");
    let container = commands
        .iter()
        .find(|line| line.contains("--entrypoint sh"));
    let (_, container) = container
        .unwrap()
        .split_once("sealpost-relay -ec ")
        .unwrap();
    let container = format!("sh -ec {}", container.replace("inbox-DATE.db", "../copy"));
    for steps in [systemd, container] {
        assert!(steps.contains("../copy"), "{steps}");
        let folder = tempfile::tempdir().unwrap();
        drop(Running::start(&mut run_command(folder.path())));
        let mut backup = command(folder.path());
        backup.args(["backup", "--data-dir", "data", "copy"]);
        succeed(backup.output().unwrap());
        let data = folder.path().join("data");
        std::fs::write(data.join("inbox.db"), b"damaged").unwrap();
        std::fs::write(data.join("inbox.db-wal"), b"its log").unwrap();
        fail(run_command(folder.path()).output().unwrap());
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-ec", &steps]).current_dir(&data);
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{steps}: {output:?}");
        drop(Running::start(&mut run_command(folder.path())));
        let mode = {
            use std::os::unix::fs::PermissionsExt;
            let restored = std::fs::metadata(data.join("inbox.db")).unwrap();
            restored.permissions().mode()
        };
        assert_eq!(mode & 0o777, 0o600, "{steps}");
        assert!(data.join("damaged/inbox.db-wal").exists(), "{steps}");
    }
}

/// Neither place lets the relay have another folder, so no step may name one.
#[test]
fn backing_up_and_restoring_keep_the_places_of_the_configuration() {
    let page = file("docs/operating.md");
    let (_, rest) = page.split_once("## Backup and restore").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    assert!(!section.contains("--data-dir"));
    let backups: Vec<String> = written_commands()
        .into_iter()
        .filter(|line| line.contains("sealpost-relay backup "))
        .collect();
    assert_eq!(backups.len(), 2, "{backups:?}");
    let unit = unit();
    let (_, config) = unit["ExecStart"][0].split_once("--config ").unwrap();
    assert!(backups[0].contains(config));
    assert!(backups[1].starts_with("podman exec relay ") && backups[1].contains("--no-config"));
}
