//! The relay's mailboxes for phones beside etcd.

fn main() -> anyhow::Result<()> {
    sealpost_bench::link::run()
}
