//! The goals of the relay's speed, each with what was measured in the same run.
//!
//! A ratio is taken within each round, where both sides saw the same minute of the machine,
//! and the median of the rounds counts. Against the peers there are two of them, with and
//! without a connected consumer, and the worse one counts.

use super::cell::Cell;
use super::load::{Load, SIZES, size_name};
use super::run::{GOAL_BYTES, GOAL_DEPTH, Results, median};
use super::system::System;
use super::table::{grid, number};

/// One goal and what came out.
struct Goal {
    text: String,
    floor: Option<f64>,
    aim: Option<f64>,
    is_upper: bool,
    measured: f64,
}

impl Goal {
    /// Something that should be at least this much.
    fn at_least(text: String, floor: f64, aim: f64, measured: f64) -> Self {
        Self {
            text,
            floor: Some(floor),
            aim: Some(aim),
            is_upper: false,
            measured,
        }
    }

    /// Something that should be at most this much.
    fn at_most(text: &str, floor: f64, aim: f64, measured: f64) -> Self {
        Self {
            is_upper: true,
            ..Self::at_least(text.to_owned(), floor, aim, measured)
        }
    }

    fn verdict(&self) -> &'static str {
        let reaches = |bound: f64| {
            if self.is_upper {
                self.measured <= bound
            } else {
                self.measured >= bound
            }
        };
        if self.measured.is_nan() {
            "not measured"
        } else if self.aim.is_some_and(reaches) {
            "aim"
        } else if self.floor.is_some_and(reaches) {
            "ok"
        } else if self.floor.is_none() {
            // Without a floor there is nothing to miss.
            "below aim"
        } else {
            "MISSED"
        }
    }

    fn row(&self) -> Vec<String> {
        let bound =
            |bound: Option<f64>| bound.map_or_else(|| "–".to_owned(), |one| one.to_string());
        vec![
            self.text.clone(),
            bound(self.floor),
            bound(self.aim),
            number(self.measured),
            self.verdict().to_owned(),
        ]
    }
}

/// All goals, as a table.
pub(super) fn render(results: &Results) -> String {
    let mut goals = store_goals(results);
    goals.extend(peer_goals(results));
    goals.extend(sync_goals(results));
    goals.extend(latency_goals(results));
    let rows: Vec<Vec<String>> = goals.iter().map(Goal::row).collect();
    let head = ["goal", "floor", "aim", "measured", ""];
    format!("\n### Goals\n\n{}", grid(&head, &rows))
}

fn at(bytes: usize, in_flight: usize, is_online: bool) -> Load {
    Load {
        bytes,
        in_flight,
        is_online,
    }
}

/// The median over the rounds of how many times as fast one is as the other.
fn ratio(results: &Results, ours: (System, Load), theirs: (System, Load)) -> f64 {
    let cells = |key| results.cells.get(&key).into_iter().flatten();
    let ratios: Vec<f64> = cells(ours)
        .zip(cells(theirs))
        .filter_map(|(ours, theirs)| Some(ours.as_ref()?.per_second / theirs.as_ref()?.per_second))
        .collect();
    median(&ratios)
}

fn store_goals(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    let bounds = [(12.0, 20.0), (5.0, 8.0), (1.4, 2.5)];
    for (bytes, (floor, aim)) in SIZES.into_iter().zip(bounds) {
        let load = at(bytes, GOAL_DEPTH, false);
        let measured = ratio(results, (System::Store, load), (System::OneByOne, load));
        let text = format!("store, put / transaction per push, {}", size_name(bytes));
        goals.push(Goal::at_least(text, floor, aim, measured));
    }
    let bounds = [(0.45, 0.65), (0.4, 0.55), (0.35, 0.5)];
    for (bytes, (floor, aim)) in SIZES.into_iter().zip(bounds) {
        let ours = (System::Store, at(bytes, GOAL_DEPTH, true));
        let log = (System::Log, at(bytes, GOAL_DEPTH, false));
        let text = format!("store, online path / bare log, {}", size_name(bytes));
        goals.push(Goal::at_least(text, floor, aim, ratio(results, ours, log)));
    }
    goals
}

