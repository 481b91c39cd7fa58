//! Two windows of the app, driven from outside as two people would.
//!
//! Two instances with two profiles share a session bus and a Secret Service of their own. The
//! first starts a group on the relay inside it; its pairing code is read off a screenshot by
//! a decoder that is not the encoder's, and entered in the second. Both people compare four
//! words. Messages go both ways; the second instance is killed with SIGKILL in the middle and
//! started again. At the end each window shows each message once, in the order of its author,
//! and neither log holds a text, a name, a key or an address.
//!
//! Screenshots are kept in `target/window/`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sealpost_tests::desktop::{Desktop, Keychain};
use sealpost_tests::driver::{AppWindow, PATIENCE, read_qr_code};
use sealpost_tests::log_canary::LogCanary;
use sealpost_tests::program::{Program, target_folder};
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// Messages that each person writes in each of the three parts.
const PART: usize = 6;

/// Shows the rows near a place of the list and returns them, and where the list ends.
const READ_ROWS: &str = r#"
    const list = document.querySelector('[data-testid="messages"]');
    if (list === null) return { rows: [], end: true };
    list.scrollTop = arguments[0];
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({
        rows: [...list.querySelectorAll('[data-message-id]')].map((row) => ({
            id: row.dataset.messageId,
            position: Number(row.dataset.position),
            own: row.dataset.own === 'true',
            text: [...row.querySelectorAll('[data-testid="message-text"] p')].map((line) => line.textContent).join('\n'),
            state: row.querySelector('[data-testid="delivery-state"]')?.dataset.state ?? null,
        })),
        end: list.scrollTop + list.clientHeight + 2 >= list.scrollHeight,
        page: list.clientHeight,
    }))));
"#;

/// The four words of a window, once they are there.
const READ_WORDS: &str = r#"
    const words = [...document.querySelectorAll('[data-testid="words"] .word')];
    return words.length === 4 ? words.map((word) => word.textContent) : null;
"#;

/// One person's instance of the app.
struct Person {
    name: &'static str,
    profile: &'static str,
    window: Option<AppWindow>,
    written: Vec<String>,
}

/// A message as a window shows it.
#[derive(Debug)]
struct Row {
    position: u64,
    own: bool,
    text: String,
    state: Option<String>,
}

/// Windows draw on the processor here; two tests at once would only slow each other down.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

struct Stage {
    desktop: Desktop,
    app: PathBuf,
    pictures: PathBuf,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_pair_and_write_to_each_other_while_one_is_killed() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Unlocked).unwrap();
    let mut anna = Person::new("Canary Anna", "canary-anna");
    let mut ben = Person::new("Canary Ben", "canary-ben");
    let link = stage.pair(&mut anna, &mut ben).await.unwrap();
    stage
        .write_while_killing(&mut anna, &mut ben)
        .await
        .unwrap();
    stage.check_rows(&anna, &ben).await.unwrap();
    stage.check_rows(&ben, &anna).await.unwrap();
    stage.check_logs(&anna, &ben, &link).unwrap();
    stage.check_that_profile_is_locked(&anna).unwrap();
    stage.measure_warm_start(&mut ben).await.unwrap();
    for person in [anna, ben] {
        person.window.unwrap().close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_computer_without_a_keychain_asks_for_a_passphrase() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let stage = Stage::set(Keychain::Missing).unwrap();
    let mut person = Person::new("Canary Carl", "canary-carl");
    stage.open(&mut person).await.unwrap();
    let window = person.window().unwrap();
    window.element("keychain-trouble").await.unwrap();
    stage.picture(&person, "no-keychain").await.unwrap();
    window.click("use-passphrase").await.unwrap();
    for field in ["passphrase", "passphrase-again"] {
        window.type_into(field, "canary passphrase").await.unwrap();
    }
    window.click("passphrase-submit").await.unwrap();
    window.type_into("device-name", person.name).await.unwrap();
    window.click("start-group").await.unwrap();
    window.element("qr-code").await.unwrap();
    person.window.take().unwrap().kill().unwrap();

    // The keys are in the file now, and only the passphrase opens it.
    stage.open(&mut person).await.unwrap();
    let window = person.window().unwrap();
    window
        .type_into("passphrase", "canary passphrase")
        .await
        .unwrap();
    window.click("passphrase-submit").await.unwrap();
    window.element("group").await.unwrap();
    stage.picture(&person, "unlocked").await.unwrap();
    let log = std::fs::read_to_string(stage.log_path(&person)).unwrap();
    let mut canary = LogCanary::default();
    canary.plant([person.name, person.profile, "canary passphrase"]);
    assert_eq!(canary.leaks(&log), []);
}

