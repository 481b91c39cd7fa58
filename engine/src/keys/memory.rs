//! A key store that forgets everything with the process. For tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{KeyItem, KeyItemName, KeyStore, KeyStoreError};

/// Keeps items in memory, and fails on demand.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    items: BTreeMap<String, KeyItem>,
    failure: Option<KeyStoreError>,
}

impl MemoryStore {
    /// Makes an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on every call fails with `failure`, until it is `None` again.
    pub fn fail_with(&self, failure: Option<KeyStoreError>) {
        self.state().failure = failure;
    }

    /// How many items are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state().items.len()
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyStore for MemoryStore {
    fn load(&self, name: &KeyItemName) -> Result<Option<KeyItem>, KeyStoreError> {
        let state = self.state();
        state
            .failure
            .map_or_else(|| Ok(state.items.get(name.as_str()).cloned()), Err)
    }

    fn save(&self, name: &KeyItemName, item: &KeyItem) -> Result<(), KeyStoreError> {
        let mut state = self.state();
        if let Some(failure) = state.failure {
            return Err(failure);
        }
        state.items.insert(name.as_str().to_owned(), item.clone());
        Ok(())
    }

    fn remove(&self, name: &KeyItemName) -> Result<(), KeyStoreError> {
        let mut state = self.state();
        if let Some(failure) = state.failure {
            return Err(failure);
        }
        state.items.remove(name.as_str());
        Ok(())
    }
}
