//! A phone and the app, driven from outside on both sides, on a network of their own.
//!
//! The phone is Chromium on another host than the app: it reaches the relay inside the app over
//! plain HTTP at an address of a network and not of the loopback, as a phone at home does. The
//! code is read off a screenshot of the window by a decoder that is not the encoder's.
//!
//! Pictures are kept in `target/phone/`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sealpost_tests::desktop::{Desktop, Keychain};
use sealpost_tests::device_process::Device;
use sealpost_tests::driver::{AppWindow, read_qr_code};
use sealpost_tests::local_network::{COMPUTER, LocalNetwork};
use sealpost_tests::phone::Phone;
use sealpost_tests::program::{Program, target_folder};
use serde_json::{Value, json};

/// Every text of the list, in order.
const READ_TEXTS: &str = "return [...document.querySelectorAll('[data-testid=\"message-text\"]')]\
    .map((text) => text.textContent.trim())";

/// Whether a text is shown.
const SHOWS_TEXT: &str = "return [...document.querySelectorAll('[data-testid=\"message-text\"]')]\
    .some((text) => text.textContent.trim() === arguments[0])";

/// Whether the phone says how a text of its own stands, other than that it waits.
const HAS_ARRIVED: &str = "const row = [...document.querySelectorAll('[data-testid=\"message\"]')]\
    .find((row) => row.querySelector('[data-testid=\"message-text\"]')?.textContent.trim() === arguments[0]); \
    return row?.querySelector('[data-testid=\"state\"]')?.textContent ?? null";

/// How much of the link, of its keys and of its messages the phone keeps.
const COUNT_KEPT: &str = r#"
    const done = arguments[0];
    const ask = (request) => new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    (async () => {
        let kept = 0;
        for (const { name } of await indexedDB.databases()) {
            const database = await ask(indexedDB.open(name));
            for (const store of ["outbox", "accepted", "messages"]) {
                kept += await ask(database.transaction(store).objectStore(store).count());
            }
            const link = await ask(database.transaction("single").objectStore("single").get("link"));
            kept += link === undefined ? 0 : 1;
            database.close();
        }
        return kept;
    })().then(done, (error) => done(String(error)));
"#;

struct Stage {
    network: LocalNetwork,
    desktop: Desktop,
    window: AppWindow,
    pictures: PathBuf,
}

#[test]
fn a_phone_scans_pairs_talks_and_is_unpaired() {
    let name = "a_phone_scans_pairs_talks_and_is_unpaired";
    let Some(network) = LocalNetwork::enter(name).unwrap() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(play(network)).unwrap();
}

async fn play(network: LocalNetwork) -> anyhow::Result<()> {
    let stage = Stage::set(network).await?;
    let folder = stage.desktop.folder().join("phone");
    let phone = Phone::open(&stage.network, &folder).await?;
    stage.pair(&phone).await?;
    stage.talk(&phone).await?;
    stage.reload(&phone).await?;
    stage.open_second_tab(&phone).await?;
    stage.lose_the_network(&phone).await?;
    stage.unpair(&phone).await?;
    stage.window.close().await
}

impl Stage {
    /// Opens the app with a group on the relay inside it.
    async fn set(network: LocalNetwork) -> anyhow::Result<Self> {
        let desktop = Desktop::start(Keychain::Unlocked)?;
        let pictures = target_folder()?
            .parent()
            .context("no folder")?
            .join("phone");
        let log = desktop.folder().join("app.log");
        let data = desktop.folder().join("profiles");
        let data = data.to_string_lossy().into_owned();
        let app = Program::App.built()?;
        let window = AppWindow::open(&desktop, &app, &["--data-dir", &data], &log).await?;
        let guest = Device::new("guest", "Ben")?;
        admit(&window, &guest).await?;
        Ok(Self {
            network,
            desktop,
            window,
            pictures,
        })
    }

    async fn picture(&self, phone: &Phone, name: &str) -> anyhow::Result<()> {
        phone
            .screenshot(&self.pictures.join(format!("{name}-phone.png")))
            .await?;
        self.window
            .screenshot(&self.pictures.join(format!("{name}-window.png")))
            .await?;
        Ok(())
    }

    /// Scans the code off the screen, compares the digits on both and confirms on both.
    async fn pair(&self, phone: &Phone) -> anyhow::Result<()> {
        self.window.click("phones-open").await?;
        self.window.click("pair-phone").await?;
        self.window.element("qr-code").await?;
        let picture = self
            .window
            .screenshot(&self.pictures.join("code.png"))
            .await?;
        let url = read_qr_code(&picture)?;
        ensure!(
            url.starts_with(&format!("http://{COMPUTER}:")),
            "the code leads elsewhere"
        );
        phone.visit(&url).await?;
        let digits = phone.text("digits").await?;
        self.picture(phone, "digits").await?;
        let shown = phone.client().current_url().await?;
        ensure!(shown.fragment().is_none(), "the key stays in the address");
        let of_window = self.window.text("phone-digits").await?;
        let only_digits = |text: &str| {
            text.chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
        };
        ensure!(
            only_digits(&digits).ends_with(&only_digits(&of_window)),
            "the two show other digits"
        );
        phone.tap("same").await?;
        self.window.click("phone-same").await?;
        phone.element("groups").await?;
        self.window.element("phone-paired").await?;
        self.picture(phone, "paired").await
    }