fn peer_goals(results: &Results) -> Vec<Goal> {
    let worse = |ours, theirs| {
        let of = |is_online| {
            let load = at(GOAL_BYTES, GOAL_DEPTH, is_online);
            ratio(results, (ours, load), (theirs, load))
        };
        // `min` would prefer a number to nothing.
        let (online, offline): (f64, f64) = (of(true), of(false));
        if offline < online { offline } else { online }
    };
    let goal = |ours: System, theirs: System, floor, aim| Goal {
        text: format!("{} / {}", ours.name(), theirs.name()),
        floor,
        aim,
        is_upper: false,
        measured: worse(ours, theirs),
    };
    let (relay, fresh) = (System::Relay, System::RelayFresh);
    vec![
        goal(relay, System::Nats, Some(3.0), Some(4.0)),
        goal(relay, System::NatsShared, Some(3.0), Some(4.0)),
        goal(relay, System::Postgres, Some(1.5), Some(2.0)),
        goal(relay, System::RabbitMq, Some(1.0), Some(1.5)),
        goal(relay, System::Redis, Some(0.4), None),
        goal(relay, System::RedisTls, None, Some(1.0)),
        goal(fresh, System::Nats, Some(0.8), Some(1.0)),
        goal(fresh, System::NatsShared, Some(0.8), Some(1.0)),
    ]
}

fn sync_goals(results: &Results) -> Vec<Goal> {
    let bounds = [(1, 1.05, 1.0), (16, 0.2, 0.1), (GOAL_DEPTH, 0.08, 0.03)];
    let goals = bounds.into_iter().map(|(in_flight, floor, aim)| {
        let load = at(GOAL_BYTES, in_flight, true);
        let measured = results.syncs.get(&(System::Relay, load));
        let text = format!("relay, syncs per push with its delete, {in_flight} in flight");
        Goal::at_most(&text, floor, aim, measured.copied().unwrap_or(f64::NAN))
    });
    goals.collect()
}

fn latency_goals(results: &Results) -> Vec<Goal> {
    let in_f = |in_flight, of: fn(&Cell) -> f64| {
        let load = at(GOAL_BYTES, in_flight, true);
        let cells = results.cells.get(&(System::Relay, load));
        let cells = cells.into_iter().flatten().zip(&results.appends);
        let times: Vec<f64> = cells
            .filter_map(|(cell, append)| Some(of(cell.as_ref()?) / append))
            .collect();
        median(&times)
    };
    let p99: fn(&Cell) -> f64 = |cell| cell.deliver.p99;
    // Checkpoints come every few megabytes, so each of these loads sees some.
    let worst = SIZES
        .into_iter()
        .flat_map(|bytes| results.cells(System::Relay, at(bytes, GOAL_DEPTH, true)))
        .map(|cell| cell.confirm.worst / results.append())
        .fold(f64::NAN, f64::max);
    vec![
        Goal::at_most(
            "relay, push → deliver p50, 1 in flight, F",
            10.0,
            5.0,
            in_f(1, |cell| cell.deliver.p50),
        ),
        Goal::at_most(
            "relay, push → deliver p99, 1 in flight, F",
            40.0,
            20.0,
            in_f(1, p99),
        ),
        Goal::at_most(
            "relay, push → deliver p99, 64 in flight, F",
            100.0,
            50.0,
            in_f(GOAL_DEPTH, p99),
        ),
        Goal {
            aim: None,
            ..Goal::at_most(
                "relay, worst acknowledgement of all, 64 in flight, F",
                300.0,
                300.0,
                worst,
            )
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_missed_on_the_wrong_side_of_its_floor_only() {
        let verdict = |measured| Goal::at_least(String::new(), 3.0, 4.0, measured).verdict();
        assert_eq!(verdict(2.9), "MISSED");
        assert_eq!(verdict(3.0), "ok");
        assert_eq!(verdict(4.0), "aim");
        assert_eq!(verdict(f64::NAN), "not measured");
        let verdict = |measured| Goal::at_most("", 1.05, 1.0, measured).verdict();
        assert_eq!(verdict(1.1), "MISSED");
        assert_eq!(verdict(1.0), "aim");
    }
}
