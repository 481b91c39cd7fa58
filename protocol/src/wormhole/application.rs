//! What a wormhole is for: the app id that both sides have to name.

/// The use of a wormhole. Its id goes into the key exchange, so that a code for one use opens
/// nothing for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Application {
    /// Texts, to and from every magic-wormhole client.
    Transfer,
    /// An invitation to a group, for a typed code (amendment 23).
    Invitation,
    /// A wormhole between two engines that stays open for weeks.
    Lasting,
}

impl Application {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Transfer, Self::Invitation, Self::Lasting];

    /// The app id.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Transfer => "lothar.com/wormhole/text-or-file-xfer",
            Self::Invitation => "sealpost/invite/1",
            Self::Lasting => "sealpost/wormhole/1",
        }
    }

    /// Reads what [`Application::id`] gave.
    #[must_use]
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|app| app.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_no_other() {
        for app in Application::ALL {
            assert_eq!(Application::parse(app.id()), Some(app));
        }
        assert_eq!(Application::parse("sealpost/invite/2"), None);
    }
}