impl Stage {
    fn set(keychain: Keychain) -> anyhow::Result<Self> {
        let app = Program::App.built()?;
        let target = target_folder()?;
        let pictures = target.parent().context("no target folder")?.join("window");
        Ok(Self {
            desktop: Desktop::start(keychain)?,
            app,
            pictures,
        })
    }

    fn log_path(&self, person: &Person) -> PathBuf {
        self.desktop
            .folder()
            .join(format!("{}.log", person.profile))
    }

    async fn open(&self, person: &mut Person) -> anyhow::Result<()> {
        let data = self.desktop.folder().join("profiles");
        let data = data.to_str().context("the folder isn't UTF-8")?;
        let arguments = [
            "--data-dir",
            data,
            "--profile",
            person.profile,
            "--relay-host",
            "127.0.0.1",
            "--log-level",
            "trace",
        ];
        let log = self.log_path(person);
        person.window = Some(AppWindow::open(&self.desktop, &self.app, &arguments, &log).await?);
        Ok(())
    }

    async fn picture(&self, person: &Person, what: &str) -> anyhow::Result<image::DynamicImage> {
        let path = self.pictures.join(format!("{}-{what}.png", person.profile));
        person.window()?.screenshot(&path).await
    }

    /// Returns the invitation that the code held.
    async fn pair(&self, anna: &mut Person, ben: &mut Person) -> anyhow::Result<String> {
        self.open(anna).await?;
        let host = anna.window()?;
        host.element("device-name").await?;
        self.picture(anna, "first-start").await?;
        host.type_into("device-name", anna.name).await?;
        host.click("start-group").await?;
        host.element("qr-code").await?;
        let link = self.read_code(anna).await?;
        let shown = host
            .run(
                "return document.querySelector('[data-testid=\"invitation-link\"]').value",
                vec![],
            )
            .await?;
        ensure!(shown == json!(link), "the code and the link differ");

        self.open(ben).await?;
        let guest = ben.window()?;
        guest.type_into("device-name", ben.name).await?;
        guest.click("join-with-code").await?;
        guest.type_into("invitation-input", &link).await?;
        ensure!(
            guest.text("preview-relay").await? == "127.0.0.1",
            "another relay is named"
        );
        self.picture(ben, "invitation").await?;
        guest.click("connect").await?;

        let there = guest
            .run_until("the guest's words", READ_WORDS, vec![])
            .await?;
        let here = host
            .run_until("the host's words", READ_WORDS, vec![])
            .await?;
        ensure!(here == there, "the two windows show different words");
        self.picture(anna, "request").await?;
        self.picture(ben, "words").await?;
        host.click("accept").await?;
        guest.click("words-same").await?;
        guest.element("composer").await?;
        ben.open_conversation().await?;
        anna.open_conversation().await?;
        Ok(link)
    }

