//! The two programs killed and started again: what was acknowledged is there once, in order.

use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use sealpost_tests::conversation::{Plan, run};
use sealpost_tests::device_process::{Device, pair};
use sealpost_tests::relay_process::RelayProcess;

#[test]
fn a_conversation_survives_every_kill() {
    let plan = Plan {
        seed: seed(),
        texts_each: 300,
        relay_kills: 40,
        device_kills_each: 80,
        shown_between_kills: 1,
        relay_away_max: Duration::from_millis(100),
    };
    let kills = plan.relay_kills + 2 * plan.device_kills_each;
    println!("seed {}, {kills} kills", plan.seed);
    let (start, mut killed) = (Instant::now(), 0);
    let tally = run(&plan, &mut |line| {
        killed += usize::from(line.contains(": killed "));
        println!("{line}");
    })
    .unwrap();
    println!("{killed} kills in {:?}: {tally}", start.elapsed());
    assert_eq!(killed, kills);
    assert!(tally.is_exact(), "seed {}: {tally}", plan.seed);
    assert_eq!(
        tally.to_string(),
        "600 sent, 600 shown, 0 lost, 0 twice, 0 out of order"
    );
}

/// The seed of the kills: from the clock, or the one that `SEALPOST_CRASH_SEED` repeats.
fn seed() -> u64 {
    let given = std::env::var("SEALPOST_CRASH_SEED").ok();
    given.map_or_else(
        || {
            u64::from(
                SystemTime::UNIX_EPOCH
                    .elapsed()
                    .expect("a clock after 1970")
                    .subsec_nanos(),
            )
        },
        |given| given.parse().expect("a number as the seed"),
    )
}

#[test]
fn a_text_for_a_stopped_relay_has_its_id_at_once_and_arrives_later() {
    let mut relay = RelayProcess::start().unwrap();
    let sender = Device::new("sender", "Sender").unwrap();
    let receiver = Device::new("receiver", "Receiver").unwrap();
    pair(&sender, &receiver, "Two", &relay.address().unwrap()).unwrap();
    relay.stop().unwrap();

    let start = Instant::now();
    let said = sender
        .run_well(&["send", "written while nobody listened"])
        .unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "it took {:?}",
        start.elapsed()
    );
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["type"], "queued");
    assert!(said[0]["message_id"].as_str().unwrap().starts_with("tsm1_"));

    relay.resume().unwrap();
    let mut reading = receiver.start(&["tail"]).unwrap();
    sender
        .run_well(&["send", "written afterwards", "--wait", "20"])
        .unwrap();
    let texts = [
        reading.wait_for("message").unwrap(),
        reading.wait_for("message").unwrap(),
    ];
    assert_eq!(texts[0]["text"], "written while nobody listened");
    assert_eq!(texts[0]["message_id"], said[0]["message_id"]);
    assert_eq!(texts[1]["text"], "written afterwards");
}

#[test]
fn a_waiting_send_outlives_the_relay_that_it_waits_for() {
    let mut relay = RelayProcess::start().unwrap();
    let sender = Device::new("sender", "Sender").unwrap();
    let receiver = Device::new("receiver", "Receiver").unwrap();
    pair(&sender, &receiver, "Two", &relay.address().unwrap()).unwrap();
    relay.kill();

    let mut sending = sender.start(&["send", "patience", "--wait", "25"]).unwrap();
    let queued = sending.wait_for("queued").unwrap();
    relay.resume().unwrap();
    let delivery = sending.wait_for("delivery").unwrap();
    assert_eq!(delivery["message_id"], queued["message_id"]);
    assert_eq!(
        (delivery["on_relay"].as_u64(), delivery["of"].as_u64()),
        (Some(1), Some(1))
    );
    assert!(sending.wait().unwrap().success());
}

#[test]
fn a_join_that_was_killed_goes_on() {
    let relay = RelayProcess::start().unwrap();
    let host = Device::new("host", "Host").unwrap();
    let guest = Device::new("guest", "Guest").unwrap();
    let address = relay.address().unwrap();
    host.run_well(&["group", "new", "Late", "--relay", &address])
        .unwrap();
    let mut inviting = host.start(&["pair"]).unwrap();
    let link = inviting.wait_for("invitation").unwrap()["link"]
        .as_str()
        .unwrap()
        .to_owned();

    let mut joining = guest.start(&["join", &link, "--yes"]).unwrap();
    let words = joining.wait_for("words").unwrap();
    joining.wait_for("pending").unwrap();
    joining.kill();

    let request = inviting.wait_for("join_request").unwrap();
    assert_eq!(request["words"], words["words"]);
    inviting.wait_for("question").unwrap();
    inviting.type_line("yes").unwrap();
    inviting.wait_for("accepted").unwrap();

    let mut joining = guest.start(&["join", "--yes"]).unwrap();
    joining.wait_for("joined").unwrap();
    assert!(joining.wait().unwrap().success());
    let mut members = guest.run_well(&["members"]).unwrap();
    members.retain(|object| object["type"] == "member");
    assert_eq!(members.len(), 2, "{members:?}");
}

