//! The handle that ends a registration.

use std::fmt;

/// A registered handler or listener. Dropping it changes nothing; [`Self::cancel`] ends it.
pub struct Subscription(Box<dyn FnOnce() + Send + Sync>);

impl Subscription {
    /// Makes a handle that runs `end` when it is cancelled.
    pub(crate) fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Box::new(end))
    }

    /// Ends the registration. A call that runs already is not interrupted.
    pub fn cancel(self) {
        (self.0)();
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}
