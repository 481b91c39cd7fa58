//! What keeps a group from being whole, or from being open, and how that is shown.

use sealpost_engine::core::error::StorageFault;
use sealpost_engine::core::membership::Cohesion;
use sealpost_engine::engine::OpenError;
use sealpost_engine::namespace::Namespace;

use super::*;
use crate::controller::snapshot::cohesion_view;
use crate::view::{CohesionView, Screen};

/// Plays a start at which the groups can't be opened for a reason.
async fn with_unopened(app: &App, group: &str, error: OpenError) {
    app.controller.close_groups().await;
    let namespace = Namespace::parse(group).unwrap();
    app.controller.note_unopened(namespace, error);
    app.controller.finish_start();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_another_program_held_opens_once_it_lets_go() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    with_unopened(&app, &group, OpenError::Storage(StorageFault::InUse)).await;
    let view = app.controller.view().await;
    let held = AppError::new(AppErrorCode::Storage).with_word("kind", "inUse");
    assert_eq!(view.screen, Screen::Failed);
    assert_eq!(view.failure, Some(held));
    app.controller.reopen_groups().await;
    let view = app.controller.view().await;
    assert_eq!((view.screen, &view.failure), (Screen::Ready, &None));
    assert_eq!(find(&view, &group).id, group);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_is_damaged_is_not_tried_again_and_another_failure_stays() {
    let data = tempfile::tempdir().unwrap();
    let app = App::fresh(data.path(), "default").await;
    let group = app.start_group().await;
    with_unopened(&app, &group, OpenError::Storage(StorageFault::Damaged)).await;
    app.controller.reopen_groups().await;
    let view = app.controller.view().await;
    assert_eq!(view.screen, Screen::Failed);
    // One that can be opened again doesn't hide what is wrong with the other.
    let namespace = Namespace::parse(&group).unwrap();
    app.controller.state().held_elsewhere.insert(namespace);
    app.controller.reopen_groups().await;
    let view = app.controller.view().await;
    let damaged = AppError::new(AppErrorCode::Storage).with_word("kind", "damaged");
    assert_eq!((view.screen, view.failure), (Screen::Ready, Some(damaged)));
}

#[test]
fn whatever_tears_a_group_shows() {
    assert_eq!(cohesion_view(None), CohesionView::Whole);
    for (cohesion, view) in [
        (Cohesion::Whole, CohesionView::Whole),
        (Cohesion::Unlisted, CohesionView::Unlisted),
        (Cohesion::AdmissionVoid, CohesionView::AdmissionVoid),
        (Cohesion::CutOff, CohesionView::CutOff),
    ] {
        assert_eq!(cohesion_view(Some(cohesion)), view);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_whose_admitter_left_sees_that_it_heard_of_nobody_else() {
    let pair = Pair::new().await;
    let (laptop, group) = (&pair.laptop, &pair.laptop_group);
    assert_eq!(laptop.group(group).await.cohesion, CohesionView::Whole);
    pair.phone.controller.quit().await;
    let data = tempfile::tempdir().unwrap();
    let tablet = App::fresh(data.path(), "tablet").await;
    let code = laptop.controller.start_pairing(in_group(group)).await;
    code.expect("a window opens");
    let joined = tablet.join(&laptop.link(group).await).await;
    let asks = |group: &GroupView| {
        let pairing = group.pairing.as_ref();
        pairing.is_some_and(|pairing| !pairing.requests.is_empty())
    };
    let asked = laptop
        .window
        .until("a request", |view| group_is(view, group, asks));
    let pairing = find(&asked.await, group).pairing.clone().unwrap();
    let request = JoinRequestIn {
        group: group.clone(),
        request: pairing.requests[0].id.clone(),
    };
    laptop.controller.accept_request(request).await.unwrap();
    let is_in = |group: &GroupView| group.members.len() == 2;
    let seen = |view: &AppView| group_is(view, &joined, is_in);
    tablet.window.until("the others", seen).await;
    laptop
        .controller
        .leave_group(in_group(group))
        .await
        .unwrap();
    let is_cut_off = |group: &GroupView| group.cohesion == CohesionView::CutOff;
    let seen = |view: &AppView| group_is(view, &joined, is_cut_off);
    tablet.window.until("it is cut off", seen).await;
}
