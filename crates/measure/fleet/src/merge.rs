//! Requests of all hosts together. Histograms add; percentiles are never averaged.

use std::collections::BTreeMap;

use record::{Phase, RunRecord, Series, SeriesTotal};

/// All requests of one kind of a fleet.
#[derive(Clone, Debug)]
pub struct FleetSeries {
    /// Kind of the requests.
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
    use record::codec::Sealer;
    use record::synthetic::{Synthetic, drawn};
    use record::{Histogram, Phase, RunRecord, Series};
    use units::Seed;

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

        #[test]
        fn a_fleet_by_digests_counts_what_its_journals_count(
            runs in prop::collection::vec((any::<u64>(), 1_u32..4, 0_u64..6), 1..4),
        ) {
            let journals: Vec<_> = runs.into_iter().map(journal).collect();
            let load = |journal: &Vec<u8>| RunRecord::load(journal).expect("sound");
            let of_journals: Vec<_> = journals.iter().map(load).collect();
            let mut of_digests = Vec::new();
            for (journal, record) in journals.iter().zip(&of_journals) {
                let digest = record.digest(journal.len() as u64).expect("a sealed run");
                let by_digest = RunRecord::load_digested(journal, digest.as_bytes());
                let by_digest = by_digest.expect("its own digest");
                prop_assert_eq!(format!("{by_digest:?}"), format!("{record:?}"));
                of_digests.push(by_digest);
            }
            let (found, expected) =
                (merged(&of_digests, Phase::Measure), merged(&of_journals, Phase::Measure));
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert_eq!(found.series, expected.series);
                let (found, expected) = (&found.total, &expected.total);
                prop_assert_eq!((found.bytes, found.errors), (expected.bytes, expected.errors));
                prop_assert_eq!(&found.latency, &expected.latency);
            }
        }
    }

    /// The sealed journal of a run with such a seed, number of databases and of intervals.
    fn journal((seed, databases, measure_intervals): (u64, u32, u64)) -> Vec<u8> {
        let run = Synthetic {
            seed: Seed(seed),
            databases,
            warm_intervals: 1,
            measure_intervals,
            ..Synthetic::default()
        };
        let mut sealer = Sealer::default();
        run.events().iter().flat_map(|event| sealer.line(event).into_bytes()).collect()
    }
}
