//! The ranking as comma-separated values: one line per design, with the changed keys.

use super::{PredictedArray, points};
use crate::pareto::pareto_front;

/// Columns after the changes.
const COLUMNS: [&str; 11] = [
    "verdict",
    "best_trade_off",
    "achieved_transactional_iops",
    "mailboxes",
    "read_latency_ms",
    "write_latency_ms",
    "log_write_latency_ms",
    "latency_margin_percent",
    "disks",
    "failures_survived",
    "because_of",
];

/// The designs, the best first.
pub(super) fn csv(all: &[PredictedArray]) -> String {
    let keys = all.first().map(|one| &one.0[0].changes);
    let keys = keys.into_iter().flatten().map(|(key, _)| key.as_str());
    let head: Vec<String> =
        std::iter::once("rank").chain(keys).chain(COLUMNS).map(quoted).collect();
    let mut text = head.join(",") + "\n";
    for ((one, point), is_best) in all.iter().zip(points(all)).zip(pareto_front(&points(all))) {
        let changes = one.0[0].changes.iter().map(|(_, value)| quoted(value));
        let figures = &one.worst().figures;
        let cells = [
            figures.verdict.clone(),
            is_best.to_string(),
            number(one.iops().map(|of| of.mean)),
            number(one.mailboxes()),
            number(one.read_ms().map(|of| of.mean)),
            number(one.write_ms().map(|of| of.mean)),
            number(one.log_write_ms().map(|of| of.mean)),
            number(one.margin_percent()),
            number(point.cost),
            number(point.survived),
            quoted(&figures.reason),
        ];
        let rank = std::iter::once(point.rank.to_string());
        text += &rank.chain(changes).chain(cells).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    units::plain(&text).into_owned()
}

fn number(of: Option<f64>) -> String {
    of.map_or_else(String::new, |value| value.to_string())
}

/// Quotes a cell that contains a comma, quote or line break.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell.to_owned()
}
