//! Hosts over time as a heat map: darker cells mean that the slowest percent of database reads took
//! longer.

use std::fmt::Write as _;

use record::{IntervalRow, Phase, Series};

use super::{FleetSheet, FleetSheetHost};
use crate::document::Picture;
use crate::html::escape;

/// Maximum number of time columns; in longer runs each shows its worst sample.
const COLUMNS: usize = 240;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 120.0;
const ROW: f64 = 18.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;

/// Upper bounds of the shades: the 99th percentile of reads in milliseconds.
const SHADES: [f64; 4] = [5.0, 10.0, 20.0, 50.0];
const CLASSES: [&str; 5] = ["heat-1", "heat-2", "heat-3", "heat-4", "heat-5"];
const MEANING: [&str; 5] = ["reads, p99 to 5 ms", "to 10 ms", "to 20 ms", "to 50 ms", "longer"];

pub(super) fn picture(sheet: &FleetSheet<'_>) -> Picture {
    let (from, to) = span(sheet);
    let height = TOP + ROW * sheet.hosts.len() as f64 + BOTTOM;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" \
         aria-label=\"Reads of every host over time\">"
    );
    let mut paths = CLASSES.map(|_| String::new());
    for (place, host) in sheet.hosts.iter().enumerate() {
        let top = TOP + ROW * place as f64;
        let name = escape(host.name);
        let _ = write!(svg, "<text x=\"0\" y=\"{:.0}\">{name}</text>", top + ROW - 5.0);
        for (column, shade) in shades(host, (from, to)).into_iter().enumerate() {
            let Some(shade) = shade else { continue };
            let width = (WIDTH - LEFT) / COLUMNS as f64;
            let (left, rest) = (LEFT + width * column as f64, ROW - 2.0);
            let _ = write!(paths[shade], "M{left:.1} {top:.0}h{width:.1}v{rest:.0}h-{width:.1}z");
        }
    }
    svg.push_str("<g class=\"heat\">");
    for (path, class) in paths.iter().zip(CLASSES).filter(|(path, _)| !path.is_empty()) {
        let _ = write!(svg, "<path class=\"ink-read {class}\" d=\"{path}\"/>");
    }
    svg.push_str("</g>");
    marks(sheet, (from, to), height, &mut svg);
    svg.push_str("</svg>");
    let legend = CLASSES.into_iter().zip(MEANING.map(str::to_owned)).collect();
    Picture::wide("Reads of every host over time".to_owned(), svg, legend)
}

/// Draws lines at the start of stages and events.
fn marks(sheet: &FleetSheet<'_>, (from, to): (f64, f64), height: f64, svg: &mut String) {
    for (at, text) in sheet.marks.iter().filter(|(at, _)| (from..=to).contains(at)) {
        let x = LEFT + (WIDTH - LEFT) * (at - from) / (to - from);
        let end = height - BOTTOM;
        let _ = write!(
            svg,
            "<g><title>{}</title>\
             <path class=\"ink-tail line\" d=\"M{x:.1} {TOP:.0}V{end:.0}\"/></g>",
            escape(text)
        );
    }
    let label = height - 5.0;
    let _ = write!(
        svg,
        "<text x=\"{LEFT:.0}\" y=\"{label:.0}\">{from:.0} s</text>\
         <text x=\"{WIDTH:.0}\" y=\"{label:.0}\" text-anchor=\"end\">{to:.0} s</text>"
    );
}

fn measured<'a>(host: &FleetSheetHost<'a>) -> impl Iterator<Item = &'a IntervalRow> {
    host.record.into_iter().flat_map(|record| record.intervals_of(Phase::Measure))
}

/// Start and end of all measurements, in seconds after the start of the fleet run.
fn span(sheet: &FleetSheet<'_>) -> (f64, f64) {
    let ends = sheet.hosts.iter().flat_map(|host| {
        measured(host)
            .flat_map(move |row| [row.from_ns, row.to_ns].map(|at| at as f64 / 1e9 + host.begins))
    });
    let (from, to) = ends.fold((f64::MAX, f64::MIN), |(from, to), at| (from.min(at), to.max(at)));
    if from < to { (from, to) } else { (0.0, 1.0) }
}

/// The shade of each time column; `None` for a column without reads.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 0 to 1 of a few columns"
)]
fn shades(host: &FleetSheetHost<'_>, (from, to): (f64, f64)) -> Vec<Option<usize>> {
    let mut worst: Vec<Option<u64>> = vec![None; COLUMNS];
    for row in measured(host) {
        let Some(reads) = row.series.get(&Series::DatabaseRead) else { continue };
        let [first, end] = [row.from_ns, row.to_ns].map(|ns| {
            let share = (ns as f64 / 1e9 + host.begins - from) / (to - from);
            ((share * COLUMNS as f64) as usize).min(COLUMNS)
        });
        let first = first.min(COLUMNS - 1);
        let end = end.max(first + 1);
        for cell in &mut worst[first..end] {
            *cell = (*cell).max(Some(reads.latency.p99_ns));
        }
    }
    worst.into_iter().map(|of| of.map(shade)).collect()
}

fn shade(p99_ns: u64) -> usize {
    let p99 = p99_ns as f64 / 1e6;
    SHADES.partition_point(|&end| end < p99)
}
