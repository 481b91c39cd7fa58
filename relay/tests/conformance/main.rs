//! What every relay must do, over real sockets (specification 2), with one verdict per rule.
//!
//! It starts a relay of its own. With `SEALPOST_RELAY=trueseal://…` it asks that one instead,
//! which must have default settings; checks that need a relay of their own are then ignored,
//! counted, and say in brackets what they would have needed.

#![expect(
    clippy::unwrap_used,
    reason = "a check that can't go on fails where it stands"
)]

mod deadlines;
mod delivery;
mod frames;
mod greeting;
mod limits;

#[path = "../peer/client.rs"]
#[expect(dead_code, reason = "the tests of the program use the rest")]
mod client;
#[path = "../peer/raw_client.rs"]
mod raw_client;
#[path = "../peer/test_relay.rs"]
mod test_relay;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use sealpost_protocol::address::RelayAddress;
use tokio::runtime::Runtime;

use self::test_relay::{Reachable as _, TestRelay};

/// The relay to ask instead of one of the suite's own.
const RELAY_VARIABLE: &str = "SEALPOST_RELAY";

/// The suite as it is put together.
struct Suite {
    runtime: &'static Runtime,
    relay: RelayAddress,
    /// Whether the relay is somebody's, whose settings aren't ours to choose.
    is_foreign: bool,
    trials: Vec<Trial>,
}

impl Suite {
    /// Adds a check that any relay can be asked.
    fn any<F>(&mut self, name: &str, check: impl FnOnce(RelayAddress) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (runtime, relay) = (self.runtime, self.relay.clone());
        let run = move || {
            runtime.block_on(check(relay));
            Ok(())
        };
        self.trials.push(Trial::test(name, run));
    }

    /// Adds a check that needs a relay of its own, and says for what.
    fn own<F>(&mut self, needs: &str, name: &str, check: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = self.runtime;
        let run = move || {
            runtime.block_on(check());
            Ok(())
        };
        let trial = Trial::test(name, run).with_kind(format!("needs {needs}"));
        self.trials.push(trial.with_ignored_flag(self.is_foreign));
    }
}

/// Adds checks under the names that they have in the source.
macro_rules! any {
    ($suite:expr, $module:ident, $($name:ident),+ $(,)?) => {
        $($suite.any(concat!(stringify!($module), "::", stringify!($name)), $module::$name);)+
    };
}

macro_rules! own {
    ($suite:expr, $needs:expr, $module:ident, $($name:ident),+ $(,)?) => {
        $($suite.own($needs, concat!(stringify!($module), "::", stringify!($name)), $module::$name);)+
    };
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // Lives as long as the process, as do the checks that run on it.
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new().unwrap()));
    let foreign = std::env::var(RELAY_VARIABLE).ok();
    let own = match &foreign {
        Some(_) => None,
        None => Some(runtime.block_on(TestRelay::start())),
    };
    let relay = match (&foreign, &own) {
        (Some(address), _) => RelayAddress::parse(address).expect("a relay's address"),
        (None, Some(own)) => own.address().clone(),
        (None, None) => return ExitCode::FAILURE,
    };
    let mut suite = Suite {
        runtime,
        relay,
        is_foreign: foreign.is_some(),
        trials: Vec::new(),
    };
    add_sessions(&mut suite);
    add_storing(&mut suite);
    libtest_mimic::run(&arguments, suite.trials).exit_code()
}

fn add_sessions(suite: &mut Suite) {
    any!(
        suite,
        greeting,
        other_versions_and_other_protocols_are_told_what_is_spoken,
        every_byte_of_the_prefix_counts,
        the_answer_to_another_version_outlives_what_is_sent_behind,
        half_a_prefix_and_a_half_close_are_answered,
        both_handshakes_are_those_of_the_specification,
        the_prefix_is_bound_into_the_handshake,
        a_prefix_in_pieces_is_read_like_one_in_a_piece,
        a_wrong_handshake_is_closed_without_a_word,
        the_third_message_must_prove_the_devices_key,
        a_client_with_another_relays_key_gets_no_session,
        noise_of_the_other_kind_disturbs_nobody,
    );
    own!(
        suite,
        "short deadlines",
        deadlines,
        a_handshake_that_does_not_come_is_not_waited_for,
        a_slow_handshake_has_one_deadline_over_all_its_parts,
        a_push_session_ends_in_time_however_busy_it_is,
        silence_closes_a_receive_session_and_a_heartbeat_keeps_it,
        blobs_do_not_keep_a_silent_device_connected,
    );
    any!(
        suite,
        frames,
        a_malformed_frame_on_a_push_session_is_answered_and_the_session_goes_on,
        a_malformed_frame_on_a_receive_session_is_answered_and_the_session_goes_on,
        the_sixteenth_malformed_frame_closes_a_push_session,
        the_sixteenth_malformed_frame_closes_a_receive_session,
        a_flood_of_malformed_frames_gets_sixteen_answers,
        a_push_of_nothing_but_a_key_and_any_bytes_behind_one_are_stored,
        a_heartbeat_is_echoed_as_it_is,
        records_that_are_no_noise_messages_close_the_session,
        a_repeated_record_closes_the_session,
        frames_that_arrive_byte_by_byte_are_put_together,
    );
}

fn add_storing(suite: &mut Suite) {
    any!(
        suite,
        delivery,
        a_blob_waits_is_delivered_and_leaves_when_acknowledged,
        waiting_blobs_come_first_and_new_ones_as_they_arrive,
        each_blob_goes_out_once_per_session_and_again_in_a_new_one,
        sessions_of_one_device_have_their_own_cursors,
        a_foreign_acknowledgement_deletes_nothing,
        pipelined_pushes_are_answered_one_by_one_and_in_order,
        an_envelope_that_is_pushed_twice_is_two_blobs,
        a_repeated_acknowledgement_is_ignored,
        only_the_recipient_gets_a_blob,
        the_largest_envelope_is_taken_and_one_byte_more_is_not,
        a_large_inbox_is_delivered_complete_and_in_order,
    );
    own!(suite, "a lowered limit", delivery, a_lowered_limit_is_exact);
    own!(
        suite,
        "a restart",
        delivery,
        unacknowledged_blobs_survive_a_restart_in_order
    );
    own!(
        suite,
        "a short deadline",
        delivery,
        a_device_that_does_not_read_still_heartbeats_and_acknowledges
    );
    any!(
        suite,
        limits,
        the_fifth_session_of_a_device_is_refused_after_the_handshake
    );
    own!(
        suite,
        "a clock that lost the time",
        limits,
        a_relay_that_does_not_know_the_time_stores_nothing
    );
    own!(
        suite,
        "small quotas",
        limits,
        a_full_inbox_refuses_and_others_do_not,
        a_pipelined_burst_does_not_go_over_the_quota,
        the_whole_relay_has_one_cap,
        a_disk_below_its_floor_refuses,
        the_rate_is_counted_per_recipient_and_after_size_and_form,
        connections_over_the_cap_are_closed_and_the_others_go_on,
    );
}
