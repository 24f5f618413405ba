//! The volumes that the runs of a folder have measured, each with its last judged run and the loads
//! before it.

use std::collections::BTreeMap;

use crate::runs::{Known, Listed};
use crate::summary::{RunLine, VolumeIdentity};

/// Maximum number of earlier loads that a trend compares the last one with.
const EARLIER_LOADS: usize = 12;

/// A volume and the results of its runs.
pub(crate) struct MeasuredVolume<'a> {
    pub identity: &'a VolumeIdentity,
    /// The run that was judged last.
    pub last: &'a Listed,
    /// Its summary.
    pub line: &'a RunLine,
    /// The last loads on the volume, oldest first; at most thirteen.
    pub loads: Vec<&'a RunLine>,
}

/// Every volume of `runs`, sorted by machine and mount point.
pub(crate) fn measured(runs: &[Listed]) -> Vec<MeasuredVolume<'_>> {
    let mut of_volumes: BTreeMap<&VolumeIdentity, Vec<(&Listed, &RunLine)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.is_live) {
        let Known::Summary(line) = &run.known else {
            continue;
        };
        for volume in line.volumes.iter().filter(|_| line.outcome.is_some()) {
            of_volumes.entry(volume).or_default().push((run, line));
        }
    }
    of_volumes.into_iter().filter_map(|(volume, runs)| of_runs(volume, runs)).collect()
}

fn of_runs<'a>(
    identity: &'a VolumeIdentity,
    mut runs: Vec<(&'a Listed, &'a RunLine)>,
) -> Option<MeasuredVolume<'a>> {
    runs.sort_by_key(|(_, line)| line.started_ns);
    let &(last, line) = runs.last()?;
    let mut loads: Vec<&RunLine> = Vec::new();
    loads.extend(runs.iter().map(|(_, line)| *line).filter(|line| is_whole_load(line)));
    let loads = loads.split_off(loads.len().saturating_sub(EARLIER_LOADS + 1));
    Some(MeasuredVolume { identity, last, line, loads })
}

/// Whether its figures are those of a load that ran to its end.
fn is_whole_load(line: &RunLine) -> bool {
    ["Performance", "Stress"].contains(&line.test.as_str()) && !line.is_cut_off
}

impl MeasuredVolume<'_> {
    /// Change of the mean read latency from the median of the earlier loads with the same target to
    /// the last load, in percent, and the number of those loads. `None` if there are none.
    pub(crate) fn drift(&self) -> Option<(f64, usize)> {
        let (last, earlier) = self.loads.split_last()?;
        let mut reads_ms: Vec<f64> = earlier
            .iter()
            .filter(|load| load.asked_iops == last.asked_iops)
            .filter_map(|load| load.read_ms)
            .collect();
        reads_ms.sort_by(f64::total_cmp);
        let median_ms = *reads_ms.get(reads_ms.len() / 2).filter(|ms| **ms > 0.0)?;
        Some(((last.read_ms? / median_ms - 1.0) * 100.0, reads_ms.len()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use super::measured;
    use crate::runs::{Known, Listed};
    use crate::summary::{RunLine, VolumeIdentity};

    /// A performance test on `mount` that began at `started_ns`.
    pub(crate) fn load(
        id: &str,
        started_ns: u64,
        outcome: &str,
        mount: &str,
        read_ms: f64,
    ) -> Listed {
        let volume = VolumeIdentity {
            machine: "mbx-01".to_owned(),
            mount: mount.to_owned(),
            ..VolumeIdentity::default()
        };
        let line = RunLine {
            test: "Performance".to_owned(),
            started_ns: Some(started_ns),
            outcome: Some(outcome.to_owned()),
            verdict: outcome.to_owned(),
            read_ms: Some(read_ms),
            margin_percent: Some(100.0 - read_ms * 5.0),
            volumes: vec![volume],
            ..RunLine::default()
        };
        Listed::made_up(id, false, Known::Summary(Arc::new(line)))
    }

    #[test]
    fn the_last_load_is_compared_with_the_median_of_those_before_it() {
        let runs = [
            load("d", 4, "fail", "/mnt/a", 24.0),
            load("a", 1, "pass", "/mnt/a", 10.0),
            load("b", 2, "pass", "/mnt/a", 16.0),
            load("c", 3, "pass", "/mnt/a", 12.0),
            load("e", 1, "pass", "/mnt/b", 10.0),
        ];
        let volumes = measured(&runs);
        assert_eq!(volumes.len(), 2);
        assert_eq!((volumes[0].last.id.as_str(), volumes[0].drift()), ("d", Some((100.0, 3))));
        assert_eq!((volumes[1].last.id.as_str(), volumes[1].drift()), ("e", None));
    }

    #[test]
    fn loads_with_other_targets_are_no_trend() {
        let runs = [("a", 1, Some(500.0)), ("b", 2, Some(50.0)), ("c", 3, None)].map(
            |(id, started_ns, asked_iops)| {
                let run = load(id, started_ns, "pass", "/mnt/a", 10.0);
                let Known::Summary(line) = &run.known else { panic!("no summary") };
                let line = RunLine { asked_iops, ..RunLine::clone(line) };
                Listed::made_up(id, false, Known::Summary(Arc::new(line)))
            },
        );
        assert_eq!(measured(&runs)[0].drift(), None);
    }
}
