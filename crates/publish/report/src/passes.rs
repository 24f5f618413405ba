//! Results of backups, checksum passes and log replays, which have no IOPS to show.

use record::{Checksum, Replay, RunRecord, TestType};

use crate::format;

/// Whether the test measures a load.
pub(crate) const fn is_of_load(run: &RunRecord) -> bool {
    matches!(run.start.test, TestType::Performance | TestType::Stress)
}

/// The replays of a recovery test; `None` for other tests.
pub(crate) fn replays(run: &RunRecord) -> Option<&[Replay]> {
    (run.start.test == TestType::Recovery).then_some(run.replays.as_slice())
}

/// Seconds per log file, averaged over databases as in the Jetstress documents; `None` if nothing
/// was replayed.
pub(crate) fn seconds_per_log(replays: &[Replay]) -> Option<f64> {
    let times: Vec<f64> = replays.iter().filter_map(Replay::ns_per_log).collect();
    let mean_ns = times.iter().sum::<f64>() / times.len() as f64;
    (!times.is_empty()).then_some(mean_ns / 1e9)
}

/// A replay in a sentence.
pub(crate) fn replay_sentence(replays: &[Replay]) -> String {
    let databases = format::plural(replays.len() as u64, "database");
    let logs: u64 = replays.iter().map(|replay| replay.logs).sum();
    let seconds = seconds_per_log(replays).unwrap_or_default();
    let generated_ns: u64 = replays.iter().map(|replay| replay.generated_ns).sum();
    let elapsed_ns: u64 = replays.iter().map(|replay| replay.elapsed_ns).sum();
    let ratio = generated_ns as f64 / elapsed_ns.max(1) as f64;
    format!(
        "Replayed {} into {databases} at the same time, {} s each, {} times as fast as the load \
         had generated them.",
        format::plural(logs, "log file"),
        format::three_digits(seconds),
        format::three_digits(ratio),
    )
}

/// The pass that the test consists of; `None` for tests of a load or a recovery.
pub(crate) const fn judged(run: &RunRecord) -> Option<&[Checksum]> {
    match run.start.test {
        TestType::Backup => Some(run.backups.as_slice()),
        TestType::Checksum => Some(run.checksums.as_slice()),
        TestType::Performance | TestType::Stress | TestType::Recovery => None,
    }
}

/// The copies of a backup in a sentence; `None` if it made none.
pub(crate) fn copies_sentence(run: &RunRecord) -> Option<String> {
    let copies = &run.backup_copies;
    let bytes = copies.iter().map(|copy| copy.bytes).sum();
    let longest_ns = copies.iter().map(|copy| copy.elapsed_ns).max()?;
    let rate = bytes as f64 / 1_048_576.0 / (longest_ns.max(1) as f64 / 1e9);
    Some(format!(
        "Wrote {} as copies, {} MiB/s until all were written, and read them back whole.",
        format::size(bytes),
        format::three_digits(rate)
    ))
}

/// A pass in a sentence.
pub(crate) fn sentence(all: &[Checksum]) -> String {
    let whole = Checksum::together(all);
    let databases = if all.len() == 1 { "database" } else { "databases" };
    let rate = whole
        .mib_per_second()
        .map(|rate| format!(", {} MiB/s until all were read", format::three_digits(rate)));
    format!(
        "Read {} {databases} to the end, {}{}.",
        all.len(),
        format::size(whole.bytes),
        rate.unwrap_or_default()
    )
}
