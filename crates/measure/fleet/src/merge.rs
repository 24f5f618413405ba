//! Requests of all hosts together. Histograms add; percentiles are never averaged.

use std::collections::BTreeMap;

use record::{Phase, RunRecord, Series, SeriesTotal};

/// All requests of one kind of a fleet.
#[derive(Clone, Debug)]
pub struct FleetSeries {
    /// Which kind.
    pub series: Series,
    /// Requests of all hosts; the histogram is the sum of theirs, bucket by bucket.
    pub total: SeriesTotal,
}

/// The requests of `phase` over all `records`, by kind.
pub fn merged<'a>(
    records: impl IntoIterator<Item = &'a RunRecord>,
    phase: Phase,
) -> Vec<FleetSeries> {
    let mut sums: BTreeMap<Series, SeriesTotal> = BTreeMap::new();
    for record in records {
        for (series, total) in record.sum_of(phase).series {
            sums.entry(series).or_default().merge(&total);
        }
    }
    sums.into_iter().map(|(series, total)| FleetSeries { series, total }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use record::synthetic::drawn;
    use record::{Histogram, Phase, Series};

    use super::merged;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_fleet_counts_what_the_databases_of_all_journals_count(
            seeds in prop::collection::vec(any::<u64>(), 1..5),
        ) {
            let records: Vec<_> = seeds.iter().map(|&seed| drawn(seed)).collect();
            let mut expected: BTreeMap<Series, (u64, Histogram)> = BTreeMap::new();
            for record in &records {
                for ((phase, _), totals) in &record.totals {
                    if *phase == Phase::Measure {
                        for (series, total) in &totals.series {
                            let sum = expected.entry(*series).or_default();
                            sum.0 += total.bytes;
                            sum.1.merge(&total.latency);
                        }
                    }
                }
            }
            let found = merged(&records, Phase::Measure);
            prop_assert_eq!(found.len(), expected.len());
            for part in found {
                let (bytes, latency) = &expected[&part.series];
                prop_assert_eq!(part.total.bytes, *bytes);
                prop_assert_eq!(&part.total.latency, latency);
            }
        }
    }
}
