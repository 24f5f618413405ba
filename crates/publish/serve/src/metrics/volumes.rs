//! The last verdict of each volume, so that monitoring can alert on one that fails, or that has not
//! been measured for long.

use std::collections::BTreeMap;

use super::{Labels, Metric};
use crate::runs::{Known, Listed};
use crate::summary::{RunLine, VolumeIdentity};

/// Two metrics: the verdict of the last run on each volume, and its start.
pub(super) fn last_verdicts(runs: &[Listed]) -> [Metric; 2] {
    let mut last: BTreeMap<&VolumeIdentity, (&Listed, &RunLine)> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.is_live) {
        let Known::Summary(line) = &run.known else {
            continue;
        };
        for volume in line.volumes.iter().filter(|_| line.outcome.is_some()) {
            let latest = last.entry(volume).or_insert((run, line));
            if line.started_ns > latest.1.started_ns {
                *latest = (run, line);
            }
        }
    }
    let verdicts = last.iter().map(|(volume, (run, line))| {
        let mut labels = of_volume(volume);
        labels.push(("run", run.id.clone()));
        labels.push(("verdict", line.outcome.clone().unwrap_or_default()));
        (labels, 1.0)
    });
    let times = last
        .iter()
        .filter_map(|(volume, (_, line))| Some((of_volume(volume), line.started_ns? as f64 / 1e9)));
    let verdict = "1 for the verdict of the last run on a volume.";
    let time = "When the last run on a volume began, since 1970.";
    [
        Metric::levels("plimsoll_volume_last_verdict", verdict, verdicts),
        Metric::levels("plimsoll_volume_last_run_timestamp_seconds", time, times),
    ]
}

fn of_volume(volume: &VolumeIdentity) -> Labels {
    vec![
        ("host", volume.machine.clone()),
        ("volume", volume.mount.clone()),
        ("model", volume.model.clone()),
    ]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::text::text;
    use super::last_verdicts;
    use crate::runs::{Known, Listed};
    use crate::summary::{RunLine, VolumeIdentity};

    #[test]
    fn the_last_run_of_each_volume_gives_its_verdict() {
        let volume = |mount: &str| VolumeIdentity {
            machine: "mbx-01".to_owned(),
            mount: mount.to_owned(),
            ..VolumeIdentity::default()
        };
        let run = |id: &str, started_ns, outcome: &str, mount: &str| {
            let line = RunLine {
                started_ns: Some(started_ns),
                outcome: Some(outcome.to_owned()),
                volumes: vec![volume(mount)],
                ..RunLine::default()
            };
            Listed::made_up(id, false, Known::Summary(Arc::new(line)))
        };
        let runs = [
            run("a", 1_000_000_000, "pass", "/mnt/a"),
            run("b", 3_000_000_000, "fail", "/mnt/a"),
            run("c", 2_000_000_000, "pass", "/mnt/a"),
            run("d", 1_000_000_000, "cannot_judge", "/mnt/b"),
        ];
        let text = text(&last_verdicts(&runs));
        let of_a = "plimsoll_volume_last_verdict{host=\"mbx-01\",volume=\"/mnt/a\",model=\"\",\
                    run=\"b\",verdict=\"fail\"} 1";
        assert!(text.contains(of_a), "{text}");
        assert!(
            text.contains("volume=\"/mnt/b\",model=\"\",run=\"d\",verdict=\"cannot_judge\"} 1")
        );
        assert!(text.contains("timestamp_seconds{host=\"mbx-01\",volume=\"/mnt/a\",model=\"\"} 3"));
        assert_eq!(text.matches("verdict{").count(), 2, "{text}");
    }
}
