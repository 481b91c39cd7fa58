//! How long it takes from a put to whoever watches.

use std::time::{Duration, Instant};

use super::Writer;

/// Above the pace at which the relay gathers what it tells a watch: what is measured is how
/// fast a single message gets through, not how a stream of them is thinned out.
const PAUSE: Duration = Duration::from_millis(150);

/// Waits for the word that something was stored.
pub(super) trait Watch {
    /// Returns once told, and only for what was stored since the last time.
    async fn told(&mut self) -> anyhow::Result<()>;

    /// Fetches what was stored under a number.
    async fn fetch(&mut self, number: u64) -> anyhow::Result<()>;
}

/// Puts, waits for the word and fetches, one after the other.
pub(super) async fn follow(
    mut writer: impl Writer,
    mut watch: impl Watch,
    body: &[u8],
    times: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut taken = Vec::new();
    for number in (1..).take(times) {
        let begin = Instant::now();
        let (put, told) = tokio::join!(writer.put(number, body), watch.told());
        put.and(told)?;
        watch.fetch(number).await?;
        taken.push(begin.elapsed());
        writer.prune(number).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(taken)
}
