//! The queues of the tables, and the servers behind them.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use tokio_rustls::rustls::ClientConfig;

use super::cell::{self, Cell};
use super::certificate::Certificate;
use super::load::{Load, Pace};
use super::local::worker::{Kind, Worker};
use super::peer::nats::Nats;
use super::peer::postgres::Postgres;
use super::peer::rabbitmq::{RabbitMq, Servers};
use super::peer::redis::Redis;
use super::peer::sealpost::Sealpost;
use super::process::{Probe, Server, Start};

/// One row of a table.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum System {
    Log,
    OneByOne,
    Store,
    Relay,
    RelayFresh,
    Nats,
    NatsTls,
    NatsShared,
    Redis,
    RedisTls,
    Postgres,
    PostgresTls,
    RabbitMq,
    RabbitMqTls,
}

/// One server, or worker, behind one row or two.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Family {
    Log,
    OneByOne,
    Store,
    Relay,
    Nats,
    Redis,
    Postgres,
    RabbitMq,
}

impl System {
    pub(super) const ALL: [Self; 14] = [
        Self::Log,
        Self::OneByOne,
        Self::Store,
        Self::Relay,
        Self::RelayFresh,
        Self::Nats,
        Self::NatsTls,
        Self::NatsShared,
        Self::Redis,
        Self::RedisTls,
        Self::Postgres,
        Self::PostgresTls,
        Self::RabbitMq,
        Self::RabbitMqTls,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Log => "bare log, group fdatasync",
            Self::OneByOne => "SQLite, a transaction per push",
            Self::Store => "Sealpost store alone",
            Self::Relay => "Sealpost relay, reused sessions",
            Self::RelayFresh => "Sealpost relay, connection per push",
            Self::Nats => "NATS JetStream",
            Self::NatsTls => "NATS JetStream, TLS",
            Self::NatsShared => "NATS JetStream, one stream",
            Self::Redis => "Redis Streams",
            Self::RedisTls => "Redis Streams, TLS",
            Self::Postgres => "PostgreSQL table",
            Self::PostgresTls => "PostgreSQL table, TLS",
            Self::RabbitMq => "RabbitMQ quorum queue",
            Self::RabbitMqTls => "RabbitMQ quorum queue, TLS",
        }
    }

    pub(super) fn family(self) -> Family {
        match self {
            Self::Log => Family::Log,
            Self::OneByOne => Family::OneByOne,
            Self::Store => Family::Store,
            Self::Relay | Self::RelayFresh => Family::Relay,
            Self::Nats | Self::NatsTls | Self::NatsShared => Family::Nats,
            Self::Redis | Self::RedisTls => Family::Redis,
            Self::Postgres | Self::PostgresTls => Family::Postgres,
            Self::RabbitMq | Self::RabbitMqTls => Family::RabbitMq,
        }
    }

    /// Whether it can hand messages to a consumer.
    pub(super) fn delivers(self) -> bool {
        !matches!(self, Self::Log | Self::OneByOne)
    }

    /// TLS changes nothing about what is synced.
    pub(super) fn is_secured(self) -> bool {
        matches!(
            self,
            Self::NatsTls | Self::RedisTls | Self::PostgresTls | Self::RabbitMqTls
        )
    }
}

/// What servers are started with.
pub(super) struct Place<'a> {
    pub(super) tools: &'a Path,
    /// Where data and logs go.
    pub(super) folder: &'a Path,
    pub(super) certificate: &'a Certificate,
    pub(super) tls: &'a Arc<ClientConfig>,
    /// Whether synchronous calls are counted.
    pub(super) is_traced: bool,
}

/// A family that runs.
pub(super) enum Running {
    Worker(Worker),
    Relay(Server, Sealpost),
    Nats(Server, Nats),
    Redis(Server, Redis),
    Postgres(Server, Postgres),
    RabbitMq(Servers, RabbitMq),
}

