//! A page that WebDriver drives: what is on it, clicks and typing.
//!
//! Elements are named by their `data-testid`. Whatever may take a moment is waited for.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};

/// How long a thing on the screen may take to appear.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How often a wait looks again.
pub(crate) const POLL: Duration = Duration::from_millis(25);

/// A page in a window or a browser.
#[derive(Debug)]
pub struct Page {
    client: Client,
}

impl Page {
    /// Asks the driver on `port` of this computer for a session, which starts the program; the
    /// driver may need a moment to listen.
    ///
    /// # Errors
    ///
    /// When the driver doesn't listen, or the program shows no page in time.
    pub async fn open(port: u16, capabilities: Map<String, Value>) -> anyhow::Result<Self> {
        let deadline = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() >= deadline {
                bail!("the driver does not listen");
            }
            tokio::time::sleep(POLL).await;
        }
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        let address = format!("http://127.0.0.1:{port}");
        let connecting = builder.connect(&address);
        let client = tokio::time::timeout(PATIENCE, connecting)
            .await
            .context("the program showed no page in time")?
            .context("the program showed no page")?;
        Ok(Self { client })
    }

    /// The session with the driver.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
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
