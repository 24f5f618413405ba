//! Finds runs that used one volume at the same time: each measured only the share that the other
//! left, which neither record shows.

use std::fmt;

use record::{RunRecord, VolumeFacts};
use units::Nanos;

/// Two runs that were on one volume at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOverlap {
    /// Indexes of the two runs among those compared, the earlier one first.
    pub runs: [usize; 2],
    /// Mount point of the volume, as recorded by the first run.
    pub volume: String,
    /// For how long.
    pub span: Nanos,
}

impl RunOverlap {
    /// Explains the overlap to readers who know the runs by these names.
    pub fn words(&self, name: impl Fn(usize) -> String) -> String {
        let [first, other] = self.runs.map(name);
        format!(
            "{first} and {other} were on {} at the same time, for {}: each measured what the other \
             left of it",
            self.volume,
            Minutes(self.span)
        )
    }
}

/// A span in whole minutes, or seconds below one.
struct Minutes(Nanos);

impl fmt::Display for Minutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.0 / 1_000_000_000 {
            seconds @ 0..120 => write!(f, "{seconds} s"),
            seconds @ 120..7_200 => write!(f, "{} min", seconds / 60),
            seconds => write!(f, "{} h {} min", seconds / 3_600, seconds / 60 % 60),
        }
    }
}

/// Every pair of `runs` that used one volume at the same time; simulated and imported runs used
/// none.
pub fn overlaps(runs: &[&RunRecord]) -> Vec<RunOverlap> {
    let mut found = Vec::new();
    for (at, first) in runs.iter().enumerate() {
        for (beyond, other) in runs[at + 1..].iter().enumerate() {
            let shared = common_span(first, other).zip(common_volume(first, other));
            if let Some((span, volume)) = shared {
                let mut both = [at, at + 1 + beyond];
                both.sort_by_key(|&run| runs[run].start.started_epoch_ns);
                found.push(RunOverlap { runs: both, volume: volume.to_owned(), span });
            }
        }
    }
    found
}

/// Start and end in nanoseconds since 1970.
const fn time_of(run: &RunRecord) -> (u64, u64) {
    let begin = run.start.started_epoch_ns;
    (begin, begin.saturating_add(run.last_ns()))
}

/// How long both ran at once; `None` for two copies of one record.
fn common_span(first: &RunRecord, other: &RunRecord) -> Option<Nanos> {
    let (of_first, of_other) = (time_of(first), time_of(other));
    let is_one_run = of_first.0 == of_other.0;
    let span = of_first.1.min(of_other.1).checked_sub(of_first.0.max(of_other.0))?;
    (span > 0 && !is_one_run).then_some(Nanos(span))
}

/// Mount point of a volume used by both.
fn common_volume<'a>(first: &'a RunRecord, other: &RunRecord) -> Option<&'a str> {
    let is_one_machine = is_one_machine(first, other);
    let mut of_first = volumes(first);
    let same = of_first.find(|volume| {
        volumes(other).any(|of_other| is_one_volume(volume, of_other, is_one_machine))
    });
    same.map(|volume| volume.mount.as_str())
}

/// Machines are identified by id, or by name in older records.
fn is_one_machine(first: &RunRecord, other: &RunRecord) -> bool {
    let (first, other) = (&first.start.machine, &other.start.machine);
    if first.id.is_empty() || other.id.is_empty() {
        return !first.name.is_empty() && first.name == other.name;
    }
    first.id == other.id
}

/// A device is shared between machines only if its name is a network address.
fn is_one_volume(first: &VolumeFacts, other: &VolumeFacts, is_one_machine: bool) -> bool {
    let (one, two) = (&first.device, &other.device);
    if one.is_empty() || two.is_empty() {
        return is_one_machine && !first.mount.is_empty() && first.mount == other.mount;
    }
    one == two && (is_one_machine || is_address(one))
}

