//! The session of `docs/wire/link.md`, run with the real curl.

use std::process::Command;

use crate::door::{Door, MAILBOX, TOKEN};

const PAGE: &str = include_str!("../../../docs/wire/link.md");

/// A line that is typed, and what comes back.
struct Step {
    typed: String,
    shown: String,
}

fn steps(page: &str) -> Vec<Step> {
    let (_, session) = page.split_once("```session\n").unwrap();
    let (session, _) = session.split_once("\n```").unwrap();
    let mut steps: Vec<Step> = Vec::new();
    for line in session.lines() {
        match line.strip_prefix("$ ") {
            Some(typed) => steps.push(Step {
                typed: typed.to_owned(),
                shown: String::new(),
            }),
            None => {
                let step = steps.last_mut().unwrap();
                step.shown.push_str(line);
                step.shown.push('\n');
            }
        }
    }
    steps
}

/// Without the moment of the answer, and with line ends of the page.
fn told(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output).replace("\r\n", "\n");
    let lines = text.lines().filter(|line| !line.starts_with("date: "));
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_plays_a_device_as_the_page_shows() {
    let door = Door::open().await;
    let folder = tempfile::tempdir().unwrap();
    let steps = steps(PAGE);
    assert!(steps.len() > 8, "only {} steps were found", steps.len());
    for step in steps {
        let mut shell = Command::new("sh");
        shell.args(["-c", &step.typed]).current_dir(folder.path());
        shell.env("RELAY", format!("http://127.0.0.1:{}", door.port));
        shell.env("MAILBOX", MAILBOX).env("TOKEN", TOKEN);
        // A proxy of whoever runs the tests is none of the relay's.
        shell.env("no_proxy", "*");
        let run = tokio::task::spawn_blocking(move || shell.output());
        let output = run.await.unwrap().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", step.typed);
        assert_eq!(
            told(&output.stdout),
            step.shown.trim_end(),
            "{}",
            step.typed
        );
    }
}
