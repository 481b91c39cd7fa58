//! Links in messages: what may be opened outside of the app.

use std::sync::Arc;

use super::{Controller, blocking};
use crate::app_error::{AppError, AppErrorCode};
use crate::view::OpenLink;

/// The longest address that is handed to another program, in bytes.
const LINK_BYTES_MAX: usize = 8_192;

impl Controller {
    /// Opens an address of the web in the person's browser.
    ///
    /// # Errors
    ///
    /// `link-refused` for anything but http and https, and when nothing opens it.
    pub async fn open_link(&self, args: OpenLink) -> Result<(), AppError> {
        let url = web_address(&args.url).ok_or(AppErrorCode::LinkRefused)?;
        let window = Arc::clone(&self.shared.setup.window);
        blocking(move || window.open_link(&url)).await?
    }
}

/// The address in its canonical form, if it leads to the web and nowhere else.
fn web_address(text: &str) -> Option<String> {
    // What a parser would quietly repair is not what the person saw.
    let is_plain = !text.chars().any(|c| c.is_control() || c.is_whitespace());
    if !is_plain || text.len() > LINK_BYTES_MAX {
        return None;
    }
    let url: tauri::Url = text.parse().ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let has_host = url.host_str().is_some_and(|host| !host.is_empty());
    let is_bare = url.username().is_empty() && url.password().is_none();
    (is_web && has_host && is_bare).then(|| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_is_opened() {
        assert_eq!(
            web_address("https://example.org/a?b=c#d").as_deref(),
            Some("https://example.org/a?b=c#d")
        );
        assert_eq!(
            web_address("http://EXAMPLE.org").as_deref(),
            Some("http://example.org/")
        );
        for refused in [
            "",
            "example.org",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "trueseal://x",
            "mailto:a@example.org",
            "data:text/html,x",
            "https://",
            "https://user@example.org/",
            "https://bank.example:pass@evil.example/",
            " https://example.org",
            "https://example.org/\u{0}",
            "java\nscript:alert(1)",
            "-https://example.org",
        ] {
            assert_eq!(web_address(refused), None, "{refused:?}");
        }
    }
}
