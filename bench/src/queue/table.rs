//! The table: every load, ours beside each peer.

use super::cell::Cell;
use super::load::{Load, size_name};
use super::options::Options;
use super::run::{GOAL_BYTES, GOAL_DEPTH, Results, median};
use super::system::System;

const HEAD: [&str; 9] = [
    "",
    "messages/s",
    "ack p50",
    "ack p99",
    "deliver p50",
    "deliver p99",
    "CPU µs",
    "syncs",
    "RSS MiB",
];

/// Everything that was measured, as Markdown that reads well as text.
pub(super) fn render(options: &Options, results: &Results) -> String {
    let mut text = format!(
        "F = {:.3} ms, the median of a 300 B append with fdatasync. Medians of {} rounds. \
         Latencies in ms from publication; CPU time of the server and syncs per message.\n",
        results.append() * 1_000.0,
        options.rounds,
    );
    for bytes in &options.sizes {
        for in_flight in &options.depths {
            let load = |is_online| Load {
                bytes: *bytes,
                in_flight: *in_flight,
                is_online,
            };
            let title = format!("{}, {in_flight} in flight", size_name(*bytes));
            text.push_str(&part(&title, results, |system| load(system.delivers())));
        }
    }
    let offline = Load {
        bytes: GOAL_BYTES,
        in_flight: GOAL_DEPTH,
        is_online: false,
    };
    let title = format!(
        "{}, {GOAL_DEPTH} in flight, nobody connected to receive",
        size_name(GOAL_BYTES)
    );
    text.push_str(&part(&title, results, |_| offline));
    if !results.failures.is_empty() {
        text.push_str("\nFailed:\n\n");
        for failure in &results.failures {
            text.push_str(&format!("- {failure}\n"));
        }
    }
    text
}

fn part(title: &str, results: &Results, load: impl Fn(System) -> Load) -> String {
    let mut rows = Vec::new();
    for system in System::ALL {
        let load = load(system);
        let cells = results.cells(system, load);
        if !cells.is_empty() {
            let syncs = results.syncs.get(&(system, load)).copied();
            rows.push(row(system, &cells, syncs));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("\n### {title}\n\n{}", grid(&HEAD, &rows))
}

fn row(system: System, cells: &[Cell], syncs: Option<f64>) -> Vec<String> {
    let middle = |of: fn(&Cell) -> f64| median(&cells.iter().map(of).collect::<Vec<f64>>());
    let ms = |seconds: f64| number(seconds * 1_000.0);
    vec![
        system.name().to_owned(),
        format!("{:.0}", middle(|cell| cell.per_second)),
        ms(middle(|cell| cell.confirm.p50)),
        ms(middle(|cell| cell.confirm.p99)),
        ms(middle(|cell| cell.deliver.p50)),
        ms(middle(|cell| cell.deliver.p99)),
        number(middle(|cell| cell.cpu) * 1e6),
        syncs.map_or_else(|| "–".to_owned(), |syncs| format!("{syncs:.3}")),
        format!("{:.0}", middle(|cell| cell.resident_bytes) / 1_048_576.0),
    ]
}

/// Three digits that matter, or a dash for what wasn't measured.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "–".to_owned(),
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A table in Markdown with its columns aligned.
pub(super) fn grid(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let cells = cells.map(|cell| cell.chars().count());
        cells
            .chain(head.get(column).map(|cell| cell.chars().count()))
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut text = String::from("|");
        for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            if column == 0 {
                text.push_str(&format!(" {cell:<width$} |"));
            } else {
                text.push_str(&format!(" {cell:>width$} |"));
            }
        }
        text.push('\n');
        text
    };
    let mut text = line(head.to_vec());
    text.push('|');
    for (column, width) in widths.iter().enumerate() {
        let dashes = "-".repeat(width + 1);
        let end = if column == 0 { '-' } else { ':' };
        text.push_str(&format!("{dashes}{end}|"));
    }
    text.push('\n');
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["long name".to_owned(), "1".to_owned()]];
        let expected = "|           | n |\n|-----------|--:|\n| long name | 1 |\n";
        assert_eq!(grid(&["", "n"], &rows), expected);
    }
}
