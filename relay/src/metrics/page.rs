//! The counters as text for Prometheus, exposition format 0.0.4.
//!
//! Owns: names, types and explanations of the metrics. Never does: count.

use std::fmt::{Display, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::web::STATUSES;
use super::{
    Counter, DoorMetrics, EndingKind, Histogram, PortMetrics, PushResult, StoreMetrics, WebMetrics,
};
use crate::doors::native::NativeDoor;
use crate::in_process::Mailboxes;
use crate::store::{InboxStore, WormholeSums};

/// What the format is called in HTTP.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Where the numbers of a page come from.
pub(crate) struct Source {
    pub(crate) door: Arc<NativeDoor>,
    pub(crate) store: Arc<dyn InboxStore>,
    pub(crate) mailboxes: Mailboxes,
    /// What wormhole mailboxes hold, and how many connections have one open.
    pub(crate) wormholes: Box<dyn Fn() -> (WormholeSums, u64) + Send + Sync>,
    pub(crate) web: Arc<WebMetrics>,
    pub(crate) commits: Arc<StoreMetrics>,
    pub(crate) store_path: PathBuf,
    pub(crate) started_at_ms: u64,
}

impl Source {
    /// The page of this moment. Asks the file system for two sizes, so it isn't for a thread
    /// that mustn't wait.
    pub(crate) fn page(&self) -> String {
        let mut page = Page::default();
        page.process(self.started_at_ms);
        page.door(self.door.metrics());
        page.sessions_open(self.door.receive_sessions());
        page.waiting(self.store.as_ref());
        page.web(&self.web);
        page.mailboxes(&self.mailboxes);
        page.wormholes((self.wormholes)());
        page.commits(&self.commits);
        page.files(&self.store_path);
        page.0
    }
}

/// A page in the making.
#[derive(Default)]
struct Page(String);

impl Page {
    fn process(&mut self, started_at_ms: u64) {
        self.family("build_info", "gauge", "Always 1; the label is the version.");
        self.sample("build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        self.family(
            "start_time_seconds",
            "gauge",
            "When the relay started, in Unix seconds.",
        );
        self.sample("start_time_seconds", &[], decimal(started_at_ms, 3));
    }

    fn door(&mut self, door: &DoorMetrics) {
        let ports = [("push", &door.push_port), ("receive", &door.receive_port)];
        self.ports(ports);
        self.family(
            "sessions_total",
            "counter",
            "Handshakes that succeeded, by kind of session.",
        );
        for (kind, port) in ports {
            self.sample("sessions_total", &[("kind", kind)], port.sessions.get());
        }
        self.family(
            "pushes_total",
            "counter",
            "Pushes, by what they were answered with.",
        );
        for (word, count) in PushResult::WORDS.iter().zip(&door.pushes) {
            self.sample("pushes_total", &[("result", word)], count.get());
        }
        self.counter(
            "deliveries_total",
            "Blobs written to devices.",
            &door.deliveries,
        );
        self.counter(
            "delivery_acks_total",
            "Acknowledgements of deliveries that devices sent.",
            &door.delivery_acks,
        );
    }

    fn ports(&mut self, ports: [(&str, &PortMetrics); 2]) {
        self.family(
            "connections_open",
            "gauge",
            "Connections that are open, by port.",
        );
        for (name, port) in ports {
            let open = port.open.load(std::sync::atomic::Ordering::Relaxed);
            self.sample("connections_open", &[("port", name)], open);
        }
        self.family(
            "connections_total",
            "counter",
            "Connections accepted, by port.",
        );
        for (name, port) in ports {
            self.sample("connections_total", &[("port", name)], port.ever.get());
        }
        self.family(
            "connections_closed_total",
            "counter",
            "Connections that have ended, by port and by how.",
        );
        for (name, port) in ports {
            for (word, count) in EndingKind::WORDS.iter().zip(&port.closed) {
                let labels = [("port", name), ("ending", *word)];
                self.sample("connections_closed_total", &labels, count.get());
            }
        }
    }

    fn sessions_open(&mut self, receive_sessions: u64) {
        self.gauge(
            "receive_sessions_open",
            "Receive Sessions past their handshake.",
            receive_sessions,
        );
    }

    fn waiting(&mut self, store: &dyn InboxStore) {
        let sums = store.sums();
        self.gauge(
            "stored_blobs",
            "Blobs that wait for their devices.",
            sums.blobs,
        );
        self.gauge("stored_bytes", "Bytes of their Envelopes.", sums.bytes);
        self.gauge(
            "stored_inboxes",
            "Inboxes in which something waits.",
            sums.inboxes,
        );
    }

    fn web(&mut self, web: &WebMetrics) {
        self.gauge(
            "web_connections_open",
            "Connections that are open on the web port.",
            web.open(),
        );
        self.counter(
            "web_connections_total",
            "Connections accepted on the web port.",
            &web.ever,
        );
        self.counter(
            "web_connections_turned_away_total",
            "Connections closed at once because there were too many.",
            &web.turned_away,
        );
        self.family(
            "web_answers_total",
            "counter",
            "Requests on the web port, by the status they were answered with.",
        );
        for (status, count) in STATUSES.iter().zip(&web.answers) {
            let status = status.to_string();
            self.sample("web_answers_total", &[("status", &status)], count.get());
        }
    }

    fn wormholes(&mut self, (sums, openings): (WormholeSums, u64)) {
        self.gauge("wormhole_mailboxes", "Wormhole mailboxes.", sums.mailboxes);
        self.gauge(
            "wormhole_messages",
            "Messages that wait in wormhole mailboxes.",
            sums.messages,
        );
        self.gauge("wormhole_bytes", "Bytes of those.", sums.bytes);
        self.gauge(
            "wormhole_openings",
            "Connections that have a wormhole mailbox open.",
            openings,
        );
    }

    fn mailboxes(&mut self, mailboxes: &Mailboxes) {
        let (sums, watches) = mailboxes.sums();
        self.gauge("mailboxes", "Mailboxes of links.", sums.mailboxes);
        self.gauge(
            "mailbox_envelopes",
            "Envelopes that wait in mailboxes.",
            sums.envelopes,
        );
        self.gauge("mailbox_bytes", "Bytes of those.", sums.bytes);
        self.gauge("watches_open", "Watches of mailboxes.", watches);
    }

    fn commits(&mut self, store: &StoreMetrics) {
        self.counter(
            "expired_blobs_total",
            "Blobs deleted because their time was over.",
            &store.expired,
        );
        self.counter(
            "commit_failures_total",
            "Commits that the disk or the database refused.",
            &store.failures,
        );
        self.counter(
            "read_failures_total",
            "Reads of waiting blobs that the disk or the database refused.",
            &store.read_failures,
        );
        self.histogram(
            "commit_pushes",
            "Pushes, and requests to mailboxes, that shared a commit.",
            &store.pushes,
            0,
        );
        self.histogram(
            "commit_duration_seconds",
            "From the start of a commit that somebody waits for to the disk's answer.",
            &store.micros,
            6,
        );
    }

    fn files(&mut self, store_path: &std::path::Path) {
        let mut log_path = store_path.as_os_str().to_owned();
        log_path.push("-wal");
        let size = |path: &std::ffi::OsStr| std::fs::metadata(path).map_or(0, |file| file.len());
        self.family("store_file_bytes", "gauge", "Size of the store's files.");
        let database = size(store_path.as_os_str());
        self.sample("store_file_bytes", &[("file", "database")], database);
        self.sample("store_file_bytes", &[("file", "log")], size(&log_path));
    }

    fn counter(&mut self, name: &str, help: &str, counter: &Counter) {
        self.family(name, "counter", help);
        self.sample(name, &[], counter.get());
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "gauge", help);
        self.sample(name, &[], value);
    }

    /// The values of a histogram are whole numbers of a unit that has `places` decimal places.
    /// The count is the sum over the buckets as they were read, so a page never contradicts
    /// itself.
    fn histogram<const BOUNDS: usize>(
        &mut self,
        name: &str,
        help: &str,
        histogram: &Histogram<BOUNDS>,
        places: u32,
    ) {
        self.family(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut count = 0_u64;
        for (bound, counter) in histogram.bounds.iter().zip(&histogram.buckets) {
            count = count.saturating_add(counter.get());
            self.sample(&bucket, &[("le", &decimal(*bound, places))], count);
        }
        count = count.saturating_add(histogram.above.get());
        self.sample(&bucket, &[("le", "+Inf")], count);
        self.sample(
            &format!("{name}_sum"),
            &[],
            decimal(histogram.sum.get(), places),
        );
        self.sample(&format!("{name}_count"), &[], count);
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a text can't fail.
        let _ = writeln!(self.0, "# HELP sealpost_relay_{name} {help}");
        let _ = writeln!(self.0, "# TYPE sealpost_relay_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.0, "sealpost_relay_{name}");
        for (index, (label, word)) in labels.iter().enumerate() {
            let opening = if index == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{opening}{label}=\"{word}\"");
        }
        let closing = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{closing} {value}");
    }
}

/// `value` with its last `places` digits behind the point, exactly and without trailing zeros.
fn decimal(value: u64, places: u32) -> String {
    let unit = 10_u64.saturating_pow(places);
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:0width$}", width = places as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let cases = [
            (0, 6, "0"),
            (100, 6, "0.0001"),
            (2_500_000, 6, "2.5"),
            (7, 0, "7"),
            (1_700_000_000_123, 3, "1700000000.123"),
        ];
        for (value, places, text) in cases {
            assert_eq!(decimal(value, places), text);
        }
    }

    #[test]
    fn buckets_add_up() {
        let histogram = Histogram::new([100, 1_000]);
        for value in [50, 500, 5_000] {
            histogram.add(value);
        }
        let mut page = Page::default();
        page.histogram("x_seconds", "Help.", &histogram, 6);
        let expected = "# HELP sealpost_relay_x_seconds Help.
# TYPE sealpost_relay_x_seconds histogram
sealpost_relay_x_seconds_bucket{le=\"0.0001\"} 1
sealpost_relay_x_seconds_bucket{le=\"0.001\"} 2
sealpost_relay_x_seconds_bucket{le=\"+Inf\"} 3
sealpost_relay_x_seconds_sum 0.00555
sealpost_relay_x_seconds_count 3
";
        assert_eq!(page.0, expected);
    }
}
