//! A run in one line of a list, whether it was measured here, simulated or imported.

use record::{Phase, PublishedInstance, RunRecord, Series, TestType};
use verdict::Verdict;

use crate::document::Tone;
use crate::imported::words;
use crate::{format, passes, sections};

/// What a run came to in a few words: one that was not measured here says so, and one that passed
/// and lacks something of what its plan asks for says that.
pub fn verdict_name(run: &RunRecord, verdict: &Verdict) -> String {
    let outcome = verdict.outcome.name();
    let lacking = lacking(verdict).map(|lacking| format!(", {lacking}")).unwrap_or_default();
    match (run.imported(), run.simulated()) {
        (Some(imported), _) => words::outcome_words(imported, verdict),
        (None, Some(_)) => format!("Simulated {}{lacking}", outcome.to_lowercase()),
        (None, None) => format!("{outcome}{lacking}"),
    }
}

/// What a run that passed lacks of what its plan asks for, in two words: room for its mailboxes, or
/// their load.
pub fn lacking(verdict: &Verdict) -> Option<&'static str> {
    match (verdict.exit_code(), verdict.lacks_room(), verdict.lacks_load()) {
        (0, true, _) => Some("too small"),
        (0, false, true) => Some("below plan"),
        _ => None,
    }
}

/// The look of what a run came to.
pub(crate) fn tone_of(verdict: &Verdict) -> Tone {
    if lacking(verdict).is_some() { Tone::Warn } else { sections::tone(verdict.outcome) }
}

/// Whether the program or the machine stopped before the run could end; also true of a live run.
pub fn is_cut_off(run: &RunRecord) -> bool {
    run.finished.is_none() && run.imported().is_none() && run.simulated().is_none()
}

/// When a run began, in nanoseconds since 1970; on the clock of its machine where the result was
/// imported, which is all that is known.
pub fn started_ns(run: &RunRecord) -> Option<u64> {
    match run.imported() {
        Some(imported) => imported.started_local_ns,
        None => Some(run.start.started_epoch_ns),
    }
}

/// The same in ISO 8601, in UTC; without a zone where it is not known.
pub fn started_iso(run: &RunRecord) -> Option<String> {
    let text = format::iso_time(started_ns(run)?)?;
    let is_utc = run.imported().is_none();
    Some(if is_utc { text } else { text.trim_end_matches('Z').to_owned() })
}

/// Transactional IOPS; none where nothing was measured under load, or an imported result does not
/// state them.
pub fn achieved_iops(run: &RunRecord) -> Option<f64> {
    match run.imported() {
        Some(imported) => imported.transactional_iops(),
        None if run.span_ns(Phase::Measure) == 0 => None,
        None => Some(run.achieved_transactional_iops()),
    }
}

/// Mean latency of database reads or of log writes in the measurement, in milliseconds.
pub fn mean_ms(run: &RunRecord, series: Series) -> Option<f64> {
    if let Some(imported) = run.imported() {
        let of = match series {
            Series::LogWrite => PublishedInstance::log_writes,
            _ => PublishedInstance::database_reads,
        };
        return imported.all(of).latency_ms;
    }
    let sum = run.sum_of(Phase::Measure);
    let total = sum.series.get(&series).filter(|total| !total.latency.is_empty())?;
    Some(total.latency.mean_ns() / 1e6)
}

/// Rate at which a backup read all databases together, as its report has it; `None` of other tests.
pub fn backup_mib_per_second(run: &RunRecord) -> Option<f64> {
    if run.start.test != TestType::Backup {
        return None;
    }
    match run.imported() {
        Some(imported) => imported.backup_mib_per_second(),
        None => passes::judged(run).and_then(|pass| passes::sum(pass).mib_per_second()),
    }
}

#[cfg(test)]
mod tests {
    use super::backup_mib_per_second;
    use crate::format;
    use crate::sections::summary::main_number;
    use crate::tests::{backup, passing};

    #[test]
    fn a_list_has_the_rate_of_a_backup_that_its_report_has() {
        let run = backup();
        let rate = backup_mib_per_second(&run).map(format::three_digits);
        assert_eq!(rate, Some(main_number(&run).0));
        assert_eq!(backup_mib_per_second(&passing()), None);
    }
}
