//! The volumes that the runs of a folder have measured, each with its last judged run and the loads
//! before it.

use std::collections::BTreeMap;

use verdict::{MetricChange, ReadLatency};

use crate::runs::{Known, Listed};
use crate::sets::ServedSet;
use crate::summary::{RunLine, Tone, VolumeIdentity};

/// Maximum number of earlier loads that a trend compares the last one with.
const EARLIER_LOADS: usize = 12;

/// A volume and the results of its runs.
pub(crate) struct MeasuredVolume<'a> {
    pub identity: &'a VolumeIdentity,
    /// The run that was judged last.
    pub last: &'a Listed,
    /// The verdict on it; on its set if it belongs to one.
    pub judged: JudgedLast,
    /// The last loads on the volume, oldest first; at most thirteen.
    pub loads: Vec<&'a RunLine>,
}

/// The last verdict on a volume.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JudgedLast {
    /// The run or set, as requests name it.
    pub id: String,
    pub verdict: String,
    /// The same in machine-readable form; `None` before the end.
    pub outcome: Option<String>,
    pub tone: Tone,
    /// Distance of the worst latency from its limit, in percent of the limit.
    pub margin_percent: Option<f64>,
}

impl JudgedLast {
    fn of(run: &Listed, line: &RunLine, sets: &[ServedSet]) -> Self {
        let Some(set) = sets.iter().find(|set| set.has(run)) else {
            return Self {
                id: run.id.clone(),
                verdict: line.verdict.clone(),
                outcome: line.outcome.clone(),
                tone: line.tone,
                margin_percent: line.margin_percent,
            };
        };
        let (verdict, tone) = set.verdict();
        let margins = set.tests.iter().filter_map(|test| test.line()?.margin_percent);
        Self {
            id: set.id.clone(),
            verdict,
            outcome: set.verdict_for_programs().map(str::to_owned),
            tone,
            margin_percent: margins.min_by(f64::total_cmp),
        }
    }
}

/// Every volume of `runs`, sorted by machine and mount point; `sets` are the sets among them.
pub(crate) fn measured<'a>(runs: &'a [Listed], sets: &[ServedSet]) -> Vec<MeasuredVolume<'a>> {
    let mut of_volumes: BTreeMap<&VolumeIdentity, Vec<(&Listed, &RunLine)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.is_live) {
        let Known::Summary(line) = &run.known else {
            continue;
        };
        for volume in line.volumes.iter().filter(|_| line.outcome.is_some()) {
            of_volumes.entry(volume).or_default().push((run, line));
        }
    }
    of_volumes.into_iter().filter_map(|(volume, runs)| of_runs(volume, runs, sets)).collect()
}

fn of_runs<'a>(
    identity: &'a VolumeIdentity,
    mut runs: Vec<(&'a Listed, &'a RunLine)>,
    sets: &[ServedSet],
) -> Option<MeasuredVolume<'a>> {
    runs.sort_by_key(|(_, line)| line.started_ns);
    let &(last, line) = runs.last()?;
    let judged = JudgedLast::of(last, line, sets);
    let mut loads: Vec<&RunLine> = Vec::new();
    loads.extend(runs.iter().map(|(_, line)| *line).filter(|line| is_whole_load(line)));
    let loads = loads.split_off(loads.len().saturating_sub(EARLIER_LOADS + 1));
    Some(MeasuredVolume { identity, last, judged, loads })
}

/// Whether its figures are those of a load that ran to its end.
fn is_whole_load(line: &RunLine) -> bool {
    ["Performance", "Stress"].contains(&line.test.as_str()) && !line.is_cut_off
}

impl MeasuredVolume<'_> {
    /// Change of the mean read latency from the earlier load with the median latency, among those
    /// with the same target, to the last load, and the number of those loads. `None` if there are
    /// none.
    pub(crate) fn drift(&self) -> Option<(MetricChange, usize)> {
        let (last, earlier) = self.loads.split_last()?;
        let mut reads: Vec<ReadLatency> = earlier
            .iter()
            .filter(|load| load.asked_iops == last.asked_iops)
            .filter_map(|load| reads_of(load))
            .collect();
        reads.sort_by(|one, other| one.mean_ms.total_cmp(&other.mean_ms));
        let median = reads.get(reads.len() / 2)?;
        Some((median.change_to(&reads_of(last)?)?, reads.len()))
    }
}

fn reads_of(load: &RunLine) -> Option<ReadLatency> {
    Some(ReadLatency { mean_ms: load.read_ms?, sampled: load.sampled_reads })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use verdict::SampledMean;

    use super::measured;
    use crate::runs::{Known, Listed};
    use crate::sets::ServedSet;
    use crate::summary::{RunLine, Tone, VolumeIdentity};

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
            sampled_reads: Some(SampledMean::of_numbers([read_ms, 1e-4, 11.0])),
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
        let volumes = measured(&runs, &[]);
        assert_eq!(volumes.len(), 2);
        let drift = volumes[0].drift().map(|(change, loads)| (change.percent, loads));
        assert_eq!((volumes[0].last.id.as_str(), drift), ("d", Some((100.0, 3))));
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
        assert_eq!(measured(&runs, &[])[0].drift(), None);
    }

    #[test]
    fn the_last_verdict_is_that_of_the_set_and_not_of_its_last_test() {
        let mut tests = Vec::new();
        for ((part, kind), started_ns) in report::SUITE_PARTS.iter().zip(1..) {
            let is_bad = started_ns == 1;
            let (outcome, read_ms) = if is_bad { ("fail", 30.0) } else { ("pass", 10.0) };
            let run = load(&format!("set/{part}"), started_ns, outcome, "/mnt/a", read_ms);
            let Known::Summary(line) = &run.known else { panic!("no summary") };
            let tone = if is_bad { Tone::Fail } else { Tone::Pass };
            let line = RunLine { tone, test: kind.name().to_owned(), ..RunLine::clone(line) };
            tests.push(Listed::made_up(&run.id, false, Known::Summary(Arc::new(line))));
        }
        let sets = [ServedSet { id: "set".to_owned(), tests: tests.clone() }];
        let judged = measured(&tests, &sets).remove(0).judged;
        assert_eq!((judged.id.as_str(), judged.verdict.as_str()), ("set", "Fail"));
        assert_eq!(judged.outcome.as_deref(), Some("fail"));
        assert_eq!((judged.tone, judged.margin_percent), (Tone::Fail, Some(-50.0)));
    }
}
