//! The words of a notification.
//!
//! Owns how much of a summary is said at each level of privacy. Names and texts of other
//! people are cut to a length that a notification can show; what an old or clever
//! notification server might read as markup is the desktop's to escape.

use fluent_bundle::FluentArgs;
use sealpost_protocol::name;

use super::{Subject, Summary};
use crate::catalogue::Catalogue;
use crate::options::PRODUCT_NAME;
use crate::view::NotificationPrivacy;

/// The longest text of a message in a notification, in characters.
const TEXT_CHARACTERS_MAX: usize = 180;

/// The title and the body of a notification.
#[derive(Clone, PartialEq, Eq)]
pub struct Words {
    /// The title.
    pub title: String,
    /// The body.
    pub body: String,
}

/// Puts a summary into words. `group_name` is the name of the group on this device.
pub fn words(
    catalogue: &Catalogue,
    privacy: NotificationPrivacy,
    subject: &Subject,
    group_name: &str,
    summary: &Summary,
) -> Words {
    let mut arguments = FluentArgs::new();
    arguments.set("count", summary.count);
    let product = || PRODUCT_NAME.to_owned();
    match (subject, privacy) {
        (Subject::Issues, NotificationPrivacy::Nothing) => Words {
            title: product(),
            body: catalogue.text("notification-attention"),
        },
        (Subject::Issues, _) => Words {
            title: catalogue.text_with("notification-issues", &arguments),
            body: catalogue.attribute("notification-issues", "about"),
        },
        (Subject::Group(_), NotificationPrivacy::Nothing) => Words {
            title: product(),
            body: catalogue.text("notification-something"),
        },
        (Subject::Group(_), _) => Words {
            title: clean_name(group_name).unwrap_or_else(product),
            body: group_body(catalogue, summary, &mut arguments),
        },
    }
}

fn group_body(catalogue: &Catalogue, summary: &Summary, arguments: &mut FluentArgs<'_>) -> String {
    let author = summary.authors.last().and_then(|name| clean_name(name));
    let others = summary.authors.len().saturating_sub(1);
    arguments.set("author", author.unwrap_or_default());
    arguments.set("others", others);
    let text = summary.text.as_deref().map(clean_text);
    match text.filter(|text| !text.is_empty()) {
        Some(text) => {
            arguments.set("text", text);
            arguments.set("more", summary.count.saturating_sub(1));
            catalogue.text_with("notification-text", arguments)
        }
        None if summary.is_unknown && summary.count == 1 => {
            catalogue.text_with("notification-unknown", arguments)
        }
        None => catalogue.text_with("notification-who", arguments),
    }
}

fn clean_name(name: &str) -> Option<String> {
    name::clean(name)
}

/// One line of visible characters, cut where a notification ends anyway.
fn clean_text(text: &str) -> String {
    let visible = text.chars().map(|c| match c {
        '\n' | '\t' => ' ',
        other => other,
    });
    let visible = visible.filter(|c| !c.is_control() && !turns_direction(*c));
    let mut cut: String = visible.take(TEXT_CHARACTERS_MAX + 1).collect();
    if cut.chars().count() > TEXT_CHARACTERS_MAX {
        cut.pop();
        cut.push('…');
    }
    cut.trim().to_owned()
}

/// Whether a character changes the direction of the text behind it, which could make the
/// words around it say something else.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