    async fn talk(&self, phone: &Phone) -> anyhow::Result<()> {
        self.window.click("group").await?;
        self.write_in_window("From the computer").await?;
        phone.tap("group").await?;
        shows(phone, "From the computer").await?;
        self.write_on_phone(phone, "From the phone").await?;
        self.window
            .run_until(
                "the phone's text",
                SHOWS_TEXT,
                vec![json!("From the phone")],
            )
            .await?;
        let via =
            "return [...document.querySelectorAll('[data-testid=\"author\"] .via')].length > 0";
        self.window
            .run_until("the phone's name", via, vec![])
            .await?;
        self.picture(phone, "talk").await
    }

    async fn write_in_window(&self, text: &str) -> anyhow::Result<()> {
        self.window.type_into("composer", text).await?;
        self.window.click("send").await
    }

    async fn write_on_phone(&self, phone: &Phone, text: &str) -> anyhow::Result<()> {
        phone.type_into("composer", text).await?;
        phone.tap("send").await?;
        shows(phone, text).await
    }

    async fn reload(&self, phone: &Phone) -> anyhow::Result<()> {
        phone.client().refresh().await?;
        phone.tap("group").await?;
        for text in ["From the computer", "From the phone"] {
            shows(phone, text).await?;
        }
        self.write_in_window("After the reload").await?;
        shows(phone, "After the reload").await
    }

    /// A second tab shows the same and writes too; each text is there once.
    async fn open_second_tab(&self, phone: &Phone) -> anyhow::Result<()> {
        let client = phone.client();
        let first = client.window().await?;
        let address = client.current_url().await?;
        let second = client.new_window(true).await?;
        client.switch_to_window(second.handle).await?;
        phone.visit(address.as_str()).await?;
        phone.tap("group").await?;
        shows(phone, "After the reload").await?;
        self.write_on_phone(phone, "From the second tab").await?;
        self.window
            .run_until("its text", SHOWS_TEXT, vec![json!("From the second tab")])
            .await?;
        client.close_window().await?;
        client.switch_to_window(first).await?;
        shows(phone, "From the second tab").await
    }

    /// What is written while the wire is out waits on both sides, says so, and arrives.
    async fn lose_the_network(&self, phone: &Phone) -> anyhow::Result<()> {
        self.network.cut()?;
        self.write_on_phone(phone, "Written without a network")
            .await?;
        self.write_in_window("Meanwhile at the computer").await?;
        phone.element("link-line").await?;
        self.picture(phone, "offline").await?;
        self.network.mend()?;
        let back = Instant::now();
        self.window
            .run_until(
                "what waited on the phone",
                SHOWS_TEXT,
                vec![json!("Written without a network")],
            )
            .await?;
        shows(phone, "Meanwhile at the computer").await?;
        ensure!(
            back.elapsed() < Duration::from_secs(20),
            "the way back took long"
        );
        let texts = phone.run(READ_TEXTS, vec![]).await?;
        let texts: Vec<&str> = texts
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut once = texts.clone();
        once.sort_unstable();
        once.dedup();
        ensure!(
            once.len() == texts.len() && texts.len() == 6,
            "not each text once: {}",
            texts.len()
        );
        phone
            .run_until(
                "its state",
                HAS_ARRIVED,
                vec![json!("Written without a network")],
            )
            .await?;
        Ok(())
    }

    async fn unpair(&self, phone: &Phone) -> anyhow::Result<()> {
        self.window.click("phones-open").await?;
        self.window.click("unpair-phone").await?;
        self.window.click("confirm-go").await?;
        phone.element("dead-end").await?;
        self.window.element("no-phones").await?;
        self.picture(phone, "unpaired").await?;
        let kept = phone.run_async(COUNT_KEPT).await?;
        ensure!(
            kept == json!(0),
            "something of the link is left on the phone: {kept}"
        );
        Ok(())
    }
}

/// Starts a group in the window and lets a device of the command line into it: a group of one
/// has nobody to write to.
async fn admit(window: &AppWindow, guest: &Device) -> anyhow::Result<()> {
    window.type_into("device-name", "Anna").await?;
    window.click("start-group").await?;
    window.element("qr-code").await?;
    let link = "return document.querySelector('[data-testid=\"invitation-link\"]').value";
    let link = window.run(link, vec![]).await?;
    let link = link.as_str().context("there is no invitation")?;
    let mut joining = guest.start(&["join", link])?;
    joining.wait_for("question")?;
    joining.type_line("yes")?;
    joining.wait_for("words")?;
    window.click("accept").await?;
    joining.type_line("same")?;
    joining.wait_for("joined")?;
    ensure!(joining.wait()?.success(), "the guest did not join");
    Ok(())
}

/// Waits until the phone shows a text.
async fn shows(phone: &Phone, text: &str) -> anyhow::Result<()> {
    phone
        .run_until(text, SHOWS_TEXT, vec![json!(text)])
        .await
        .map(drop)
}
