//! The one table: what was measured beside what is wanted.

use std::io::{self, Write};

/// What a value has to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// Printed and not judged.
    None,
}

#[derive(Debug)]
struct Row {
    what: &'static str,
    value: f64,
    unit: &'static str,
    goal: Goal,
    aim: Option<f64>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
}

impl Table {
    pub(super) fn add(&mut self, what: &'static str, value: f64, unit: &'static str, goal: Goal) {
        let aim = None;
        self.rows.push(Row {
            what,
            value,
            unit,
            goal,
            aim,
        });
    }

    /// The same with a value that would be better still.
    pub(super) fn aim(&mut self, aim: f64) {
        if let Some(row) = self.rows.last_mut() {
            row.aim = Some(aim);
        }
    }

    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let heads = ("", "measured", "goal", "aim", "");
        let (what, value, goal, aim, verdict) = heads;
        writeln!(out, "{what:<58} {value:>14} {goal:>16} {aim:>6} {verdict}")?;
        for row in &self.rows {
            let value = format!("{} {}", number(row.value), row.unit);
            let aim = row.aim.map(number).unwrap_or_default();
            let (goal, verdict) = row.judge();
            let what = row.what;
            writeln!(out, "{what:<58} {value:>14} {goal:>16} {aim:>6} {verdict}")?;
        }
        Ok(())
    }
}

impl Row {
    fn judge(&self) -> (String, &'static str) {
        let (sign, bound, is_met) = match self.goal {
            Goal::AtMost(bound) => ("<=", bound, self.value <= bound),
            Goal::AtLeast(bound) => (">=", bound, self.value >= bound),
            Goal::None => return (String::new(), ""),
        };
        let goal = format!("{sign} {} {}", number(bound), self.unit);
        (goal, if is_met { "ok" } else { "missed" })
    }
}

/// Two decimals where they say something.
fn number(value: f64) -> String {
    if value.abs() < 100.0 && value.fract() != 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_goal_is_said() {
        let mut table = Table::default();
        table.add("memory", 5.0, "KiB", Goal::AtMost(4.0));
        table.add("rate", 1_300.4, "/s", Goal::AtLeast(1_200.0));
        table.add("peak", 2.5, "MiB", Goal::None);
        let mut out = Vec::new();
        table.print(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let ends: Vec<_> = text.lines().skip(1).map(str::trim_end).collect();
        assert!(ends.first().unwrap().ends_with("<= 4 KiB        missed"));
        assert!(ends.get(1).unwrap().ends_with(">= 1200 /s        ok"));
        assert!(ends.get(2).unwrap().ends_with("2.50 MiB"));
    }
}
