//! What the web door counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

use super::Counter;

/// The statuses that the door answers with; everything else counts as the last.
pub(super) const STATUSES: [u16; 16] = [
    101, 200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 421, 429, 503, 507, 500,
];

/// The numbers of the web port, however often it is opened.
#[derive(Debug, Default)]
pub(crate) struct WebMetrics {
    open: AtomicU64,
    pub(super) ever: Counter,
    pub(super) turned_away: Counter,
    pub(super) answers: [Counter; STATUSES.len()],
}

impl WebMetrics {
    /// One more connection, open for as long as what this gives lives.
    pub(crate) fn enter(self: &Arc<Self>) -> OpenConnection {
        self.ever.add(1);
        self.open.fetch_add(1, Ordering::Relaxed);
        OpenConnection(Arc::clone(self))
    }

    /// A connection that was closed at once, over a cap.
    pub(crate) fn turn_away(&self) {
        self.ever.add(1);
        self.turned_away.add(1);
    }

    pub(crate) fn answer(&self, status: StatusCode) {
        let place = STATUSES.iter().position(|known| *known == status.as_u16());
        if let Some(counter) = self.answers.get(place.unwrap_or(STATUSES.len() - 1)) {
            counter.add(1);
        }
    }

    /// Connections that are open.
    pub(crate) fn open(&self) -> u64 {
        self.open.load(Ordering::Relaxed)
    }
}

/// One open connection.
pub(crate) struct OpenConnection(Arc<WebMetrics>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
