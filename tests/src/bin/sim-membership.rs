//! `make sim-membership`: stress histories of membership alone, a line per scenario.
//!
//! `--seconds N` runs about that long, `--first N` begins at a seed of one's own, `--only ID`
//! runs one scenario, `--seed ID-N` runs one history and prints what happened in it. Every line
//! tells what the engine's rule came to and, beside it, what the published one did; a history
//! that broke the engine's is named by its seed. A goal that is a rate is met only if the 95 %
//! interval lies below it; if it lies above, or anything breaks that never may, it fails.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use sealpost_tests::membership_simulation::{
    Account, Fault, Rule, SCENARIOS, Scenario, Standing, run, run_told,
};
use sealpost_tests::terminal::say;

/// The share of a scenario's time that the published rule gets: its rates are no small ones.
const PUBLISHED_SHARE: u32 = 12;

fn main() -> ExitCode {
    match simulate() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("The simulation can't run: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// What the options ask for.
struct Options {
    seconds: u64,
    first: u64,
    only: Option<&'static Scenario>,
    single: Option<(&'static Scenario, u64)>,
}

fn options() -> anyhow::Result<Options> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut options = Options {
        seconds: 60,
        // Other histories each time; a seed that broke the rule is printed.
        first: now << 20,
        only: None,
        single: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().context("an option needs a value")?;
        match word.as_str() {
            "--seconds" => options.seconds = value.parse()?,
            "--first" => options.first = value.parse()?,
            // A make variable that isn't set.
            "--only" | "--seed" if value.is_empty() => {}
            "--only" => options.only = Some(scenario(&value)?),
            "--seed" => {
                let (id, seed) = value
                    .rsplit_once('-')
                    .context("a seed is written id-number")?;
                options.single = Some((scenario(id)?, seed.parse()?));
            }
            _ => bail!("there is no option {word}"),
        }
    }
    Ok(options)
}

fn scenario(id: &str) -> anyhow::Result<&'static Scenario> {
    Scenario::find(id).with_context(|| format!("there is no scenario {id}"))
}

/// Runs what is asked for; returns whether no goal was missed.
fn simulate() -> anyhow::Result<bool> {
    let options = options()?;
    if let Some((scenario, seed)) = options.single {
        return Ok(tell(scenario, seed));
    }
    let chosen = SCENARIOS.iter();
    let chosen: Vec<_> = chosen
        .filter(|scenario| options.only.is_none_or(|only| only.id == scenario.id))
        .collect();
    let weights: u32 = chosen.iter().map(|scenario| scenario.weight).sum();
    let budget = Duration::from_secs(options.seconds);
    let mut is_none_missed = true;
    for scenario in chosen {
        let time = budget * scenario.weight / weights;
        is_none_missed &= compare(scenario, options.first, time);
    }
    Ok(is_none_missed)
}

/// Runs one history under the engine's rule and prints it.
fn tell(scenario: &Scenario, seed: u64) -> bool {
    let history = run_told(scenario, Rule::Product, seed);
    history.journal.iter().for_each(|line| say(line));
    say(&format!("{}-{seed}: {:?}", scenario.id, history.verdict));
    let mut account = Account::default();
    account.count(scenario, seed, &history);
    account.violations == 0
}

/// Runs one scenario under both rules and prints its line.
fn compare(scenario: &Scenario, first: u64, time: Duration) -> bool {
    let of_published = time / PUBLISHED_SHARE;
    let product = run_for(scenario, Rule::Product, first, time - of_published);
    let published = run_for(scenario, Rule::Published, first, of_published);
    let standing = product.standing(scenario.goal);
    say(&format!("{}: {:?}", scenario.title, scenario.goal));
    say(&format!("    engine: {}", product.line(scenario)));
    say(&format!("    published rule: {}", published.line(scenario)));
    say(match standing {
        Standing::Met => "    met",
        Standing::Missed => "    GOAL MISSED",
        Standing::Untold => "    too few histories to tell",
    });
    for seed in &product.seeds {
        say(&format!(
            "    make sim-membership SEED={}-{seed}",
            scenario.id
        ));
    }
    standing != Standing::Missed
}

/// Runs histories on every core until the time is up.
fn run_for(scenario: &Scenario, rule: Rule, first: u64, time: Duration) -> Account {
    let end = Instant::now() + time;
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut total = Account::default();
    std::thread::scope(|scope| {
        let run_some = || {
            let mut account = Account::default();
            while Instant::now() < end {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                account.count(scenario, seed, &run(scenario, rule, seed, Fault::None));
            }
            account
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(run_some)).collect();
        for thread in threads {
            match thread.join() {
                Ok(account) => total.add(account),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    total
}
