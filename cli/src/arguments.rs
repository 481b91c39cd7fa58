//! What can be typed after `sealpost`.
//!
//! Owns names, defaults and help texts. Checks only what the shape of the command line
//! says; whether a value can be used is decided where it is used, with a text of its own.

mod link;
mod wormhole;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sealpost_engine::core::timing::PAIRING_WINDOW_MS;
use sealpost_protocol::limit;

pub(crate) use self::link::{
    Link, LinkJoin, LinkNew, LinkOutbox, LinkRename, LinkSend, LinkTail, LinkUnpair, OnLink,
};
pub(crate) use self::wormhole::{AtServer, WormholeCommand, WormholeReceive, WormholeSend};

/// How long an invitation is good for, as in the app.
const WINDOW_SECONDS: u64 = PAIRING_WINDOW_MS / 1_000;

/// Exit codes, shown at the end of `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  something failed that has no code of its own
  2  the command line was not understood
  3  what was given can't be used: an invitation, an address, a text
  4  the answer was no, or nobody was there to answer
  5  the profile is missing, or another program has it open
  6  the data can't be read or written
  7  the keys can't be reached
  8  the relay can't be used: its key, its port, its version
  9  the group can't do this now
 10  waited in vain
130  interrupted

With --json, each thing is one object on one line of the output, with a \"type\"; errors
are objects of type \"error\" on the error output.";

/// Private messages between a person's own devices and small groups.
#[derive(Debug, Parser)]
#[command(name = "sealpost", version = version(), after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Folder with the data of all profiles.
    #[arg(long, global = true, value_name = "DIR", env = "SEALPOST_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Profile to use: a device of its own, with its own keys and groups.
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "SEALPOST_PROFILE",
        default_value = "cli"
    )]
    pub(crate) profile: String,
    /// Print one JSON object per line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to log on the error output; what fails is told without it.
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        env = "SEALPOST_LOG",
        default_value = "off"
    )]
    pub(crate) log_level: LogLevel,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Nothing.
    Off,
    /// Faults of the program and lost data.
    Error,
    /// What is unusual but goes on.
    Warn,
    /// Starts, stops, connections.
    Info,
    /// Decisions.
    Debug,
    /// Every step.
    Trace,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make the profile: this device's name and the place of its keys.
    Init(Init),
    /// Make, list, rename or destroy a group.
    #[command(subcommand)]
    Group(Group),
    /// Invite a device: print an invitation and answer requests until one is accepted.
    Pair(Pair),
    /// Join a group by an invitation, or go on with a join that is waiting.
    Join(Join),
    /// Send a text to the group.
    Send(Send),
    /// Print stored messages, then new ones as they come.
    Tail(Tail),
    /// Print stored messages and end.
    Messages(Messages),
    /// Print the members of the group, or who came and went.
    Members(Members),
    /// Print a code for each other member, to compare with that device at any time.
    Compare(InGroup),
    /// Remove a device from the group, for everybody.
    Remove(Remove),
    /// Leave the group, or go on with leaving it.
    Leave(Confirmed),
    /// Stop waiting for the relay while leaving a group: the others are not told.
    Forget(Confirmed),
    /// Print where this device stands in its groups, and how their relays answer.
    Status(InGroup),
    /// Print what was not delivered as promised, or dismiss it.
    Issues(Issues),
    /// Write all groups with their messages into one file under a passphrase; no keys.
    Backup(Backup),
    /// Bring the groups of a backup back, beside those that are here.
    Restore(Restore),
    /// Print what can be read of the messages, also of a damaged group; changes nothing.
    Export(InGroup),
    /// Pair phones and other devices by a code, and talk to them; no group is needed.
    #[command(subcommand)]
    Link(Link),
    /// Hand a text over by a code, to or from any magic-wormhole client.
    #[command(subcommand)]
    Wormhole(WormholeCommand),
    /// Run a relay in this process, or test one.
    #[command(subcommand)]
    Relay(Relay),
}

/// Arguments of `init`.
#[derive(Args, Debug)]
pub(crate) struct Init {
    /// Name that the others see; this computer's name when left out.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Where the keys are kept; a keychain where there is one, else a key file.
    #[arg(long, value_name = "PLACE")]
    pub(crate) key_store: Option<KeyStoreChoice>,
}

/// Where keys are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyStoreChoice {
    /// The keychain of the operating system.
    Keychain,
    /// A key file behind a passphrase (asked for, or from SEALPOST_PASSPHRASE).
    Passphrase,
    /// A key file that only its owner can read, with no passphrase.
    File,
}

/// Arguments of `group`.
#[derive(Debug, Subcommand)]
pub(crate) enum Group {
    /// Make a group on a relay.
    New(GroupNew),
    /// List the groups of this profile.
    List,
    /// Give a group another name, for everybody.
    Rename(GroupRename),
    /// End a group for everybody, or go on with ending it.
    Destroy(Confirmed),
}

