//! What tests that read every database once come to, which have no IOPS to show.

use record::{Checksum, RunRecord, TestType};

use crate::format;

/// The pass that the test consists of; none for tests of another kind.
pub(crate) const fn judged(run: &RunRecord) -> Option<&[Checksum]> {
    match run.start.test {
        TestType::Backup => Some(run.backups.as_slice()),
        TestType::Checksum => Some(run.checksums.as_slice()),
        TestType::Performance | TestType::Stress | TestType::Recovery => None,
    }
}

/// A pass over all databases. Pages and bytes add up; the databases are read at the same time, so
/// the longest time counts.
pub(crate) fn sum(all: &[Checksum]) -> Checksum {
    let mut sum = Checksum::default();
    for of in all {
        sum.seen_pages += of.seen_pages;
        sum.bad_pages += of.bad_pages;
        sum.correctable_pages += of.correctable_pages;
        sum.wrong_page_number_pages += of.wrong_page_number_pages;
        sum.lost_flush_pages += of.lost_flush_pages;
        sum.uninitialised_pages += of.uninitialised_pages;
        sum.foreign_pages += of.foreign_pages;
        sum.bytes += of.bytes;
        sum.elapsed_ns = sum.elapsed_ns.max(of.elapsed_ns);
    }
    sum
}

/// MiB per second; none where no time has passed.
pub(crate) fn rate(of: &Checksum) -> Option<f64> {
    let seconds = of.elapsed_ns as f64 / 1e9;
    (seconds > 0.0).then(|| of.bytes as f64 / f64::from(1 << 20) / seconds)
}

/// A pass in a sentence.
pub(crate) fn sentence(all: &[Checksum]) -> String {
    let whole = sum(all);
    let databases = if all.len() == 1 { "database" } else { "databases" };
    let rate = rate(&whole).map(|rate| format!(", {} MiB/s together", format::number(rate, 1)));
    format!(
        "Read {} {databases} to the end, {}{}.",
        all.len(),
        format::size(whole.bytes),
        rate.unwrap_or_default()
    )
}
