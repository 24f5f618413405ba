//! What a run means in sentences, because a verdict alone does not tell a storage engineer what
//! to promise and what to try next.

use record::{Phase, RunRecord, Series};
use verdict::{Evidence, Finding, Kind, Outcome, Unit, Verdict};

use crate::format;

/// IOPS of a mailbox where the plan names none: 150 messages a day in Exchange 2013 and later
/// (0.101 in Microsoft's mailbox profile table).
const USUAL_IOPS_PER_MAILBOX: f64 = 0.1;

/// Databases smaller than this many times their cache are served from it too much to tell how
/// the storage does on a real mail server: interior pages and much of the leaves stay cached.
const SMALL_DATABASE_CACHES: u64 = 20;

/// IOPS per mailbox to compute with.
pub(crate) fn iops_per_mailbox(run: &RunRecord) -> f64 {
    let stated = run.start.settings.iops_per_mailbox;
    stated
        .filter(|&iops| iops > 0.0)
        .unwrap_or(USUAL_IOPS_PER_MAILBOX)
}

/// Mailboxes that the achieved load stands for, rounded down to two digits: more would be a claim.
pub(crate) fn mailboxes_carried(run: &RunRecord) -> f64 {
    let mailboxes = run.achieved_transactional_iops() / iops_per_mailbox(run);
    if mailboxes < 10.0 {
        return mailboxes.floor();
    }
    let step = 10_f64.powf(mailboxes.log10().floor() - 1.0);
    (mailboxes / step).floor() * step
}

/// What the run means.
pub(crate) fn sentences(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    match verdict.outcome {
        Outcome::Pass | Outcome::Warn => passed(run, verdict),
        Outcome::Fail => failed(run, verdict),
        Outcome::CannotJudge => not_judged(run, verdict),
    }
}

fn passed(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let mut said = Vec::new();
    if run.span_ns(Phase::Measure) > 0 {
        let mailboxes = format::number(mailboxes_carried(run), 0);
        let each = format::number(iops_per_mailbox(run), 2);
        let iops = format::three_digits(run.achieved_transactional_iops());
        let sum = run.sum_of(Phase::Measure);
        let latency = |series: Series| sum.series.get(&series).map(|of| of.latency.mean_ns());
        let reads = latency(Series::DatabaseRead)
            .map(|ns| format!(" at {} per database read", format::latency(ns)));
        let log_writes = latency(Series::LogWrite)
            .map(|ns| format!(" and {} per log write", format::latency(ns)));
        said.push(format!(
            "Carries about {mailboxes} mailboxes of {each} IOPS: {iops} IOPS{}{}.",
            reads.unwrap_or_default(),
            log_writes.unwrap_or_default()
        ));
    } else {
        said.push("Every rule that applies was kept.".to_owned());
    }
    said.extend(objections(run, verdict, Outcome::Warn));
    said
}

fn failed(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let damaged = verdict
        .findings
        .iter()
        .any(|finding| finding.kind == Kind::Damage && finding.outcome == Outcome::Fail);
    let answer = if damaged {
        "Not fit to hold data."
    } else {
        "Does not carry this load."
    };
    let mut said = vec![answer.to_owned()];
    said.extend(objections(run, verdict, Outcome::Fail));
    said
}

/// Where the run itself is not valid, that alone is said: all else follows from it.
fn not_judged(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let mut said = vec!["This run proves nothing about the storage.".to_owned()];
    let unjudged = |kind: Option<Kind>| {
        let findings = verdict.findings.iter();
        findings.filter(move |finding| {
            finding.outcome == Outcome::CannotJudge && kind.is_none_or(|kind| finding.kind == kind)
        })
    };
    // What makes all else worthless stands alone: an altered record, then a run that is not valid.
    let decisive = [Some(Kind::Record), Some(Kind::Validity), None]
        .into_iter()
        .find(|&kind| unjudged(kind).next().is_some());
    let reasons = decisive.into_iter().flat_map(unjudged);
    said.extend(reasons.map(|finding| objection(run, finding)));
    said
}

