//! The door of links over real sockets on the loopback interface: everything that
//! specification "paired-mailbox/1" asks of a relay in section 11, as another program sees it.
//! The rules themselves are tested on values, in `store::mailbox_conformance`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that can't go on fails where it stands"
)]

mod answers;
mod client;
mod clock;
mod door;
mod envelopes;
mod limits;
mod order;
mod page;
mod restored;
mod session;
mod sites;
mod slow;
mod tls;
mod watch;