    /// The drawing may still be growing when it is first there.
    async fn read_code(&self, person: &Person) -> anyhow::Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let picture = self.picture(person, "code").await?;
            match read_qr_code(&picture) {
                Ok(text) => return Ok(text),
                Err(error) if Instant::now() >= deadline => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    async fn write_while_killing(&self, anna: &mut Person, ben: &mut Person) -> anyhow::Result<()> {
        for _ in 0..PART {
            anna.write().await?;
            ben.write().await?;
        }
        // Ben's last texts are on their way, and Anna goes on writing, when he is gone.
        for _ in 0..PART {
            ben.write().await?;
            anna.write().await?;
        }
        ben.window.take().context("no window")?.kill()?;
        for _ in 0..PART {
            anna.write().await?;
        }
        self.open(ben).await?;
        ben.open_conversation().await?;
        for _ in 0..PART {
            ben.write().await?;
        }
        Ok(())
    }

    /// Waits until `reader` shows all that both wrote, then checks order and number.
    async fn check_rows(&self, reader: &Person, other: &Person) -> anyhow::Result<()> {
        let total = reader.written.len() + other.written.len();
        let deadline = Instant::now() + PATIENCE;
        let rows = loop {
            let rows = reader.rows().await?;
            let on_relay = |row: &Row| row.state.as_deref().is_none_or(|state| state == "onRelay");
            if rows.len() >= total && rows.iter().all(on_relay) {
                break rows;
            }
            ensure!(
                Instant::now() < deadline,
                "{} shows {} of {total} messages: {rows:?}",
                reader.profile,
                rows.len()
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        self.picture(reader, "conversation").await?;
        let texts = |own: bool| -> Vec<&str> {
            rows.iter()
                .filter(|row| row.own == own)
                .map(|row| row.text.as_str())
                .collect()
        };
        ensure!(
            texts(true) == reader.written,
            "{}: own messages: {rows:?}",
            reader.profile
        );
        ensure!(
            texts(false) == other.written,
            "{}: received: {rows:?}",
            reader.profile
        );
        Ok(())
    }

    /// The command line on a profile that a window has open.
    fn check_that_profile_is_locked(&self, person: &Person) -> anyhow::Result<()> {
        let output = Command::new(Program::Client.built()?)
            .args([
                "members",
                "--json",
                "--profile",
                person.profile,
                "--data-dir",
            ])
            .arg(self.desktop.folder().join("profiles"))
            .output()?;
        ensure!(
            output.status.code() == Some(5),
            "the client opened it: {}",
            output.status
        );
        let error: Value = serde_json::from_slice(&output.stderr)?;
        ensure!(error["code"] == "profile-in-use", "{error}");
        Ok(())
    }

    /// How long a window takes until a person can write in it, when all of it was used just
    /// before. Kept beside the pictures; a busy machine is no failure here.
    async fn measure_warm_start(&self, person: &mut Person) -> anyhow::Result<()> {
        person.window.take().context("no window")?.close().await?;
        let start = Instant::now();
        self.open(person).await?;
        person.window()?.element("composer").await?;
        let text = format!(
            "warm start to composer: {:.2} s\n",
            start.elapsed().as_secs_f64()
        );
        std::fs::write(self.pictures.join("times.txt"), text)?;
        Ok(())
    }

    fn check_logs(&self, anna: &Person, ben: &Person, link: &str) -> anyhow::Result<()> {
        let mut canary = LogCanary::default();
        let (address, token) = link
            .split_once('#')
            .context("the invitation has no token")?;
        canary.plant([address, token]);
        for person in [anna, ben] {
            canary.plant([person.name, person.profile]);
            canary.plant(person.written.iter().map(String::as_str));
        }
        for person in [anna, ben] {
            let log = std::fs::read_to_string(self.log_path(person))?;
            ensure!(
                log.lines().count() > 3,
                "{}: the log is empty",
                person.profile
            );
            let leaks = canary.leaks(&log);
            ensure!(leaks.is_empty(), "{}: {leaks:#?}", person.profile);
        }
        Ok(())
    }
}

impl Person {
    fn new(name: &'static str, profile: &'static str) -> Self {
        Self {
            name,
            profile,
            window: None,
            written: Vec::new(),
        }
    }

    fn window(&self) -> anyhow::Result<&AppWindow> {
        self.window
            .as_ref()
            .context("this person has no window open")
    }

    /// Goes to the group's messages, wherever the window is.
    async fn open_conversation(&self) -> anyhow::Result<()> {
        let window = self.window()?;
        window.element("group").await?;
        if !window.is_shown("composer").await {
            window.click("group").await?;
        }
        window.element("composer").await.map(drop)
    }

    /// Writes the next text. It is sent once the field is empty again.
    async fn write(&mut self) -> anyhow::Result<()> {
        let text = format!("{} writes {}", self.name, self.written.len() + 1);
        let window = self.window()?;
        window.type_into("composer", &text).await?;
        window.click("send").await?;
        let is_empty = "return document.querySelector('[data-testid=\"composer\"]').value === ''";
        window
            .run_until("the text to be sent", is_empty, vec![])
            .await?;
        self.written.push(text);
        Ok(())
    }

    /// Every message that the window shows, from the top of the list to its end.
    async fn rows(&self) -> anyhow::Result<Vec<Row>> {
        let window = self.window()?;
        let mut found: BTreeMap<u64, (String, Row)> = BTreeMap::new();
        let mut top = 0;
        loop {
            let seen = window.run(READ_ROWS, vec![json!(top)]).await?;
            let rows = seen["rows"].as_array().context("no rows")?;
            let mut ids: Vec<_> = rows.iter().map(|row| row["id"].as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            ensure!(
                ids.len() == rows.len(),
                "{}: a message is shown twice",
                self.profile
            );
            for row in rows {
                let (id, row) = read_row(row)?;
                let earlier = found.insert(row.position, (id.clone(), row));
                let is_other = earlier.is_some_and(|(earlier, _)| earlier != id);
                ensure!(!is_other, "{}: two messages at one position", self.profile);
            }
            if seen["end"] == json!(true) {
                break;
            }
            top += seen["page"].as_u64().context("the list has no height")?;
        }
        Ok(found.into_values().map(|(_, row)| row).collect())
    }
}

fn read_row(row: &Value) -> anyhow::Result<(String, Row)> {
    let text = |name: &str| row[name].as_str().map(str::to_owned);
    Ok((
        text("id").context("a row has no id")?,
        Row {
            position: row["position"].as_u64().context("a row has no position")?,
            own: row["own"].as_bool().unwrap_or_default(),
            text: text("text").context("a row has no text")?,
            state: text("state"),
        },
    ))
}
