//! A whole run: rounds in which the queues take turns, then a pass that counts syncs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio_rustls::rustls::ClientConfig;

use super::cell::{Cell, Spread};
use super::certificate::Certificate;
use super::load::{Load, Pace, size_name};
use super::local::worker::{self, WORKER};
use super::options::Options;
use super::system::{Family, Place, Running, System};
use super::{goals, table};

/// Appends before each load, for F.
const APPENDS: usize = 10;
/// Bytes of such an append.
const APPEND_BYTES: usize = 300;
/// The depth that most goals are about.
pub(super) const GOAL_DEPTH: usize = 64;
/// The size that most goals are about.
pub(super) const GOAL_BYTES: usize = 300;
/// The pace at which syncs are counted; the trace slows everything down anyway.
const COUNTING: Pace = Pace {
    warm: Duration::from_millis(100),
    run: Duration::from_millis(300),
};

/// All that was measured.
#[derive(Default)]
pub(super) struct Results {
    /// One cell per round; nothing where a load failed.
    pub(super) cells: BTreeMap<(System, Load), Vec<Option<Cell>>>,
    /// F of each round, in seconds.
    pub(super) appends: Vec<f64>,
    pub(super) syncs: BTreeMap<(System, Load), f64>,
    /// What went wrong.
    pub(super) failures: Vec<String>,
}

/// Runs everything, or the part of a worker.
///
/// # Errors
///
/// Tells what keeps it from measuring anything at all.
pub fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    let mut arguments = std::env::args().skip(1);
    match arguments.next() {
        Some(first) if first == WORKER => runtime.block_on(worker::work(arguments)),
        Some(other) => {
            anyhow::bail!("there are no arguments but settings in the environment: {other}")
        }
        None => runtime.block_on(compare(&Options::read()?)),
    }
}

async fn compare(options: &Options) -> anyhow::Result<()> {
    let begin = Instant::now();
    std::fs::create_dir_all(&options.folder)?;
    let folder = tempfile::Builder::new()
        .prefix("bench-relay-")
        .tempdir_in(options.folder.canonicalize()?)?;
    open_to_all(folder.path())?;
    let certificate = Certificate::of(&options.tools);
    let tls = certificate.client()?;
    let mut place = Place {
        tools: &options.tools,
        folder: folder.path(),
        certificate: &certificate,
        tls: &tls,
        is_traced: false,
    };
    let mut results = Results::default();
    let mut running = start_all(options, &place, &mut results).await?;
    for round in 1..=options.rounds {
        measure_round(options, &place, &mut running, &mut results, round).await?;
    }
    drop(running);
    let traced = folder.path().join("traced");
    std::fs::create_dir(&traced)?;
    open_to_all(&traced)?;
    place.folder = &traced;
    place.is_traced = true;
    count_syncs(options, &place, &mut results).await?;
    let mut report = table::render(options, &results);
    report.push_str(&goals::render(&results));
    say(&format!("took {} s\n", begin.elapsed().as_secs()))?;
    let mut out = std::io::stdout().lock();
    out.write_all(report.as_bytes())?;
    out.flush()?;
    if let Some(path) = &options.markdown {
        std::fs::write(path, report).context("the Markdown can't be written")?;
    }
    Ok(())
}

