//! Figures of a deployment that was played with several seeds: means over all, and the worst of
//! any.

use rehearsal::{Breach, HostRow, RecoveryFigures, RowFigures};
use units::Nanos;
use verdict::Estimate;

use super::{PlayedReport, SeedRow, is_same_part};

impl PlayedReport<'_> {
    /// The same row with each seed.
    pub(super) fn alike<'r>(&'r self, row: &'r HostRow) -> impl Iterator<Item = &'r HostRow> {
        let judgements = self.judgements.iter();
        judgements.filter_map(|of| of.rows.iter().find(|other| is_same_part(other, row)))
    }

    /// The mean over all seeds of a figure in a row.
    pub(super) fn over_seeds(
        &self,
        row: &HostRow,
        figure: impl Fn(&RowFigures) -> Option<f64>,
    ) -> Option<Estimate> {
        let samples: Vec<f64> = self.alike(row).filter_map(|of| figure(&of.settled)).collect();
        (!samples.is_empty()).then(|| verdict::estimate_of_runs(&samples))
    }

    /// The slowest minute of a row over all seeds.
    pub(super) fn slowest(&self, row: &HostRow) -> Option<(Nanos, f64)> {
        let minutes = self.alike(row).filter_map(|of| of.worst);
        minutes.max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// The row with the slowest minute of all seeds, and the seed.
    pub(super) fn worst_row(&self) -> Option<SeedRow<'_>> {
        let rows = self.judgements.iter().enumerate();
        let rows = rows.filter_map(|(seed, of)| Some((seed, of.worst_row()?)));
        let minutes = rows.map(|row| (row, row.1.worst.map_or(0.0, |(_, ms)| ms)));
        minutes.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(row, _)| row)
    }

    /// The broken limits with any seed, the worst first: the seed, the row and the breach.
    pub(super) fn breaches(&self) -> Vec<(SeedRow<'_>, &Breach)> {
        let mut all: Vec<(SeedRow<'_>, &Breach)> = Vec::new();
        for (seed, of) in self.judgements.iter().enumerate() {
            all.extend(of.breaches.iter().map(|breach| ((seed, &of.rows[breach.row]), breach)));
        }
        all.sort_by(|(_, one), (_, other)| other.excess.total_cmp(&one.excess));
        all
    }

    /// The recovery from each occurrence with the seed that took longest.
    pub(super) fn recoveries(&self) -> impl Iterator<Item = &RecoveryFigures> {
        (0..self.first().recoveries.len()).filter_map(|at| {
            let seeds = self.judgements.iter().filter_map(|of| of.recoveries.get(at));
            seeds.max_by_key(|of| of.redundant_after.map_or(u64::MAX, |after| after.0))
        })
    }
}
