//! Meaning of a run in sentences, because a verdict alone does not show a storage engineer what to
//! promise and what to try next.

use record::{Phase, RunRecord, Series, TestType};
use verdict::{Evidence, Finding, Kind, Limit, Ruling, Unit, Verdict};

use crate::imported::words;
use crate::mailboxes::Carried;
use crate::{format, passes, simulated};

/// The meaning of a run, in sentences.
pub fn sentences(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    if let Some(imported) = run.imported() {
        return words::sentences(run, imported);
    }
    let mut said: Vec<String> = simulated::sentence(run).into_iter().collect();
    if let Some(part) = simulated::part(run) {
        said.extend(part);
        return said;
    }
    said.extend(match verdict.outcome {
        Ruling::Pass | Ruling::Warn => passed(run),
        Ruling::Fail => failed(run, verdict),
        Ruling::CannotJudge => not_judged(run, verdict),
    });
    let is_passed = verdict.exit_code() == 0;
    said.extend(warnings(run, verdict, if is_passed { |_| true } else { holds_always }));
    said
}

/// Warnings that hold whatever the verdict: mailboxes that have no room, and what makes the
/// numbers those of more than the storage.
const HOLD_ALWAYS: [&str; 4] = ["simulated", "mailbox-room", "other-runs", "other-programs"];

/// The result in one sentence, with the warnings that hold whatever the verdict.
pub(crate) fn brief(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let mut brief = sentences(run, verdict);
    brief.truncate(1);
    brief.extend(warnings(run, verdict, holds_always));
    brief
}

fn holds_always(finding: &Finding) -> bool {
    HOLD_ALWAYS.contains(&finding.rule)
}

fn warnings(run: &RunRecord, verdict: &Verdict, is_told: fn(&Finding) -> bool) -> Vec<String> {
    let warnings = verdict.findings.iter().filter(|of| of.outcome == Ruling::Warn);
    let mut told = Vec::new();
    for finding in warnings.filter(|of| is_told(of)) {
        told.push(format!("Warning: {}", objection(run, finding)));
    }
    told
}

fn passed(run: &RunRecord) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(replays) = passes::replays(run) {
        said.push(passes::replay_sentence(replays));
    } else if passes::is_of_load(run) && run.span_ns(Phase::Measure) > 0 {
        let iops = format::three_digits(run.achieved_transactional_iops());
        let sum = run.sum_of(Phase::Measure);
        let reads = sum.series.get(&Series::DatabaseRead);
        let reads = reads.map(|of| format::latency(of.latency.mean_ns()));
        let reads = reads.map(|mean| format!(" at {mean} per database read"));
        let log_writes = sum.series.get(&Series::LogWrite);
        let log_writes = log_writes.map(|of| format::latency(of.latency.mean_ns()));
        let log_writes = log_writes.map(|mean| format!(" and {mean} per log write"));
        said.push(format!(
            "Carries {iops} IOPS{}{}.",
            reads.unwrap_or_default(),
            log_writes.unwrap_or_default()
        ));
        said.push(mailboxes(run));
    } else if let Some(pass) = passes::judged(run) {
        said.push(passes::sentence(pass));
        said.extend(passes::copies_sentence(run));
    } else {
        said.push("Every rule that applies was kept.".to_owned());
    }
    said
}

/// The sentence about mailboxes, which is among those of a load that passed.
pub fn mailboxes(run: &RunRecord) -> String {
    Carried::of(run).sentence()
}

fn failed(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let damaged = verdict
        .findings
        .iter()
        .any(|finding| finding.kind == Kind::Damage && finding.outcome == Ruling::Fail);
    let answer = match (damaged, run.start.test) {
        (true, _) => "Not fit to hold data.",
        (false, TestType::Performance | TestType::Stress) => "Does not carry this load.",
        (false, TestType::Backup) if is_held_back_by_copies(verdict) => {
            "Too slow to be copied like this: what the copies are written to is the limit."
        }
        (false, TestType::Backup | TestType::Checksum) => "Too slow to be read like this.",
        (false, TestType::Recovery) => "Too slow to recover like this.",
    };
    let mut said = vec![answer.to_owned()];
    said.extend(failures(run, verdict));
    said
}