impl Running {
    pub(super) async fn start(family: Family, place: &Place<'_>) -> anyhow::Result<Self> {
        let start = |name| Start {
            name,
            folder: place.folder,
            is_traced: place.is_traced,
        };
        let worker = |name, kind| Worker::start(&start(name), kind).map(Self::Worker);
        Ok(match family {
            Family::Log => worker("log", Kind::Log)?,
            Family::OneByOne => worker("one-by-one", Kind::OneByOne)?,
            Family::Store => worker("store", Kind::Store)?,
            Family::Relay => {
                let program = std::env::current_exe()?.with_file_name("sealpost-relay");
                let (server, relay) = Sealpost::start(&start("relay"), &program)?;
                Self::Relay(server, relay)
            }
            Family::Nats => {
                let program = place.tools.join("nats-server");
                let (server, nats) = Nats::start(&start("nats"), place.certificate, &program)?;
                Self::Nats(server, nats)
            }
            Family::Redis => {
                let (server, redis) = Redis::start(&start("redis"), place.certificate)?;
                Self::Redis(server, redis)
            }
            Family::Postgres => {
                let start = start("postgres");
                let (server, postgres) = Postgres::start(&start, place.certificate).await?;
                Self::Postgres(server, postgres)
            }
            Family::RabbitMq => {
                let start = start("rabbitmq");
                let (servers, rabbitmq) = RabbitMq::start(&start, place.certificate)?;
                Self::RabbitMq(servers, rabbitmq)
            }
        })
    }

    /// Puts a load on one of the rows behind which this is.
    pub(super) async fn measure(
        &mut self,
        system: System,
        load: Load,
        pace: Pace,
        tls: &Arc<ClientConfig>,
    ) -> anyhow::Result<Cell> {
        let probe = self.probe();
        match (self, system) {
            (Self::Worker(worker), System::Log | System::OneByOne | System::Store) => {
                worker.measure(load, pace)
            }
            (Self::Relay(_, relay), System::Relay) => {
                cell::measure(relay, load, pace, &probe).await
            }
            (Self::Relay(_, relay), System::RelayFresh) => {
                cell::measure(&relay.fresh(), load, pace, &probe).await
            }
            (Self::Nats(_, nats), System::Nats) => cell::measure(nats, load, pace, &probe).await,
            (Self::Nats(_, nats), System::NatsTls) => {
                cell::measure(&nats.secured(tls), load, pace, &probe).await
            }
            (Self::Nats(_, nats), System::NatsShared) => {
                cell::measure(&nats.shared(), load, pace, &probe).await
            }
            (Self::Redis(_, redis), System::Redis) => {
                cell::measure(redis, load, pace, &probe).await
            }
            (Self::Redis(_, redis), System::RedisTls) => {
                cell::measure(&redis.secured(tls), load, pace, &probe).await
            }
            (Self::Postgres(_, postgres), System::Postgres) => {
                cell::measure(postgres, load, pace, &probe).await
            }
            (Self::Postgres(_, postgres), System::PostgresTls) => {
                cell::measure(&postgres.secured(tls), load, pace, &probe).await
            }
            (Self::RabbitMq(_, rabbitmq), System::RabbitMq) => {
                cell::measure(rabbitmq, load, pace, &probe).await
            }
            (Self::RabbitMq(_, rabbitmq), System::RabbitMqTls) => {
                cell::measure(&rabbitmq.secured(tls), load, pace, &probe).await
            }
            _ => bail!("not behind this server"),
        }
    }

    fn probe(&self) -> Probe {
        match self {
            // A worker measures itself.
            Self::Worker(_) => Probe::own(None),
            Self::Relay(server, _)
            | Self::Nats(server, _)
            | Self::Redis(server, _)
            | Self::Postgres(server, _) => server.probe.clone(),
            Self::RabbitMq(servers, _) => servers.rabbitmq.probe.clone(),
        }
    }
}
