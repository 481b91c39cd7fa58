use sealpost_protocol::app_message::{AppMessage, AppMessageKind};

use crate::core::error::EngineError;
use crate::core::event::Event;
use crate::core::rig::{Post, Rig};
use crate::core::step::Effect;

fn rename(rig: &mut Rig, name: &str) {
    rig.device
        .handle_rename_group(name, rig.now_ms)
        .expect("something of the name can be seen");
}

/// Adds a device that is in no group yet.
fn add(post: &mut Post, seed: u64) -> usize {
    let mut rig = Rig::new(seed, "newcomer");
    rig.connect();
    post.rigs.push(rig);
    post.effects.push(Vec::new());
    post.rigs.len() - 1
}

fn names(post: &Post) -> Vec<Option<&str>> {
    let rigs = post.rigs.iter();
    rigs.map(|rig| rig.device.group_name()).collect()
}

#[test]
fn a_name_goes_to_everybody_and_to_each_newcomer_and_is_no_row() {
    let mut post = Post::group(2);
    rename(&mut post.rigs[0], "Home");
    post.settle(0);
    assert_eq!(names(&post), [Some("Home"); 2]);
    let third = add(&mut post, 60);
    // Not by the one that gave the name.
    post.pair(1, third);
    assert_eq!(names(&post), [Some("Home"); 3]);
    assert!(post.rigs.iter().all(|rig| rig.store.rows.is_empty()));
    let told = |post: &mut Post, index| {
        let events = post.take_events(index);
        let is_it = |event: &&Event| matches!(event, Event::GroupRenamed);
        events.iter().filter(is_it).count()
    };
    assert_eq!([0, 1, 2].map(|index| told(&mut post, index)), [1; 3]);
}

#[test]
fn names_given_at_the_same_time_end_as_the_same_one_everywhere() {
    let mut post = Post::group(3);
    rename(&mut post.rigs[0], "Home");
    rename(&mut post.rigs[1], "Away");
    rename(&mut post.rigs[2], "Boat");
    for index in [2, 0, 1] {
        post.settle(index);
    }
    assert_eq!(names(&post), [Some("Home"); 3], "the greater text");
    rename(&mut post.rigs[1], "Away");
    post.settle(1);
    assert_eq!(
        names(&post),
        [Some("Away"); 3],
        "whoever knew the others wins"
    );
    for rig in &mut post.rigs {
        rig.restart();
    }
    assert_eq!(names(&post), [Some("Away"); 3]);
}

#[test]
fn a_newcomer_hears_the_name_that_its_admitter_has_not_heard_of() {
    let mut post = Post::group(3);
    rename(&mut post.rigs[0], "Home");
    post.settle(0);
    // Nothing of the new name has left device 1 when device 0 admits somebody.
    rename(&mut post.rigs[1], "Away");
    let fourth = add(&mut post, 61);
    post.pair(0, fourth);
    assert_eq!(names(&post), [Some("Away"); 4]);
}

#[test]
fn a_name_from_before_gives_way_to_that_of_the_group() {
    let mut post = Post::new(2);
    rename(&mut post.rigs[0], "Alpha");
    rename(&mut post.rigs[1], "Zebra");
    rename(&mut post.rigs[1], "Zulu");
    post.pair(0, 1);
    assert_eq!(names(&post), [Some("Alpha"); 2]);
    // What is left of the group stays to be read, and names the next one that begins here.
    let rig = &mut post.rigs[1];
    rig.device.handle_leave(rig.now_ms).expect("a member");
    post.settle(1);
    assert_eq!(names(&post), [Some("Alpha"); 2]);
    let third = add(&mut post, 62);
    rename(&mut post.rigs[third], "Zoo");
    post.pair(1, third);
    assert_eq!(post.rigs[third].device.group_name(), Some("Alpha"));
}

#[test]
fn nothing_visible_is_no_name_and_a_name_is_cleaned_once_for_memory_and_store() {
    let outside = [
        ("Our\u{202e}  house", Some("Our house")),
        ("\u{202e}\u{0}", None),
        ("", None),
    ];
    for (raw, clean) in outside {
        let mut post = Post::group(2);
        let rig = &mut post.rigs[0];
        let name = raw.to_owned();
        let kind = AppMessageKind::GroupName { name, version: 7 };
        let body = AppMessage::new(kind, &mut rig.rng).encode();
        rig.device.handle_send(body, rig.now_ms).expect("a member");
        post.take_events(1);
        post.settle(0);
        let told = post.take_events(1);
        let is_told = told
            .iter()
            .any(|event| matches!(event, Event::GroupRenamed));
        assert_eq!(is_told, clean.is_some(), "{raw:?}");
        let named = &mut post.rigs[1];
        assert_eq!(named.device.group_name(), clean, "{raw:?}");
        named.restart();
        assert_eq!(named.device.group_name(), clean, "{raw:?}");

        let rig = &mut post.rigs[0];
        let given = rig.device.handle_rename_group(raw, rig.now_ms);
        assert_eq!(given.is_ok(), clean.is_some(), "{raw:?}");
        if given.is_err() {
            assert_eq!(given, Err(EngineError::GroupNameEmpty));
            assert!(rig.take_step().is_empty(), "an error changes nothing");
        }
        rig.drain();
        assert_eq!(rig.device.group_name(), clean, "{raw:?}");
    }
}

#[test]
fn the_same_name_again_is_not_sent() {
    let mut post = Post::group(2);
    rename(&mut post.rigs[0], "Home");
    post.settle(0);
    rename(&mut post.rigs[1], " Home ");
    let step = post.rigs[1].take_step();
    assert!(
        !step
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Push(_)))
    );
    assert!(step.changes.is_empty());
}