/// PostgreSQL runs as a user of its own and must find its data.
fn open_to_all(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

fn families(options: &Options) -> Vec<Family> {
    let mut families: Vec<Family> = options.systems.iter().map(|one| one.family()).collect();
    families.sort();
    families.dedup();
    families
}

async fn start_all(
    options: &Options,
    place: &Place<'_>,
    results: &mut Results,
) -> anyhow::Result<BTreeMap<Family, Running>> {
    let mut running = BTreeMap::new();
    for family in families(options) {
        say(&format!("starting {family:?}\n"))?;
        match Running::start(family, place).await {
            Ok(started) => {
                running.insert(family, started);
            }
            Err(error) => results.fail(&format!("{family:?}: {error:#}"))?,
        }
    }
    Ok(running)
}

async fn measure_round(
    options: &Options,
    place: &Place<'_>,
    running: &mut BTreeMap<Family, Running>,
    results: &mut Results,
    round: usize,
) -> anyhow::Result<()> {
    let mut appends = Vec::new();
    for (system, load) in plan(options) {
        let Some(server) = running.get_mut(&system.family()) else {
            continue;
        };
        append(place.folder, &mut appends)?;
        say(&format!(
            "round {round}/{}: {}",
            options.rounds,
            title(system, load)
        ))?;
        let cell = server.measure(system, load, options.pace, place.tls).await;
        match &cell {
            Ok(cell) => say(&format!("  {:.0}/s\n", cell.per_second))?,
            Err(error) => results.fail(&format!("{}: {error:#}", title(system, load)))?,
        }
        let cells = results.cells.entry((system, load)).or_default();
        cells.push(cell.ok());
    }
    results.appends.push(Spread::of(&mut appends).p50);
    Ok(())
}

fn title(system: System, load: Load) -> String {
    let size = size_name(load.bytes);
    let nobody = if load.is_online || !system.delivers() {
        ""
    } else {
        ", nobody receives"
    };
    format!(
        "{size}, {} in flight, {}{nobody}",
        load.in_flight,
        system.name()
    )
}

/// Every load with every queue; the queues take turns within each load.
fn plan(options: &Options) -> Vec<(System, Load)> {
    let mut plan = Vec::new();
    for bytes in &options.sizes {
        for in_flight in &options.depths {
            let load = |is_online| Load {
                bytes: *bytes,
                in_flight: *in_flight,
                is_online,
            };
            for system in &options.systems {
                plan.push((*system, load(system.delivers())));
            }
            let wanted = |system: &&System| {
                system.delivers() && (**system == System::Store || *bytes == GOAL_BYTES)
            };
            if *in_flight == GOAL_DEPTH {
                let offline = options.systems.iter().filter(wanted);
                plan.extend(offline.map(|system| (*system, load(false))));
            }
        }
    }
    plan
}

/// Adds to F: what any durable write costs at this moment.
fn append(folder: &Path, times: &mut Vec<Duration>) -> std::io::Result<()> {
    let path = folder.join("append");
    let mut file = File::options().create(true).append(true).open(path)?;
    for _ in 0..APPENDS {
        let begin = Instant::now();
        file.write_all(&[0x5a; APPEND_BYTES])?;
        file.sync_data()?;
        times.push(begin.elapsed());
    }
    Ok(())
}

async fn count_syncs(
    options: &Options,
    place: &Place<'_>,
    results: &mut Results,
) -> anyhow::Result<()> {
    for family in families(options) {
        say(&format!("counting syncs of {family:?}\n"))?;
        let mut server = match Running::start(family, place).await {
            Ok(server) => server,
            Err(error) => {
                results.fail(&format!("{family:?}, traced: {error:#}"))?;
                continue;
            }
        };
        let rows = plan(options);
        for (system, load) in rows {
            if system.family() != family || system.is_secured() {
                continue;
            }
            match measure_traced(&mut server, system, load, place.tls).await {
                Ok(syncs) => {
                    results.syncs.insert((system, load), syncs);
                }
                Err(error) => {
                    results.fail(&format!("{}, traced: {error:#}", title(system, load)))?;
                }
            }
        }
    }
    Ok(())
}

async fn measure_traced(
    server: &mut Running,
    system: System,
    load: Load,
    tls: &Arc<ClientConfig>,
) -> anyhow::Result<f64> {
    Ok(server.measure(system, load, COUNTING, tls).await?.syncs)
}

impl Results {
    fn fail(&mut self, text: &str) -> std::io::Result<()> {
        say(&format!("  failed: {text}\n"))?;
        self.failures.push(text.to_owned());
        Ok(())
    }

    /// F over all rounds, in seconds.
    pub(super) fn append(&self) -> f64 {
        median(&self.appends)
    }

    /// The cells of all rounds; those that failed are left out.
    pub(super) fn cells(&self, system: System, load: Load) -> Vec<Cell> {
        let cells = self.cells.get(&(system, load)).into_iter().flatten();
        cells.copied().flatten().collect()
    }
}

/// The middle of what there is, or half way between the two in the middle.
pub(super) fn median(numbers: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = numbers
        .iter()
        .copied()
        .filter(|one| !one.is_nan())
        .collect();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    f64::midpoint(at(sorted.len().saturating_sub(1) / 2), at(sorted.len() / 2))
}

fn say(text: &str) -> std::io::Result<()> {
    let mut errors = std::io::stderr().lock();
    errors.write_all(text.as_bytes())?;
    errors.flush()
}
