//! A group that a command works with, found by what the person called it.
//!
//! Owns the search and the stream of what happens in the group. A command that holds an
//! [`OpenGroup`] closes it before it ends; what is queued stays queued.

use std::time::Duration;

use sealpost_engine::Engine;
use sealpost_engine::core::event::Event;
use sealpost_engine::core::issue::DeliveryIssue;
use sealpost_engine::core::status::{ConnectFailure, Connection};
use sealpost_engine::history::StoredMessage;
use sealpost_engine::namespace::Namespace;
use sealpost_protocol::address::RelayAddress;
use sealpost_protocol::message_id::MessageId;
use tokio::sync::mpsc;

use crate::device::Device;
use crate::explanation::{connect_failure, engine_error, unsupported_version};
use crate::failure::{Exit, Failure};

/// How often something that no event tells is looked at.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// What happens in a group.
#[derive(Debug)]
pub(crate) enum Happening {
    /// An event of the engine.
    Event(Event),
    /// An exception to the delivery promise.
    Issue(DeliveryIssue),
}

/// An open group.
pub(crate) struct OpenGroup {
    /// The group.
    pub(crate) engine: Engine,
    /// Its place in this profile.
    pub(crate) namespace: Namespace,
    happenings: mpsc::UnboundedReceiver<Happening>,
}

impl OpenGroup {
    /// Opens the group that `wanted` names, or the only one.
    pub(crate) async fn find(device: &Device, wanted: Option<&str>) -> Result<Self, Failure> {
        let namespaces = device.namespaces()?;
        match (wanted, namespaces.as_slice()) {
            (_, []) => Err(no_group()),
            (None, [only]) => Self::open(device, only, None).await,
            (None, several) => Err(group_needed(several.len())),
            (Some(wanted), _) => Self::find_named(device, &namespaces, wanted).await,
        }
    }

    /// Opens the group of a namespace, which is made where there is none.
    pub(crate) async fn open(
        device: &Device,
        namespace: &Namespace,
        relay: Option<RelayAddress>,
    ) -> Result<Self, Failure> {
        let engine = device.open_group(namespace, relay).await?;
        let (sender, happenings) = mpsc::unbounded_channel();
        let issues = sender.clone();
        // Both ends belong to this value: the listeners go with the engine.
        engine.on_event(move |event| drop(sender.send(Happening::Event(event))));
        engine.on_delivery_issue(move |issue| drop(issues.send(Happening::Issue(issue))));
        Ok(Self {
            engine,
            namespace: namespace.clone(),
            happenings,
        })
    }

    /// Opens a place for a new group. One that can't be opened is kept for the next group.
    pub(crate) async fn open_new(device: &Device, relay: RelayAddress) -> Result<Self, Failure> {
        let namespace = device.new_namespace()?;
        let opened = Self::open(device, &namespace, Some(relay)).await;
        if opened.is_err() {
            // Why it can't be opened says more than why this didn't work either.
            let _ = device.put_aside(&namespace);
        }
        opened
    }

    /// Closes a group that was to be made, and keeps its place for the next one.
    pub(crate) async fn abandon(self, device: &Device) -> Result<(), Failure> {
        let namespace = self.namespace.clone();
        self.close().await;
        device.put_aside(&namespace)
    }

    /// Whether texts stay here because the words of the join were not compared yet.
    pub(crate) fn holds_texts(&self) -> bool {
        let join = self.engine.pairing().join;
        join.is_some_and(|join| !join.confirmed)
    }

    async fn find_named(
        device: &Device,
        namespaces: &[Namespace],
        wanted: &str,
    ) -> Result<Self, Failure> {
        let number = wanted.parse().ok();
        let numbered = namespaces.iter().find(|namespace| {
            namespace.as_str() == wanted || (number.is_some() && namespace.place() == number)
        });
        if let Some(namespace) = numbered {
            return Self::open(device, namespace, None).await;
        }
        let mut found: Option<Self> = None;
        for namespace in namespaces {
            let failure = match Self::open(device, namespace, None).await {
                Ok(group) if group.engine.group_name().as_deref() != Some(wanted) => {
                    group.close().await;
                    continue;
                }
                Ok(group) if found.is_none() => {
                    found = Some(group);
                    continue;
                }
                Ok(group) => {
                    group.close().await;
                    group_ambiguous()
                }
                Err(failure) => failure,
            };
            if let Some(found) = found {
                found.close().await;
            }
            return Err(failure);
        }
        found.ok_or_else(group_unknown)
    }

    /// Starts to receive. Messages are stored by the engine; nothing else is done with them.
    pub(crate) fn receive(&self) -> Result<(), Failure> {
        self.engine
            .on_message(|_| Box::pin(async { Ok(()) }))
            .map(drop)
            .map_err(engine_error)
    }

    /// What happens next; loses nothing when dropped early.
    pub(crate) async fn next(&mut self) -> Option<Happening> {
        self.happenings.recv().await
    }

    /// The message with this id, as it is stored.
    pub(crate) async fn message(&self, id: MessageId) -> Result<Option<StoredMessage>, Failure> {
        self.engine.message(id).await.map_err(engine_error)
    }

    /// The group's name, or nothing that could be mistaken for one.
    pub(crate) fn name(&self) -> String {
        self.engine.group_name().unwrap_or_default()
    }

    /// The number of the group in this profile.
    pub(crate) fn number(&self) -> u32 {
        self.namespace.place().unwrap_or_default()
    }

    /// Ends the sessions and closes the data.
    pub(crate) async fn close(self) {
        self.engine.close().await;
    }
}

/// What keeps a connection from coming about, where it is more than a moment.
pub(crate) fn trouble(connection: Connection) -> Option<Failure> {
    match connection {
        Connection::Connecting | Connection::Connected | Connection::Disconnected(None) => None,
        // This is how each group begins, and only so long as nothing is asked for.
        Connection::Disconnected(Some(ConnectFailure::NoHandler)) => None,
        Connection::Disconnected(Some(failure)) => Some(connect_failure(failure)),
        Connection::RelayVersionUnsupported { min, max } => Some(unsupported_version(min, max)),
    }
}

/// Whether waiting longer is in vain: another relay than the one that was meant never
/// becomes the right one by itself.
pub(crate) const fn is_hopeless(connection: Connection) -> bool {
    matches!(
        connection,
        Connection::RelayVersionUnsupported { .. }
            | Connection::Disconnected(Some(ConnectFailure::WrongKey | ConnectFailure::NoRelay))
    )
}

fn no_group() -> Failure {
    Failure::new(
        "group-none",
        Exit::Group,
        "There is no group yet.",
        "This profile has made none and joined none.",
        "Make one with `sealpost group new`, or join with `sealpost join`.",
    )
}

fn group_needed(count: usize) -> Failure {
    Failure::new(
        "group-needed",
        Exit::Input,
        "It isn't clear which group is meant.",
        format!("This profile has {count} groups."),
        "Name one with --group; `sealpost group list` shows them.",
    )
}

fn group_ambiguous() -> Failure {
    Failure::new(
        "group-ambiguous",
        Exit::Input,
        "It isn't clear which group is meant.",
        "More than one group has this name.",
        "Use its number with --group; `sealpost group list` shows it.",
    )
}

pub(crate) fn group_unknown() -> Failure {
    Failure::new(
        "group-unknown",
        Exit::Group,
        "There is no such group.",
        "No group of this profile has this name or number.",
        "`sealpost group list` shows the groups.",
    )
}
