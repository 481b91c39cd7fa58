//! A phone: Chromium on the other host of a [`LocalNetwork`], as small and as touchable as one.
//!
//! The driver runs on the computer and speaks with the browser through a pipe, so that it
//! reaches it while the wire between the two is out.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use fantoccini::wd::TimeoutConfiguration;
use serde_json::{Map, Value, json};

use crate::local_network::LocalNetwork;
use crate::page::Page;
use crate::port::free_ports;
use crate::process::OwnedProcess;

/// What the phone calls itself to servers.
const USER_AGENT: &str = "Mozilla/5.0 (Linux; Android 15; Phone) AppleWebKit/537.36 \
    (KHTML, like Gecko) Chrome/146.0.0.0 Mobile Safari/537.36";

/// A phone with its browser open.
#[derive(Debug)]
pub struct Phone {
    // The order is the order of the end: the session before its driver.
    page: Page,
    _driver: OwnedProcess,
}

impl std::ops::Deref for Phone {
    type Target = Page;

    fn deref(&self) -> &Page {
        &self.page
    }
}

impl Phone {
    /// Opens the browser on the phone of `network`; what it keeps is in `folder`, and a second
    /// start there is the same phone.
    ///
    /// # Errors
    ///
    /// When Chromium or its driver isn't installed or doesn't start.
    pub async fn open(network: &LocalNetwork, folder: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let [port] = free_ports()?;
        let mut command = Command::new("chromedriver");
        command
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let driver = OwnedProcess::start("chromedriver", &mut command)?;
        let browser = network.on_phone(&browser()?, folder)?;
        let page = Page::open(port, capabilities(&browser, folder)).await?;
        let patience = TimeoutConfiguration::new(Some(crate::page::PATIENCE), None, None);
        page.client().update_timeouts(patience).await?;
        Ok(Self {
            page,
            _driver: driver,
        })
    }

    /// Opens a link, as the phone's camera does.
    ///
    /// # Errors
    ///
    /// When nothing answers.
    pub async fn visit(&self, url: &str) -> anyhow::Result<()> {
        let opened = self.client().goto(url).await;
        opened.context("the phone can't open the link")
    }

    /// Touches what is shown, as a finger does; a click would be a mouse's.
    ///
    /// # Errors
    ///
    /// When it isn't shown in time.
    pub async fn tap(&self, test_id: &str) -> anyhow::Result<()> {
        // With touch, the driver makes a tap of it.
        self.click(test_id).await
    }
}

fn browser() -> anyhow::Result<PathBuf> {
    let known = ["/usr/bin/chromium", "/usr/bin/google-chrome"];
    let found = known.iter().map(PathBuf::from).find(|path| path.exists());
    found.context("Chromium isn't installed")
}

fn capabilities(browser: &Path, folder: &Path) -> Map<String, Value> {
    let profile = format!("--user-data-dir={}", folder.join("browser").display());
    let options = json!({
        "binary": browser,
        "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
            "--no-first-run", "--disable-background-networking", "--lang=en",
            profile,
        ],
        "mobileEmulation": {
            "deviceMetrics": { "width": 390, "height": 844, "pixelRatio": 2, "touch": true, "mobile": true },
            "userAgent": USER_AGENT,
        },
    });
    [("goog:chromeOptions".to_owned(), options)]
        .into_iter()
        .collect()
}
