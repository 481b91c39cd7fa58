//! One window of the app, driven by WebDriver.
//!
//! Each window has a WebKitWebDriver of its own, because one driver holds one session; the
//! driver starts the app. Elements are named by their `data-testid`.
//!
//! A dropped window is gone with everything that it started. `WebKitWebDriver` takes its
//! screenshots from the page and not from the screen, so windows may cover each other.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::desktop::Desktop;
use crate::port::free_ports;
use crate::process::{OwnedProcess, child_of, is_alive, wait_until};

/// How long a thing on the screen may take to appear.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How often a wait looks again.
const POLL: Duration = Duration::from_millis(25);

/// A window of the app.
#[derive(Debug)]
pub struct AppWindow {
    client: Client,
    driver: OwnedProcess,
    app: Pid,
}

impl AppWindow {
    /// Starts the app at `binary` on `desktop` and waits for its page.
    ///
    /// What the app and the driver say is appended to the file at `log_path`.
    ///
    /// # Errors
    ///
    /// When the driver or the app doesn't start.
    pub async fn open(
        desktop: &Desktop,
        binary: &Path,
        arguments: &[&str],
        log_path: &Path,
    ) -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let log = File::options().create(true).append(true).open(log_path)?;
        let mut command = Command::new("WebKitWebDriver");
        desktop
            .place(&mut command)
            .arg(format!("--port={port}"))
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("SEALPOST_LOG", "trace")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let driver = OwnedProcess::start("WebKitWebDriver", &mut command)?;
        let client = connect(port, binary, arguments)
            .await
            .with_context(|| format!("the log ends with:\n{}", end_of(log_path)))?;
        let own = binary.canonicalize()?;
        let app = child_of(driver.id(), |program| program == own);
        let app = app.context("the driver started no app")?;
        Ok(Self {
            client,
            driver,
            app,
        })
    }

    /// The process id of the app.
    #[must_use]
    pub fn app_id(&self) -> u32 {
        self.app.as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills the app with SIGKILL, and then whatever it left behind.
    /// Its files are closed and its names are free on return.
    ///
    /// # Errors
    ///
    /// When it doesn't die in time.
    pub fn kill(mut self) -> anyhow::Result<()> {
        let _ = kill_process(self.app, Signal::KILL);
        let app = self.app_id();
        let end = wait_until("the end of the app", PATIENCE, || {
            (!is_alive(app)).then_some(())
        });
        self.driver.kill();
        end
    }

    /// Closes the WebDriver session, which closes the app, and waits for its end: an app that
    /// starts while an earlier one is still ending would hand its work over to that one.
    ///
    /// # Errors
    ///
    /// When the driver refuses, or the app doesn't end in time.
    pub async fn close(self) -> anyhow::Result<()> {
        self.client
            .clone()
            .close()
            .await
            .context("the window did not close")?;
        let app = self.app_id();
        wait_until("the end of the app", PATIENCE, || {
            (!is_alive(app)).then_some(())
        })
    }

    /// Waits until the element is there and shown, and returns it.
    ///
    /// # Errors
    ///
    /// When it isn't shown in time.
    pub async fn element(&self, test_id: &str) -> anyhow::Result<Element> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(element) = self.shown(test_id).await {
                return Ok(element);
            }
            if Instant::now() >= deadline {
                bail!("waited {PATIENCE:?} in vain for {test_id} to be shown");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Whether the element is shown now.
    pub async fn is_shown(&self, test_id: &str) -> bool {
        self.shown(test_id).await.is_some()
    }

    /// Waits for the element and clicks it.
    ///
    /// # Errors
    ///
    /// When it isn't shown in time or can't be clicked.
    pub async fn click(&self, test_id: &str) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // A page that redraws may replace the element between the look and the click.
            let outcome = self.element(test_id).await?.click().await;
            match outcome {
                Ok(()) => return Ok(()),
                Err(error) if Instant::now() >= deadline => {
                    return Err(error).with_context(|| format!("{test_id} can't be clicked"));
                }
                Err(_) => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Waits for the field, empties it and types `text`.
    ///
    /// # Errors
    ///
    /// When it isn't shown in time or takes no text.
    pub async fn type_into(&self, test_id: &str, text: &str) -> anyhow::Result<()> {
        let field = self.element(test_id).await?;
        field
            .clear()
            .await
            .with_context(|| format!("{test_id} can't be emptied"))?;
        field
            .send_keys(text)
            .await
            .with_context(|| format!("{test_id} takes no text"))
    }

    /// Waits for the element and returns the text it shows.
    ///
    /// # Errors
    ///
    /// When it isn't shown in time.
    pub async fn text(&self, test_id: &str) -> anyhow::Result<String> {
        let element = self.element(test_id).await?;
        element
            .text()
            .await
            .with_context(|| format!("{test_id} has no text"))
    }

    /// Runs a script in the page and returns what it returns.
    ///
    /// # Errors
    ///
    /// When the script fails.
    pub async fn run(&self, script: &str, arguments: Vec<Value>) -> anyhow::Result<Value> {
        self.client
            .execute(script, arguments)
            .await
            .context("a script failed in the page")
    }

    /// Runs a script that calls its last argument when it is done, and returns what it was
    /// called with.
    ///
    /// # Errors
    ///
    /// When the script fails.
    pub async fn run_async(&self, script: &str) -> anyhow::Result<Value> {
        self.client
            .execute_async(script, Vec::new())
            .await
            .context("a script failed in the page")
    }

    /// Waits until the script returns something other than null and false.
    ///
    /// # Errors
    ///
    /// When it didn't within the patience; the error names `what` was waited for.
    pub async fn run_until(
        &self,
        what: &str,
        script: &str,
        arguments: Vec<Value>,
    ) -> anyhow::Result<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let value = self.run(script, arguments.clone()).await?;
            if !value.is_null() && value != json!(false) {
                return Ok(value);
            }
            if Instant::now() >= deadline {
                bail!("waited {PATIENCE:?} in vain for {what}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until what the app tells its window is as it should be, and returns it. A tick
    /// or a field may look so before the app has done it.
    ///
    /// # Errors
    ///
    /// When it isn't within the patience; the error names `what` was waited for.
    pub async fn until_view(
        &self,
        what: &str,
        is_so: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<Value> {
        const READ: &str = "const done = arguments[0]; \
             window.__TAURI_INTERNALS__.invoke('view').then(done, () => done(null));";
        let deadline = Instant::now() + PATIENCE;
        loop {
            let view = self.run_async(READ).await?;
            if is_so(&view) {
                return Ok(view);
            }
            if Instant::now() >= deadline {
                bail!("waited {PATIENCE:?} in vain for {what}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Takes a screenshot of the page, saves it as PNG and returns its pixels.
    ///
    /// # Errors
    ///
    /// When the driver gives none, or not within the patience.
    pub async fn screenshot(&self, path: &Path) -> anyhow::Result<image::DynamicImage> {
        // Two frames: the first may still show what was there before.
        let frames = "const done = arguments[0]; \
                      requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";
        self.client
            .execute_async(frames, Vec::new())
            .await
            .context("the page doesn't paint")?;
        let png = tokio::time::timeout(PATIENCE, self.client.screenshot())
            .await
            .context("the driver hangs on a screenshot")??;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, &png)?;
        image::load_from_memory(&png).context("the screenshot is no picture")
    }

    async fn shown(&self, test_id: &str) -> Option<Element> {
        let selector = format!("[data-testid=\"{test_id}\"]");
        let element = self.client.find(Locator::Css(&selector)).await.ok()?;
        element.is_displayed().await.ok()?.then_some(element)
    }
}

/// Reads the only QR code of a picture.
///
/// # Errors
///
/// When there is none, more than one, or an unreadable one.
pub fn read_qr_code(picture: &image::DynamicImage) -> anyhow::Result<String> {
    let mut prepared = rqrr::PreparedImage::prepare(picture.to_luma8());
    let codes = prepared.detect_grids();
    let [code] = codes.as_slice() else {
        bail!(
            "{} QR codes on the picture where one was expected",
            codes.len()
        );
    };
    let (_, text) = code.decode().context("the QR code can't be read")?;
    Ok(text)
}

/// Opens the session, which starts the app; the driver may need a moment to listen.
async fn connect(port: u16, binary: &Path, arguments: &[&str]) -> anyhow::Result<Client> {
    let mut capabilities = fantoccini::wd::Capabilities::new();
    capabilities.insert(
        "webkitgtk:browserOptions".to_owned(),
        json!({ "binary": binary, "args": arguments }),
    );
    let address = format!("http://127.0.0.1:{port}");
    let deadline = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() >= deadline {
            bail!("WebKitWebDriver does not listen");
        }
        tokio::time::sleep(POLL).await;
    }
    let mut builder = ClientBuilder::new(HttpConnector::new());
    builder.capabilities(capabilities);
    tokio::time::timeout(PATIENCE, builder.connect(&address))
        .await
        .context("the app opened no window in time")?
        .context("the app opened no window")
}

/// The last lines of a log.
fn end_of(log: &Path) -> String {
    const LINES: usize = 20;
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines
        .get(lines.len().saturating_sub(LINES)..)
        .unwrap_or_default()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::desktop::Keychain;

    /// Shows that the desktop and the driver work before any window of the app is blamed.
    #[tokio::test]
    async fn a_page_is_shown_clicked_and_photographed() {
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let browser = PathBuf::from(format!("/usr/lib/{triplet}/webkit2gtk-4.1/MiniBrowser"));
        let desktop = Desktop::start(Keychain::Unlocked).unwrap();
        let log = desktop.folder().join("driver.log");
        let window = AppWindow::open(&desktop, &browser, &["--automation"], &log)
            .await
            .unwrap();
        let page = "data:text/html,<button data-testid=b onclick=\"this.textContent='yes'\">no";
        window.client.goto(page).await.unwrap();
        window.click("b").await.unwrap();
        assert_eq!(window.text("b").await.unwrap(), "yes");
        assert!(!window.is_shown("c").await);
        let picture = window
            .screenshot(&desktop.folder().join("page.png"))
            .await
            .unwrap();
        assert!(picture.width() > 100);
        let app = window.app_id();
        window.kill().unwrap();
        assert!(!is_alive(app));
    }
}