/// Whether the run was too slow only because of the copies of a backup.
pub(crate) fn is_held_back_by_copies(verdict: &Verdict) -> bool {
    let mut failed = verdict.findings.iter().filter(|of| of.outcome == Ruling::Fail).peekable();
    failed.peek().is_some() && failed.all(|finding| finding.rule == "copy-rate")
}

fn not_judged(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let mut said = vec!["Inconclusive: this run cannot judge the storage.".to_owned()];
    said.extend(why_not_judged(run, verdict));
    said
}

/// The limits that were missed, and why they do not count against the storage; only the reasons if
/// no limit was missed.
pub(crate) fn why_not_judged(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let missed = missed(verdict);
    let because = if missed.is_empty() { "" } else { "Not held against the storage, because: " };
    missed
        .into_iter()
        .map(|of| format!("Limit not kept: {}", objection(run, of)))
        .chain(decisive(verdict).into_iter().map(|of| format!("{because}{}", objection(run, of))))
        .chain(
            too_few(verdict)
                .into_iter()
                .map(|of| format!("Too few requests: {}", objection(run, of))),
        )
        .collect()
}

/// Requests that an invalid run lacks beside what makes it so: without that it would still be too
/// short. A run that was cut off says so already. Mean and maximum of a request are judged by the
/// same number.
fn too_few(verdict: &Verdict) -> Vec<&Finding> {
    let decisive = decisive(verdict);
    let is_invalid = decisive.first().is_some_and(|of| of.kind == Kind::Validity)
        && decisive.iter().all(|of| of.rule != "completed");
    let mut few = Vec::new();
    few.extend(verdict.findings.iter().filter(|of| {
        let is_unjudged = is_invalid && of.outcome == Ruling::CannotJudge;
        is_unjudged && of.unit == Unit::Requests && of.rule.ends_with("-average")
    }));
    few
}

/// The load limits that an invalid run missed; too few requests do not count as a miss. Numbers of
/// an altered record are not repeated.
fn missed(verdict: &Verdict) -> Vec<&Finding> {
    let decisive = decisive(verdict);
    if decisive.first().is_none_or(|finding| finding.kind != Kind::Validity) {
        return Vec::new();
    }
    verdict
        .findings
        .iter()
        .filter(|of| of.outcome == Ruling::CannotJudge && of.kind == Kind::Load)
        .filter(|of| of.unit != Unit::Requests && of.misses_limit())
        .collect()
}

/// The findings that make a run inconclusive.
pub(crate) fn decisive(verdict: &Verdict) -> Vec<&Finding> {
    verdict.decisive()
}

/// One sentence per failed rule, damage first.
fn failures(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let failed = verdict.findings.iter().filter(|finding| finding.outcome == Ruling::Fail);
    let (damage, others): (Vec<_>, Vec<_>) = failed.partition(|of| of.kind == Kind::Damage);
    damage.into_iter().chain(others).map(|finding| objection(run, finding)).collect()
}

/// The objection of a finding, with its numbers and the first place where it occurred.
pub fn objection(run: &RunRecord, finding: &Finding) -> String {
    let place = finding
        .evidence
        .first()
        .map(|evidence| format!(": {}", introduced(evidence, &describe(run, evidence))))
        .unwrap_or_default();
    format!("{}{}{place}.", finding.title, numbers(finding))
}

/// The number of a finding next to its limit, to follow its title; empty if there is none.
pub(crate) fn numbers(finding: &Finding) -> String {
    finding.numbers()
}

/// `described` prefixed with the kind of thing it names, since the top of a page has no context
/// yet.
fn introduced(evidence: &Evidence, described: &str) -> String {
    let needs_word = evidence.database.is_some() && !described.starts_with("database ");
    format!("{}{described}", if needs_word { "database " } else { "" })
}

/// A number with its unit.
pub(crate) fn quantity(number: f64, unit: Unit) -> String {
    unit.after(&format::three_digits(number))
}