/// Arguments of `group rename`.
#[derive(Args, Debug)]
pub(crate) struct GroupRename {
    /// The new name.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) group: InGroup,
}

/// Arguments of `group new`.
#[derive(Args, Debug)]
pub(crate) struct GroupNew {
    /// Name of the group.
    pub(crate) name: String,
    /// Address of the relay, as `sealpost-relay address` prints it.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) relay: String,
}

/// The group that a command is about.
#[derive(Args, Clone, Debug)]
pub(crate) struct InGroup {
    /// Group, by its name or by its number in `group list`; needed when there are several.
    #[arg(long)]
    pub(crate) group: Option<String>,
}

/// Arguments of `members`.
#[derive(Args, Debug)]
pub(crate) struct Members {
    #[command(flatten)]
    pub(crate) group: InGroup,
    /// Print who came and went, newest first; it stays when the group has ended.
    #[arg(long)]
    pub(crate) history: bool,
    /// Start before the line at this position; with the newest when left out.
    #[arg(long, value_name = "POSITION", requires = "history")]
    pub(crate) before: Option<u64>,
    /// Print at most so many lines; all of them when left out.
    #[arg(long, value_name = "LINES", requires = "history")]
    pub(crate) limit: Option<usize>,
}

/// Arguments of `remove`.
#[derive(Args, Debug)]
pub(crate) struct Remove {
    /// The member, by its id or its name in `members`.
    pub(crate) member: String,
    #[command(flatten)]
    pub(crate) confirmed: Confirmed,
}

/// A group, and whether to ask before something that can't be undone.
#[derive(Args, Debug)]
pub(crate) struct Confirmed {
    #[command(flatten)]
    pub(crate) group: InGroup,
    /// Do it without asking: for scripts.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Arguments of `pair`.
#[derive(Args, Debug)]
pub(crate) struct Pair {
    #[command(flatten)]
    pub(crate) group: InGroup,
    /// Accept the first device that asks, without comparing words: for scripts.
    #[arg(long)]
    pub(crate) accept: bool,
    /// Draw no QR code.
    #[arg(long)]
    pub(crate) no_qr: bool,
    /// Print a short code, too, that can be read out and typed on the other device.
    #[arg(long)]
    pub(crate) code: bool,
    /// Web door at which the code is good; http://HOST:7703 of the group's relay when left out.
    #[arg(long, value_name = "URL", requires = "code")]
    pub(crate) web: Option<String>,
    /// How long the invitation is good for, at most 600 seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = WINDOW_SECONDS,
          value_parser = clap::value_parser!(u64).range(1..=WINDOW_SECONDS))]
    pub(crate) good_for: u64,
    /// Cancel the invitation that a running `pair` of this profile shows.
    #[arg(long, conflicts_with_all = ["group", "accept", "no_qr", "code", "good_for"])]
    pub(crate) cancel: bool,
}

/// Arguments of `join`.
#[derive(Args, Debug)]
pub(crate) struct Join {
    /// Invitation, pairing token or typed code; left out, the join that is waiting goes on.
    pub(crate) invitation: Option<String>,
    /// Address of the relay, where the code names none.
    #[arg(long, value_name = "ADDRESS", requires = "invitation")]
    pub(crate) relay: Option<String>,
    /// Web door of the relay that a typed code is good at: http://HOST:PORT or https://HOST.
    #[arg(
        long,
        value_name = "URL",
        requires = "invitation",
        env = "SEALPOST_WEB_DOOR"
    )]
    pub(crate) web: Option<String>,
    /// Which waiting join to go on with, by its number in `group list`.
    #[arg(long, conflicts_with = "invitation")]
    pub(crate) group: Option<String>,
    /// Take the relay and the four words without asking: for scripts.
    #[arg(long)]
    pub(crate) yes: bool,
    /// End once the request is stored, without waiting to be admitted.
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Give up the join that is waiting; leaves the group when it has led into one.
    #[arg(long, conflicts_with_all = ["invitation", "relay", "yes", "no_wait"])]
    pub(crate) cancel: bool,
}

/// Arguments of `send`.
#[derive(Args, Debug)]
pub(crate) struct Send {
    /// The text; `-` reads it from the input.
    pub(crate) text: String,
    #[command(flatten)]
    pub(crate) group: InGroup,
    /// Wait up to this many seconds for the relay to have it, and fail if it hasn't.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u32>,
}

/// Arguments of `tail`.
#[derive(Args, Debug)]
pub(crate) struct Tail {
    #[command(flatten)]
    pub(crate) group: InGroup,
    /// Start after the message at this position; all of them when left out.
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    pub(crate) after: u64,
    /// Send each line of the input as a text.
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Print the list of members too, now and whenever it changes.
    #[arg(long)]
    pub(crate) members: bool,
}

/// Arguments of `messages`.
#[derive(Args, Debug)]
pub(crate) struct Messages {
    #[command(flatten)]
    pub(crate) group: InGroup,
    /// Start after the message at this position; all of them when left out.
    #[arg(long, value_name = "POSITION", default_value_t = 0)]
    pub(crate) after: u64,
}

