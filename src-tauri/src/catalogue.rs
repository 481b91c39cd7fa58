//! The words of what Rust shows by itself: the window's title, the tray, a notice.
//!
//! Owns the choice of the language and the reading of `locales/*.ftl`, the same files that
//! the window uses. A text that a language lacks is taken from English; one that English
//! lacks is a fault, which a test finds.

use std::sync::{Arc, PoisonError, RwLock};

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use unic_langid::LanguageIdentifier;

const ENGLISH: &str = include_str!("../../locales/en.ftl");
const GERMAN: &str = include_str!("../../locales/de.ftl");

/// The languages there are. The first one has every text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// German.
    German,
}

impl Language {
    /// The language for what the system prefers; English for all that we don't have.
    pub fn for_tag(tag: &str) -> Self {
        let primary = tag.split(['-', '_', '.']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("de") {
            Self::German
        } else {
            Self::English
        }
    }

    /// The language of this computer.
    pub fn of_system() -> Self {
        sys_locale::get_locale().map_or(Self::English, |tag| Self::for_tag(&tag))
    }

    /// The language's tag, which is also the name of its file.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    fn source(self) -> &'static str {
        match self {
            Self::English => ENGLISH,
            Self::German => GERMAN,
        }
    }
}

/// The texts of one language, with English behind them.
pub struct Catalogue {
    language: Language,
    bundles: Vec<FluentBundle<FluentResource>>,
}

impl Catalogue {
    /// Reads the texts of a language.
    pub fn new(language: Language) -> Self {
        let mut languages = vec![language, Language::English];
        languages.dedup();
        Self {
            language,
            bundles: languages.into_iter().map(read).collect(),
        }
    }

    /// The language it speaks.
    pub fn language(&self) -> Language {
        self.language
    }

    /// A text that needs nothing.
    pub fn text(&self, key: &'static str) -> String {
        self.text_with(key, &FluentArgs::new())
    }

    /// An attribute of a text. The key itself where none is found.
    pub fn attribute(&self, key: &'static str, attribute: &'static str) -> String {
        self.find(key, Some(attribute), &FluentArgs::new())
    }

    /// A text with numbers or names in it. The key itself where no text is found.
    pub fn text_with(&self, key: &'static str, arguments: &FluentArgs<'_>) -> String {
        self.find(key, None, arguments)
    }

    fn find(&self, key: &str, attribute: Option<&str>, arguments: &FluentArgs<'_>) -> String {
        self.bundles
            .iter()
            .find_map(|bundle| {
                let message = bundle.get_message(key)?;
                let pattern = match attribute {
                    Some(attribute) => message.get_attribute(attribute)?.value(),
                    None => message.value()?,
                };
                let mut errors = Vec::new();
                let text = bundle.format_pattern(pattern, Some(arguments), &mut errors);
                Some(text.into_owned())
            })
            .unwrap_or_else(|| key.to_owned())
    }
}

/// The texts of the language that is used now, which can be another one later.
pub struct CurrentCatalogue {
    catalogue: RwLock<Arc<Catalogue>>,
}

impl CurrentCatalogue {
    /// Begins with a language.
    pub fn new(language: Language) -> Self {
        Self {
            catalogue: RwLock::new(Arc::new(Catalogue::new(language))),
        }
    }

    /// The texts as they are now.
    pub fn get(&self) -> Arc<Catalogue> {
        let catalogue = self.catalogue.read();
        Arc::clone(&catalogue.unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes to a language. Whether it is another one.
    pub fn set(&self, language: Language) -> bool {
        let is_new = self.get().language() != language;
        if is_new {
            let catalogue = Arc::new(Catalogue::new(language));
            *self
                .catalogue
                .write()
                .unwrap_or_else(PoisonError::into_inner) = catalogue;
        }
        is_new
    }
}

fn read(language: Language) -> FluentBundle<FluentResource> {
    let identifier: LanguageIdentifier = language.tag().parse().unwrap_or_default();
    let mut bundle = FluentBundle::new_concurrent(vec![identifier]);
    // A faulty entry is left out and the rest is used; a test reads all of them.
    let resource = match FluentResource::try_new(language.source().to_owned()) {
        Ok(resource) => resource,
        Err((resource, _)) => resource,
    };
    bundle.add_resource_overriding(resource);
    bundle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_primary_part_of_the_tag() {
        assert_eq!(Language::for_tag("de_AT.UTF-8"), Language::German);
        assert_eq!(Language::for_tag("DE"), Language::German);
        assert_eq!(Language::for_tag("den"), Language::English);
        assert_eq!(Language::for_tag("C"), Language::English);
        assert_eq!(Language::for_tag(""), Language::English);
    }

    #[test]
    fn every_file_is_free_of_faults() {
        for language in [Language::English, Language::German] {
            let faults = FluentResource::try_new(language.source().to_owned())
                .err()
                .map(|(_, faults)| faults);
            assert!(faults.is_none(), "{}: {faults:?}", language.tag());
        }
    }

    #[test]
    fn an_unknown_key_shows_itself() {
        assert_eq!(
            Catalogue::new(Language::German).text("no-such-key"),
            "no-such-key"
        );
    }
}
