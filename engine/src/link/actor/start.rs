//! Starts the thread of the links.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use rand_core::{OsRng, RngCore as _};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::Actor;
use super::call::{ActorHandle, Input, Shared};
use super::traffic::Ways;
use crate::actor::{ClockJumps, wait_for};
use crate::core::error::StorageFault;
use crate::keys::{KeyItem, KeyItemName, KeyStore};
use crate::link::error::LinksOpenError;
use crate::link::links::LinksOptions;
use crate::link::store::{self, LinkStore};
use crate::profile::ProfileId;

/// Opens the links on a thread of their own and returns the way to it.
pub(in crate::link) async fn start(options: LinksOptions) -> Result<ActorHandle, LinksOpenError> {
    let (opened, is_opened) = oneshot::channel();
    let (inputs, inputs_of) = mpsc::channel();
    let runtime = Handle::current();
    let thread = thread::Builder::new().name("sealpost-links".to_owned());
    let thread = thread
        .spawn(
            move || match Actor::open(options, runtime, inputs, inputs_of) {
                Ok(actor) => {
                    let handle = ActorHandle::new(Arc::clone(&actor.shared));
                    // If nobody waits any more, the dropped handle ends the thread.
                    drop(opened.send(Ok(handle)));
                    actor.run();
                }
                Err(error) => drop(opened.send(Err(error))),
            },
        )
        .map_err(|_| StorageFault::Unavailable)?;
    let opened = is_opened
        .await
        .unwrap_or(Err(StorageFault::Unavailable.into()));
    match &opened {
        Ok(handle) => handle.keep(thread),
        Err(_) => wait_for(thread).await,
    }
    opened
}

impl Actor {
    fn open(
        options: LinksOptions,
        runtime: Handle,
        inputs: Sender<Input>,
        inputs_of: Receiver<Input>,
    ) -> Result<Self, LinksOpenError> {
        let path = store::path(&options.directory);
        let is_there = LinkStore::exists(&path)?;
        let key = key(&*options.key_store, &options.profile_id, is_there)?;
        let store = LinkStore::open(&path, &key)?;
        let shared = Arc::new(Shared::new(inputs));
        let now_ms = options.clock.now_ms();
        let mut actor = Self {
            inputs: inputs_of,
            ways: Ways::new(runtime, Arc::clone(&shared)),
            shared,
            clock: options.clock,
            store,
            links: BTreeMap::new(),
            pairings: BTreeMap::new(),
            erasing: Vec::new(),
            is_watching: true,
            rest: None,
            failures: 0,
            jumps: ClockJumps::new(Instant::now(), now_ms),
        };
        for record in actor.store.links()? {
            actor.enter(record)?;
        }
        // All of it is visible before anybody can look.
        actor.begin();
        Ok(actor)
    }
}

/// The key of the store. One is made up only where there is no store yet, and it is in the key
/// store before the store is made.
fn key(
    key_store: &dyn KeyStore,
    profile: &ProfileId,
    is_there: bool,
) -> Result<Zeroizing<[u8; 32]>, LinksOpenError> {
    let name = KeyItemName::links(profile);
    if let Some(item) = key_store.load(&name)? {
        return Ok(item.links_key(profile)?);
    }
    if is_there {
        return Err(LinksOpenError::KeyMissing);
    }
    let mut key = Zeroizing::new([0; 32]);
    OsRng.fill_bytes(key.as_mut());
    key_store.save(&name, &KeyItem::from_links_key(profile, &key))?;
    Ok(key)
}