/// A number with its unit, precise enough to show on which side of its limit it lies.
pub(crate) fn quantity_beside(number: f64, limit: Limit, unit: Unit) -> String {
    unit.beside(number, limit.value())
}

/// The limit with its unit, rounded so that it stays on its side of the number.
pub(crate) fn limit_beside(number: f64, limit: Limit, unit: Unit) -> String {
    unit.limit_beside(number, limit.value())
}

/// A piece of evidence with the database's name and the time.
pub(crate) fn describe(run: &RunRecord, evidence: &Evidence) -> String {
    let database = evidence.database.map(|index| format!("{}: ", database_name(run, index)));
    // While a run was cut off, the clock of its measurement stood still.
    let clock = if run.breaks.is_empty() { "" } else { " after the start" };
    let time = evidence.span_ns.map(|(from, to)| {
        if from == to {
            format!(" (at {}{clock})", format::offset(from))
        } else {
            format!(" (from {} to {}{clock})", format::offset(from), format::offset(to))
        }
    });
    format!(
        "{}{}{}",
        database.unwrap_or_default(),
        evidence.text.trim_end_matches('.'),
        time.unwrap_or_default()
    )
}

/// The name of a database, or its number if the record has no facts about it.
pub(crate) fn database_name(run: &RunRecord, index: u32) -> String {
    let mut facts = run.start.databases.iter();
    facts
        .find(|facts| facts.index == index)
        .map_or_else(|| format!("database {index}"), |facts| facts.name.clone())
}

#[cfg(test)]
mod tests {
    use record::{Break, OtherRun, ProcessorShares, RunRecord, Tuned};
    use verdict::{NamedRun, Ruling};

    use crate::tests::{passing, simulated, too_small};

    /// The same run, and one that failed and one that could not be judged.
    fn of_each_outcome(run: RunRecord) -> [(RunRecord, Ruling); 3] {
        let (mut failed, mut unjudged) = (run.clone(), run.clone());
        failed.start.settings.thresholds.read_average_ns = 1;
        unjudged.start.settings.thresholds.minimum_measure_ns = u64::MAX;
        [(run, Ruling::Pass), (failed, Ruling::Fail), (unjudged, Ruling::CannotJudge)]
    }

    /// Mailboxes that do not fit have no room whatever the storage can carry.
    #[test]
    fn mailboxes_without_room_are_told_whatever_the_verdict() {
        for (run, outcome) in of_each_outcome(too_small()) {
            let verdict = verdict::judge(&run);
            assert_eq!(verdict.outcome, outcome);
            let said = super::sentences(&run, &verdict).join(" ");
            let room = "Warning: Mailboxes that have room 1,117, at least 1,200: 1,200 mailboxes";
            assert_eq!(said.matches(room).count(), 1, "{said}");
        }
    }

    /// A step asks to end the programs that are named above it.
    #[test]
    fn other_programs_are_named_whatever_the_verdict() {
        let mut run = passing();
        let top = record::ProgramShare { name: "rustc".to_owned(), percent: 40.0 };
        for row in &mut run.intervals {
            row.processors = Some(ProcessorShares {
                busy_percent: 60.0,
                others_percent: 40.0,
                top: Some(top.clone()),
                ..ProcessorShares::default()
            });
        }
        for (run, outcome) in of_each_outcome(run) {
            let verdict = verdict::judge(&run);
            assert_eq!(verdict.outcome, outcome);
            let said = super::sentences(&run, &verdict).join(" ");
            let named = "Warning: Processor time of other programs 40 %, limit 25 %:";
            assert!(said.contains(named) && said.contains("(top: rustc 40 %)"), "{said}");
        }
    }

    #[test]
    fn another_run_on_the_disks_is_told_whatever_the_verdict() {
        let mut run = passing();
        run.other_runs.push(OtherRun {
            at_ns: 1,
            folder: "/tests/run-b".to_owned(),
            volume: "/mail/db01".to_owned(),
            disk: "sda".to_owned(),
        });
        for (run, alone) in of_each_outcome(run) {
            let verdict = verdict::judge(&run);
            let said = super::sentences(&run, &verdict).join(" ");
            let reason = match alone {
                // Nothing that failed beside another run is held against the storage.
                Ruling::Fail => "Not held against the storage, because: ",
                _ => "Warning: ",
            };
            let other = "Other runs on the same disks 1, limit 0: the run in /tests/run-b used sda";
            assert!(said.contains(&format!("{reason}{other}")), "{said}");
            assert!(verdict.outcome != Ruling::Fail, "{said}");
        }
    }

