//! The word list. Its words are still to be chosen.
pub(super) const WORDS: [&str; 2_048] = ["word"; 2_048];