/// Arguments of `issues`.
#[derive(Args, Debug)]
pub(crate) struct Issues {
    /// Group, by its name or by its number in `group list`; needed when there are several.
    #[arg(long, global = true)]
    pub(crate) group: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<IssuesCommand>,
}

/// What else to do about delivery issues.
#[derive(Debug, Subcommand)]
pub(crate) enum IssuesCommand {
    /// Take an issue off the list, or all of them.
    Dismiss {
        /// Its number in `issues`.
        #[arg(required_unless_present = "all")]
        id: Option<u64>,
        /// All that are listed.
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
}

/// Arguments of `backup`.
#[derive(Args, Debug)]
pub(crate) struct Backup {
    /// File to write, in place of an earlier one.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: BackupPassphrase,
}

/// Arguments of `restore`.
#[derive(Args, Debug)]
pub(crate) struct Restore {
    /// File that `backup` wrote.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) passphrase: BackupPassphrase,
}

/// Where the passphrase of a backup comes from.
#[derive(Args, Debug)]
pub(crate) struct BackupPassphrase {
    /// File whose first line is the passphrase of the backup, `-` for the input; asked for, or
    /// from SEALPOST_BACKUP_PASSPHRASE, when left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
}

/// Arguments of `relay`.
#[derive(Debug, Subcommand)]
pub(crate) enum Relay {
    /// Run until interrupted.
    Run(RelayRun),
    /// Test a relay step by step, with keys made for the moment.
    Test(RelayTest),
}

/// Arguments of `relay test`.
#[derive(Args, Debug)]
pub(crate) struct RelayTest {
    /// Address of the relay; that of the group when left out.
    pub(crate) address: Option<String>,
    /// Group whose relay is tested, by its name or by its number in `group list`.
    #[arg(long, conflicts_with = "address")]
    pub(crate) group: Option<String>,
}

/// Arguments of `relay run`.
#[derive(Args, Debug)]
pub(crate) struct RelayRun {
    /// Host name or address that other devices use; this computer's name when left out.
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// Port for devices that receive; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = limit::RECEIVE_PORT)]
    pub(crate) receive_port: u16,
    /// Port for devices that send; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = limit::PUSH_PORT)]
    pub(crate) push_port: u16,
    /// Port for health checks; none when left out.
    #[arg(long, value_name = "PORT")]
    pub(crate) health_port: Option<u16>,
    /// Port for links to phones and other paired devices; 0 takes a free one, none when left
    /// out.
    #[arg(long, value_name = "PORT")]
    pub(crate) web_port: Option<u16>,
    /// Serve the page for phones too, without TLS: only on a network that you trust.
    #[arg(long, requires = "web_port")]
    pub(crate) web_page: bool,
}

/// The version of the program and of what it speaks.
fn version() -> String {
    format!(
        "{} (Transport {}, End-to-End {})",
        env!("CARGO_PKG_VERSION"),
        limit::TRANSPORT_VERSION,
        limit::END_TO_END_VERSION
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn global_flags_stand_before_or_after_the_command() {
        let before = Arguments::try_parse_from(["sealpost", "--json", "members"]).unwrap();
        let after = Arguments::try_parse_from(["sealpost", "members", "--json"]).unwrap();
        assert!(before.global.json && after.global.json);
        assert_eq!(before.global.profile, "cli");
    }

    #[test]
    fn cancelling_a_join_takes_nothing_else() {
        assert!(Arguments::try_parse_from(["sealpost", "join", "--cancel"]).is_ok());
        assert!(Arguments::try_parse_from(["sealpost", "join", "x", "--cancel"]).is_err());
        let one_of_several = ["sealpost", "join", "--cancel", "--group", "2"];
        assert!(Arguments::try_parse_from(one_of_several).is_ok());
    }

    #[test]
    fn an_invitation_is_good_for_ten_minutes_at_most() {
        let good_for = |given: &[&str]| {
            let all = ["sealpost", "pair"].iter().chain(given);
            Arguments::try_parse_from(all).map(|arguments| match arguments.command {
                Command::Pair(pair) => pair.good_for,
                _ => 0,
            })
        };
        assert_eq!(good_for(&[]).unwrap(), 600);
        assert_eq!(good_for(&["--good-for", "20"]).unwrap(), 20);
        for wrong in ["0", "601", "-1", "x"] {
            assert!(good_for(&["--good-for", wrong]).is_err(), "{wrong}");
        }
        assert!(good_for(&["--cancel", "--accept"]).is_err());
    }

    #[test]
    fn a_relay_without_an_invitation_is_refused_and_not_ignored() {
        assert!(Arguments::try_parse_from(["sealpost", "join", "--relay", "x"]).is_err());
        assert!(Arguments::try_parse_from(["sealpost", "join", "i", "--relay", "x"]).is_ok());
    }
}
