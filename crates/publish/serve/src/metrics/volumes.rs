//! The last verdict of each volume, so that monitoring can alert on one that fails or was last
//! measured long ago.

use super::{LIVE, Labels, Metric};
use crate::runs::Listed;
use crate::sets::ServedSet;
use crate::summary::VolumeIdentity;
use crate::volumes;

/// Two metrics: the verdict of the last run or set of tests on each volume, and its start.
pub(super) fn last_verdicts(runs: &[Listed], sets: &[ServedSet]) -> [Metric; 2] {
    let volumes = volumes::measured(runs, sets);
    let verdicts = volumes.iter().map(|volume| {
        let mut labels = of_volume(volume.identity);
        labels.push(("run", volume.judged.id.clone()));
        labels.push(("verdict", volume.judged.outcome.clone().unwrap_or_else(|| LIVE.to_owned())));
        labels.push(("headline", volume.judged.verdict.clone()));
        (labels, 1.0)
    });
    let times = volumes.iter().filter_map(|volume| {
        Some((of_volume(volume.identity), volume.last.line()?.started_ns? as f64 / 1e9))
    });
    let verdict = "1 for the verdict of the last run or set on a volume.";
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
    use super::super::text::text;
    use super::last_verdicts;
    use crate::runs::{Known, Listed};
    use crate::sets::ServedSet;
    use crate::volumes::tests::load;

    #[test]
    fn the_last_run_of_each_volume_gives_its_verdict() {
        let runs = [
            load("a", 1_000_000_000, "pass", "/mnt/a", 1.0),
            load("b", 3_000_000_000, "fail", "/mnt/a", 1.0),
            load("c", 2_000_000_000, "pass", "/mnt/a", 1.0),
            load("d", 1_000_000_000, "cannot_judge", "/mnt/b", 1.0),
        ];
        let text = text(&last_verdicts(&runs, &[]));
        let of_a = "plimsoll_volume_last_verdict{host=\"mbx-01\",volume=\"/mnt/a\",model=\"\",\
                    run=\"b\",verdict=\"fail\",headline=\"fail\"} 1";
        assert!(text.contains(of_a), "{text}");
        assert!(text.contains("volume=\"/mnt/b\",model=\"\",run=\"d\",verdict=\"cannot_judge\","));
        assert!(text.contains("timestamp_seconds{host=\"mbx-01\",volume=\"/mnt/a\",model=\"\"} 3"));
        assert_eq!(text.matches("verdict{").count(), 2, "{text}");
    }

    #[test]
    fn the_verdict_of_a_live_set_is_live() {
        let ended = load("set/1-performance", 1_000_000_000, "pass", "/mnt/a", 1.0);
        let live = Listed::made_up("set/2-stress", true, Known::Unread);
        let set = ServedSet { id: "set".to_owned(), tests: vec![ended.clone(), live] };
        let text = text(&last_verdicts(&[ended], &[set]));
        assert!(text.contains("run=\"set\",verdict=\"live\",headline="), "{text}");
    }

    #[test]
    fn a_replaced_run_is_not_the_last_verdict() {
        let replaced = load("set/1-performance", 1_000_000_000, "fail", "/mnt/a", 1.0);
        let again = Listed::made_up("set/1-performance-2", true, Known::Unread);
        let set = ServedSet { id: "set".to_owned(), tests: vec![again] };
        let text = text(&last_verdicts(&[replaced], &[set]));
        assert!(text.contains("run=\"set\",verdict=\"live\",headline="), "{text}");
    }
}
