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

/// A latency that keeps its limit, perhaps only in the simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct NearLimit {
    /// The latency as a share of its limit.
    pub share: f64,
    /// Both, in words.
    pub text: String,
}

impl Trust {
    /// The latency of a host that is nearest to its limit; `None` if all are certain.
    pub fn nearest(self, row: &RowFigures) -> Option<NearLimit> {
        let all = [
            ("database reads", row.reads_ms, self.limits.reads_ms),
            ("log writes", row.log_ms, self.limits.log_ms),
        ];
        let near = all.into_iter().filter_map(|(what, ms, most)| {
            let ms = ms.filter(|&ms| self.of_latency(ms, most) == Ruling::CannotJudge)?;
            let text = format!("{what} take {ms:.1} ms, too near the limit of {most:.0} ms");
            Some(NearLimit { share: ms / most, text })
        });
        near.max_by(|one, other| one.share.total_cmp(&other.share))
    }

    fn of_latency(self, ms: f64, most: f64) -> Ruling {
        judged_by_range(true_range(ms, self.uncertainty_percent), Limit::AtMost(most))
    }

    /// The judgement of a host by the rule for simulated runs: a figure whose true value may be on
    /// either side of its limit is not judged.
    pub fn judged(self, row: &RowFigures) -> Ruling {
        let bound = self.uncertainty_percent;
        let mut rulings: Vec<Ruling> =
            [(row.reads_ms, self.limits.reads_ms), (row.log_ms, self.limits.log_ms)]
                .into_iter()
                .filter_map(|(ms, most)| Some(self.of_latency(ms?, most)))
                .collect();
        // If answers are faster in truth, sessions make more requests: the true rate may be higher
        // by the bound. A rate that reaches its demand is not in doubt.
        let fastest = row.iops * (1.0 + bound / 100.0);
        let least = row.least_iops(self.limits.reached);
        rulings
            .extend(least.map(|least| judged_by_range((row.iops, fastest), Limit::AtLeast(least))));
        if rulings.is_empty() { Ruling::Pass } else { verdict::worst(&rulings) }
    }
}
