//! How closely simulated figures can be compared with their limits.

use record::true_range;
use rehearsal::{Limits, RowFigures};
use verdict::{Limit, Ruling, judged_by_range};

/// The limits of hosts, and how far simulated figures can be trusted.
#[derive(Clone, Copy, Debug)]
pub struct Trust {
    /// Limits that users accept.
    pub limits: Limits,
    /// Error bound of latencies, in percent of the true ones.
    pub uncertainty_percent: f64,
}

impl Trust {
    /// The judgement of a host by the rule for simulated runs: a figure whose true value may be on
    /// either side of its limit is not judged.
    pub fn judged(self, row: &RowFigures) -> Ruling {
        let bound = self.uncertainty_percent;
        let mut rulings: Vec<Ruling> =
            [(row.reads_ms, self.limits.reads_ms), (row.log_ms, self.limits.log_ms)]
                .into_iter()
                .filter_map(|(ms, most)| {
                    Some(judged_by_range(true_range(ms?, bound), Limit::AtMost(most)))
                })
                .collect();
        // If answers are faster in truth, sessions make more requests: the true rate may be higher
        // by the bound. A rate that reaches its demand is not in doubt.
        let fastest = row.iops * (1.0 + bound / 100.0);
        rulings.extend(row.demanded.map(|demanded| {
            judged_by_range((row.iops, fastest), Limit::AtLeast(demanded * self.limits.reached))
        }));
        if rulings.is_empty() { Ruling::Pass } else { verdict::worst(&rulings) }
    }
}