/// One sentence per finding of an outcome, damage first.
fn objections(run: &RunRecord, verdict: &Verdict, outcome: Outcome) -> Vec<String> {
    let matching = verdict
        .findings
        .iter()
        .filter(|finding| finding.outcome == outcome);
    let mut matching: Vec<&Finding> = matching.collect();
    matching.sort_by_key(|finding| finding.kind != Kind::Damage);
    let said = matching.iter().map(|finding| objection(run, finding));
    said.collect()
}

fn objection(run: &RunRecord, finding: &Finding) -> String {
    let numbers = match (finding.measured, finding.limit) {
        (Some(measured), Some(limit)) => format!(
            " {}, limit {}",
            quantity(measured, finding.unit),
            quantity(limit.value(), finding.unit)
        ),
        _ => String::new(),
    };
    let place = finding
        .evidence
        .first()
        .map(|evidence| format!(": {}", describe(run, evidence)))
        .unwrap_or_default();
    format!("{}{}{place}.", finding.title, numbers)
}

/// A number with its unit.
pub(crate) fn quantity(number: f64, unit: Unit) -> String {
    let separator = if unit == Unit::PerSecond { "" } else { " " };
    let text = format!(
        "{}{separator}{}",
        format::three_digits(number),
        unit.symbol()
    );
    text.trim_end().to_owned()
}

/// A piece of evidence with the database's name and the time.
pub(crate) fn describe(run: &RunRecord, evidence: &Evidence) -> String {
    let database = evidence
        .database
        .map(|index| format!("{}: ", database_name(run, index)));
    let time = evidence.span_ns.map(|(from, to)| {
        if from == to {
            format!(" (at {})", format::offset(from))
        } else {
            format!(" (from {} to {})", format::offset(from), format::offset(to))
        }
    });
    format!(
        "{}{}{}",
        database.unwrap_or_default(),
        evidence.text.trim_end_matches('.'),
        time.unwrap_or_default()
    )
}

/// The name of a database, or its number where the record has no facts about it.
pub(crate) fn database_name(run: &RunRecord, index: u32) -> String {
    let mut facts = run.start.databases.iter();
    facts
        .find(|facts| facts.index == index)
        .map_or_else(|| format!("database {index}"), |facts| facts.name.clone())
}

/// What to do next.
pub(crate) fn next_steps(run: &RunRecord, verdict: &Verdict) -> Vec<String> {
    let failed = |rule: &str| {
        let mut failing = verdict
            .findings
            .iter()
            .filter(|finding| finding.outcome == Outcome::Fail);
        failing.any(|finding| finding.rule == rule)
    };
    let mut steps = Vec::new();
    match verdict.outcome {
        Outcome::Pass | Outcome::Warn if is_small(run) => steps.push(
            "These databases are small: much of them fits into the caches of disks and arrays. \
             Prepare the size you will run: plimsoll prepare PLAN, then plimsoll run PLAN."
                .to_owned(),
        ),
        Outcome::Pass | Outcome::Warn => steps.push(
            "Run it for two hours, then for a day: plimsoll run PLAN --test stress --duration 24h."
                .to_owned(),
        ),
        Outcome::Fail if failed("checksums") || failed("input-output-errors") => steps.push(
            "Do not put data on this storage before the cause of the errors is found: look into \
             the system log and the controller's log for the times above."
                .to_owned(),
        ),
        Outcome::Fail => {
            if failed("log-write-latency-average") {
                steps.push(
                    "Slow log writes mean that no write cache acknowledges them: check that the \
                     controller's cache is on and its battery good."
                        .to_owned(),
                );
            }
            let threads = (run.sessions_per_database() / 2).max(1);
            steps.push(format!(
                "Find the load that it does carry: plimsoll run PLAN --threads {threads}."
            ));
        }
        Outcome::CannotJudge => {
            steps.push("Run the test again without what is named above.".to_owned());
        }
    }
    steps
}

fn is_small(run: &RunRecord) -> bool {
    let caches = run.start.settings.cache_maximum_bytes * SMALL_DATABASE_CACHES;
    let mut databases = run.start.databases.iter();
    databases.any(|facts| facts.initial_bytes < caches)
}
