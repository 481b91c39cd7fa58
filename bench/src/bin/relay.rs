//! The relay beside every durable queue that a user could run instead.

fn main() -> anyhow::Result<()> {
    sealpost_bench::queue::run()
}