/// `server:/export`, or `nbd://server/export`.
fn is_address(device: &str) -> bool {
    !device.starts_with('/') && device.split_once(':').is_some_and(|(host, _)| host.len() > 1)
}

/// The devices of `first`, or their mount points if unknown; `None` if `other` used other ones.
/// Simulated and imported runs used none.
pub(crate) fn devices<'a>(first: &'a RunRecord, other: &RunRecord) -> Option<Vec<&'a str>> {
    if !uses_all_of(first, other) || !uses_all_of(other, first) {
        return None;
    }
    let mut names: Vec<&str> = volumes(first).map(name).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then_some(names)
}

fn uses_all_of(run: &RunRecord, other: &RunRecord) -> bool {
    let is_one_machine = is_one_machine(run, other);
    volumes(other).all(|of| volumes(run).any(|one| is_one_volume(one, of, is_one_machine)))
}

fn name(volume: &VolumeFacts) -> &str {
    match volume.device.as_str() {
        "" => &volume.mount,
        device => device.strip_prefix("/dev/").unwrap_or(device),
    }
}

fn volumes(run: &RunRecord) -> impl Iterator<Item = &VolumeFacts> {
    let is_measured = run.simulated().is_none() && run.imported().is_none();
    let databases = run.start.databases.iter().filter(move |_| is_measured);
    databases.flat_map(|database| [&database.volume, &database.log_volume])
}

#[cfg(test)]
mod tests {
    use record::RunRecord;
    use record::synthetic::Synthetic;

    use super::overlaps;

    const MINUTE: u64 = 60_000_000_000;

    /// A run of about twelve minutes that began `minute` minutes after the first.
    fn run(minute: u64, change: impl Fn(&mut RunRecord)) -> RunRecord {
        let mut run = Synthetic::default().run();
        run.start.started_epoch_ns += minute * MINUTE;
        run.start.machine.id = "one".to_owned();
        change(&mut run);
        run
    }

    fn device(name: &str) -> impl Fn(&mut RunRecord) {
        move |run| {
            for database in &mut run.start.databases {
                database.volume.device = name.to_owned();
                database.log_volume.device = name.to_owned();
            }
        }
    }

    #[test]
    fn two_folders_of_one_device_are_one_volume_at_one_time() {
        let first = run(0, device("/dev/sdb1"));
        let minutes = first.last_ns() / MINUTE;
        let second = run(2, device("/dev/sdb1"));
        let found = overlaps(&[&second, &first]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].runs, [1, 0], "the earlier one first");
        let said = found[0].words(|run| format!("run {run}"));
        let expected = format!("at the same time, for {} min:", minutes - 2);
        assert!(said.starts_with("run 1 and run 0 were on ") && said.contains(&expected), "{said}");
        let later = run(minutes + 1, device("/dev/sdb1"));
        assert_eq!(overlaps(&[&first, &later]), Vec::new());
        assert_eq!(overlaps(&[&first, &run(2, device("/dev/sdc1"))]), Vec::new());
        assert_eq!(overlaps(&[&first, &first.clone()]), Vec::new(), "a copy of one record");
    }

    #[test]
    fn a_device_of_another_machine_is_another_one_unless_it_is_an_address() {
        let other = |name| {
            move |run: &mut RunRecord| {
                device(name)(run);
                run.start.machine.id = "two".to_owned();
            }
        };
        let count = |name| overlaps(&[&run(0, device(name)), &run(2, other(name))]).len();
        assert_eq!(count("/dev/sdb1"), 0);
        assert_eq!((count("filer:/vol1"), count("nbd://host/export")), (1, 1));
        assert_eq!(count("D:"), 0, "a drive letter");
        let unnamed = |run: &mut RunRecord| {
            device("/dev/sdb1")(run);
            run.start.machine.id = String::new();
        };
        let found = overlaps(&[&run(0, unnamed), &run(2, other("/dev/sdb1"))]);
        assert_eq!(found.len(), 1, "older records have the name alone");
    }
}
