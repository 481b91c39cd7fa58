//! The table at the end: what was promised beside what was measured.

use std::io::{self, Write};
use std::time::Duration;

/// One row per promise, in the order of measuring.
#[derive(Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    goal: String,
    measured: String,
    /// `None` where nothing is promised.
    is_met: Option<bool>,
}

impl Report {
    /// A time that may be at most `goal`.
    pub(crate) fn time(&mut self, name: &str, goal: Duration, measured: Duration) {
        let goal_text = format!("<= {}", shown(goal));
        self.add(name, goal_text, shown(measured), Some(measured <= goal));
    }

    /// A ratio of two times that may be at most `goal`.
    pub(crate) fn ratio(&mut self, name: &str, goal: f64, over: Duration, under: Duration) {
        let ratio = over.as_secs_f64() / under.as_secs_f64();
        let measured = format!("x {ratio:.2}");
        self.add(name, format!("<= x {goal}"), measured, Some(ratio <= goal));
    }

    /// A size that may be at most `goal`, in bytes.
    pub(crate) fn size(&mut self, name: &str, goal: u64, measured: u64) {
        let text = |bytes: u64| format!("{:.1} MiB", bytes as f64 / 1_048_576.0);
        let goal_text = format!("<= {}", text(goal));
        self.add(name, goal_text, text(measured), Some(measured <= goal));
    }

    /// Something that holds or doesn't.
    pub(crate) fn fact(&mut self, name: &str, goal: &str, holds: bool) {
        let measured = if holds { "yes" } else { "no" };
        self.add(name, goal.to_owned(), measured.to_owned(), Some(holds));
    }

    /// A time without a promise.
    pub(crate) fn note(&mut self, name: &str, measured: Duration) {
        self.add(name, String::new(), shown(measured), None);
    }

    pub(crate) fn has_missed(&self) -> bool {
        self.rows.iter().any(|row| row.is_met == Some(false))
    }

    pub(crate) fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "\n{:<58}{:>14}{:>14}", "", "goal", "measured")?;
        for row in &self.rows {
            let verdict = match row.is_met {
                Some(true) => "ok",
                Some(false) => "MISSED",
                None => "",
            };
            let (name, goal, measured) = (&row.name, &row.goal, &row.measured);
            writeln!(out, "{name:<58}{goal:>14}{measured:>14}  {verdict}")?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, goal: String, measured: String, is_met: Option<bool>) {
        self.rows.push(Row {
            name: name.to_owned(),
            goal,
            measured,
            is_met,
        });
    }
}

fn shown(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    if ms >= 1_000.0 {
        format!("{:.2} s", ms / 1_000.0)
    } else {
        format!("{ms:.2} ms")
    }
}