/// How often two programs are killed while they pair, and one while it closes.
const PAIRING_KILLS: u64 = 6;
const CLOSING_KILLS: u64 = 25;

/// A moment for a kill, up to `most` from now.
fn moment(seed: u64, number: u64, most: Duration) -> Duration {
    // Spread evenly: each number is a moment of its own, and the seed moves them all.
    let share = (seed.wrapping_add(number.wrapping_mul(0x9e37_79b9))) % 1_000;
    most * u32::try_from(share).expect("below 1,000") / 1_000
}

/// Whichever of the two is cut off, and whenever: the same two devices end up together by
/// what the programs themselves say is to be done.
#[test]
fn two_programs_that_are_killed_while_they_pair_can_pair() {
    let (seed, relay) = (seed(), RelayProcess::start().unwrap());
    let address = relay.address().unwrap();
    let host = Device::new("host", "Host").unwrap();
    host.run_well(&["group", "new", "Home", "--relay", &address])
        .unwrap();
    for number in 0..PAIRING_KILLS {
        let name = format!("guest{number}");
        let guest = Device::new(&name, &name).unwrap();
        let mut inviting = host.start(&["pair", "--accept"]).unwrap();
        let invitation = inviting.wait_for("invitation").unwrap();
        let link = invitation["link"].as_str().unwrap();
        let mut joining = guest.start(&["join", link, "--yes"]).unwrap();
        // The pairing words take most of the time that there is.
        let at = moment(seed, number, Duration::from_millis(2_500));
        std::thread::sleep(at);
        inviting.kill();
        joining.kill();
        println!("seed {seed}: killed both {at:?} after the invitation");
        join_after_all(&host, &guest, &name).unwrap();
    }
    let members = |device: &Device| {
        let said = device.run_well(&["members"]).unwrap();
        let of_group = said.iter().filter(|object| object["type"] == "member");
        of_group.count()
    };
    let all = usize::try_from(PAIRING_KILLS + 1).unwrap();
    assert_eq!(members(&host), all, "seed {seed}");
}

/// Brings the two together after both were killed: the guest goes on if it was let in, and
/// otherwise gives up and asks again with a new invitation.
fn join_after_all(host: &Device, guest: &Device, name: &str) -> anyhow::Result<()> {
    let was_let_in = {
        let said = host.run_well(&["members"])?;
        let mut members = said.iter().filter(|object| object["type"] == "member");
        members.any(|member| member["name"] == name)
    };
    if was_let_in {
        // The news waits in the host's outbox or on the relay.
        let mut serving = host.start(&["tail"])?;
        let mut joining = guest.start(&["join", "--yes"])?;
        // It may have heard so before it was killed; then no join is waiting.
        let ended = joining.wait()?;
        assert!(ended.success() || ended.code() == Some(9), "{ended:?}");
        serving.kill();
    } else {
        // What was asked under the old invitation is of no use any more.
        let _ = guest.run(&["join", "--cancel"])?;
        let mut inviting = host.start(&["pair", "--accept"])?;
        let invitation = inviting.wait_for("invitation")?;
        let link = invitation["link"].as_str().context("no link")?;
        let mut joining = guest.start(&["join", link, "--yes"])?;
        joining.wait_for("joined")?;
        assert!(joining.wait()?.success());
        assert!(inviting.wait()?.success());
    }
    let said = guest.run_well(&["members"])?;
    assert!(
        said.iter().any(|object| object["name"] == "Host"),
        "{said:?}"
    );
    Ok(())
}

#[test]
fn a_program_that_is_killed_while_it_closes_has_sent_what_it_said() {
    let (seed, relay) = (seed(), RelayProcess::start().unwrap());
    let sender = Device::new("sender", "Sender").unwrap();
    let receiver = Device::new("receiver", "Receiver").unwrap();
    pair(&sender, &receiver, "Two", &relay.address().unwrap()).unwrap();
    let mut queued = Vec::new();
    for number in 0..CLOSING_KILLS {
        let text = number.to_string();
        let mut sending = sender.start(&["send", &text]).unwrap();
        let said = sending.wait_for("queued").unwrap();
        queued.push(said["message_id"].clone());
        // From here on it pushes, hears the answer and closes.
        std::thread::sleep(moment(seed, number, Duration::from_millis(60)));
        sending.kill();
    }
    // What is still in its outbox goes with the next command that reaches the relay.
    sender
        .run_well(&["send", "the last", "--wait", "20"])
        .unwrap();
    let mut reading = receiver.start(&["tail"]).unwrap();
    let mut shown = Vec::new();
    loop {
        let message = reading.wait_for("message").unwrap();
        if message["text"] == "the last" {
            break;
        }
        shown.push(message["message_id"].clone());
    }
    assert_eq!(shown, queued, "seed {seed}: each once and in order");
}
