//! Latency distribution over time as areas that are darker the more requests they hold. It shows
//! the few slow requests among many fast ones, which means and percentiles hide.

use std::fmt::Write as _;

use record::LatencySpread;

use super::Ink;
use super::scale::Scale;

/// Factor between consecutive rows, also used below the first and above the last bound.
const STEP: f64 = 1.584_893;

/// Upper bounds of the shades, as a percentage of the requests in a time slot; the last shade has
/// none.
const SHADES: [f64; 4] = [0.1, 1.0, 5.0, 20.0];

/// Classes of the page's style for the shades.
const CLASSES: [&str; 5] = ["heat-1", "heat-2", "heat-3", "heat-4", "heat-5"];

/// The requests of one kind over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeatMap {
    /// Columns in order of time, with counts as in a [`LatencySpread`].
    pub columns: Vec<HeatColumn>,
    /// The colour.
    pub ink: Option<Ink>,
}

/// Requests of one time slot by latency.
#[derive(Clone, Debug)]
pub(crate) struct HeatColumn {
    /// Start of the slot, in seconds since the start of the run.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Number of requests per latency bucket.
    pub counts: Vec<u64>,
}

/// A stretch of one shade within a row.
struct Stretch {
    row: usize,
    shade: usize,
    from: f64,
    to: f64,
}

impl HeatMap {
    /// Whether it contains no requests.
    pub(super) fn is_empty(&self) -> bool {
        self.columns.iter().all(|column| column.counts.iter().all(|&count| count == 0))
    }

    /// The shortest and the longest latency, in milliseconds, in the time slots for whose middle
    /// `counts` is true.
    pub(super) fn range(&self, counts: impl Fn(f64) -> bool) -> impl Iterator<Item = f64> {
        let mut rows = 0..=LatencySpread::ENDS_NS.len();
        let columns: Vec<&HeatColumn> =
            self.columns.iter().filter(|of| counts(f64::midpoint(of.from, of.to))).collect();
        let first = rows.clone().find(|row| is_used(&columns, *row));
        let last = rows.rfind(|row| is_used(&columns, *row));
        first.map(|row| ends_ms(row).0).into_iter().chain(last.map(|row| ends_ms(row).1))
    }

    /// The areas, with one path per shade.
    pub(super) fn svg(&self, x: &Scale, y: &Scale) -> String {
        let mut paths = CLASSES.map(|_| String::new());
        for Stretch { row, shade, from, to } in self.stretches() {
            let (low, high) = ends_ms(row);
            let (left, right) = (x.place(from), x.place(to));
            let (top, bottom) = (y.place(high), y.place(low));
            let (width, height) = (right - left, bottom - top);
            let _ = write!(paths[shade], "M{left:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z");
        }
        let ink = self.ink.map_or("", Ink::class);
        let mut svg = String::from("<g class=\"heat\">");
        for (path, class) in paths.iter().zip(CLASSES).filter(|(path, _)| !path.is_empty()) {
            let _ = write!(svg, "<path class=\"{ink} {class}\" d=\"{path}\"/>");
        }
        svg + "</g>"
    }

    /// Meaning of the shades.
    pub(super) fn legend(&self) -> Vec<(&'static str, String)> {
        let Some(ink) = self.ink else {
            return Vec::new();
        };
        let said = ["up to 0.1 %", "to 1 %", "to 5 %", "to 20 %", "more of all at that time"];
        ink.heat_classes()
            .into_iter()
            .zip(said)
            .map(|(class, said)| (class, said.to_owned()))
            .collect()
    }

    /// Merges neighbours of the same shade into one stretch.
    fn stretches(&self) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for row in 0..=LatencySpread::ENDS_NS.len() {
            for column in &self.columns {
                let Some(shade) = column.shade(row) else {
                    continue;
                };
                match stretches.last_mut() {
                    Some(last)
                        if (last.row, last.shade) == (row, shade) && last.to >= column.from =>
                    {
                        last.to = column.to;
                    }
                    _ => stretches.push(Stretch { row, shade, from: column.from, to: column.to }),
                }
            }
        }
        stretches
    }
}

impl HeatColumn {
    /// Shade of a row; `None` if it is empty.
    fn shade(&self, row: usize) -> Option<usize> {
        let count = self.counts.get(row).copied().filter(|count| *count > 0)?;
        let percent = 100.0 * count as f64 / self.counts.iter().sum::<u64>() as f64;
        Some(SHADES.partition_point(|&end| end < percent))
    }
}

/// Whether any request had a latency in this row.
fn is_used(columns: &[&HeatColumn], row: usize) -> bool {
    columns.iter().any(|of| of.counts.get(row) > Some(&0))
}

/// Shortest and longest latency of a row in milliseconds.
fn ends_ms(row: usize) -> (f64, f64) {
    match row.checked_sub(1) {
        None => (end_ms(0) / STEP, end_ms(0)),
        Some(before) if row == LatencySpread::ENDS_NS.len() => {
            (end_ms(before), end_ms(before) * STEP)
        }
        Some(before) => (end_ms(before), end_ms(row)),
    }
}

fn end_ms(row: usize) -> f64 {
    LatencySpread::ENDS_NS[row] as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::{HeatColumn, HeatMap, Ink, Scale};

    fn column(from: f64, counts: &[(usize, u64)]) -> HeatColumn {
        let mut all = vec![0; 32];
        for &(row, count) in counts {
            all[row] = count;
        }
        HeatColumn { from, to: from + 1.0, counts: all }
    }

    #[test]
    fn one_slow_request_among_thousands_is_drawn() {
        let columns = vec![column(0.0, &[(10, 5_000), (25, 1)]), column(1.0, &[(10, 5_000)])];
        let map = HeatMap { columns, ink: Some(Ink::Read) };
        let (x, y) = (
            Scale::linear((0.0, 2.0), (0.0, 200.0)),
            Scale::logarithmic((0.01, 1e4), (100.0, 0.0)),
        );
        let svg = map.svg(&x, &y);
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(svg.contains("heat-1") && svg.contains("heat-5"));
        // Two time slots of the same shade form one stretch over the whole width.
        assert_eq!((svg.matches('M').count(), svg.matches("h200.0").count()), (2, 1));
        let range: Vec<f64> = map.range(|_| true).collect();
        assert!(range[0] < 1.0 && range[1] > 900.0, "{range:?}");
    }

    #[test]
    fn where_nothing_was_answered_nothing_is_drawn() {
        let map = HeatMap { columns: vec![column(0.0, &[])], ink: Some(Ink::Log) };
        assert_eq!(map.range(|_| true).count(), 0);
        let (x, y) = (Scale::linear((0.0, 1.0), (0.0, 1.0)), Scale::linear((0.0, 1.0), (1.0, 0.0)));
        assert!(!map.svg(&x, &y).contains("<path"));
    }
}