    /// A reader who sees only the busy processors does not suspect slow storage.
    #[test]
    fn a_run_that_cannot_be_judged_names_the_limit_it_missed_before_the_reason() {
        let mut run = passing();
        run.start.settings.thresholds.read_average_ns = 1_000;
        for host in run.intervals.iter_mut().filter_map(|row| row.host.as_mut()) {
            host.processor_percent = Some(99.9);
        }
        let verdict = verdict::judge(&run);
        assert_eq!(verdict.outcome, Ruling::CannotJudge);
        let said = super::sentences(&run, &verdict);
        assert!(said[1].starts_with("Limit not kept: Database read latency"), "{said:?}");
        assert!(said[1].contains(" ms, limit 0.001 ms"), "{said:?}");
        let why =
            "Not held against the storage, because: Load on the processors 99.9 %, limit 90 %";
        assert!(said[2].starts_with(why), "{said:?}");
        assert!(!said.concat().contains("Too few requests"), "{said:?}");
        run.start.settings.thresholds.minimum_log_writes = 1_000_000;
        let short = super::sentences(&run, &verdict::judge(&run)).concat();
        let few = "Too few requests: Log write latency, mean";
        assert_eq!(short.matches("Too few requests").count(), 1, "{short}");
        assert!(short.contains(few) && short.contains("at least 1,000,000"), "{short}");

        let named = |name: &str| {
            let (record, verdict) = (run.clone(), verdict.clone());
            NamedRun { name: name.to_owned(), record, verdict }
        };
        let runs = [named("before"), named("after")];
        let comparison = verdict::compare(&runs).expect("one test");
        let text = crate::comparison_text(&runs, &comparison);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [said[1].as_str(), why] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    /// The measured time of a resumed run lags behind its times of day.
    #[test]
    fn the_times_of_a_resumed_run_name_their_clock() {
        let mut run = passing();
        run.start.settings.thresholds.read_maximum_ns = 1;
        let said = |run: &RunRecord| super::sentences(run, &verdict::judge(run)).join(" ");
        assert!(!said(&run).contains(" after the start)"), "{}", said(&run));
        run.breaks.push(Break { from_ns: 1, to_ns: 2, is_orderly: true });
        assert!(said(&run).contains(" after the start)"), "{}", said(&run));
    }

    #[test]
    fn a_run_without_a_missed_limit_gives_its_reasons_alone() {
        let mut run = passing();
        run.finished = None;
        let verdict = verdict::judge(&run);
        let said = super::sentences(&run, &verdict);
        assert!(said.iter().all(|one| !one.contains("Limit not kept")), "{said:?}");
        assert_eq!(said.len(), 2, "{said:?}");
    }

    /// A simulation has no date, its name includes the model, and a failing one states its error
    /// bound as a passing one does.
    #[test]
    fn a_simulated_run_says_of_which_model_and_how_far_off_whatever_the_verdict() {
        let mut run = simulated();
        run.tuned = Some(Tuned::default());
        for outcome in [Ruling::Pass, Ruling::Fail] {
            if outcome == Ruling::Fail {
                run.start.settings.target_iops = Some(10.0 * run.achieved_transactional_iops());
            }
            let verdict = verdict::judge(&run);
            assert_eq!(verdict.outcome, outcome);
            let text = crate::text(&run, &verdict);
            let head = text.split("Next Steps and Limits").next().expect("a beginning");
            assert!(head.contains(", simulated on VNXe3300 - "), "{head}");
            assert!(head.contains("\nsimulated, in virtual time\n"), "{head}");
            assert_eq!(head.matches("Warning: Simulated, not measured").count(), 1, "{head}");
            assert!(head.contains("25 %"), "{head}");
        }
    }
}
