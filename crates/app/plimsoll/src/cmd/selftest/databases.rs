//! Populates, loads, closes and examines small databases: every page, every tree, every message.

use std::path::Path;

use host::fill::fill;
use host::{HostError, RunOrder, refuse_shortage};
use plan::{Overrides, Plan};
use record::RunRecord;
use units::{Bytes, Nanos, thousands};
use verdict::{Finding, Kind, Ruling};

use super::{PartEnd, TrialGround};
use console::error::CommandError;
use console::shown;
use databases::verify::examine;

const SIZE: Bytes = Bytes(32 << 20);

/// Long enough for caches to turn over and logs to be closed.
const DURATION: Nanos = Nanos::from_secs(20);

pub(super) fn test(ground: &TrialGround<'_>) -> Result<PartEnd, CommandError> {
    let TrialGround { folder, stop, quiet } = ground;
    let overrides =
        Overrides { size: Some(SIZE), duration: Some(DURATION), ..Overrides::default() };
    let plan = Plan::quick(&folder.display().to_string(), &overrides)?;
    fill(&plan, stop, &shown::on_console(*quiet))?;
    let order = RunOrder {
        plan: &plan,
        command: "plimsoll selftest".to_owned(),
        options: Vec::new(),
        folder: &folder.join("run"),
        tags: &[],
        set: &[],
        resumed: None,
        acknowledge: None,
        is_held: false,
    };
    refuse_shortage(&plan, stop)?;
    let measured = match host::run(order, stop, &shown::on_console(*quiet)) {
        Ok(measured) => measured,
        Err(HostError::Sentence(why)) if stop.is_set() => return Ok(PartEnd::Untried(why)),
        // The databases were filled moments ago, so failing to open them is the storage's fault.
        Err(HostError::Sentence(what)) => return Ok(PartEnd::Broken(vec![what])),
        Err(error) => return Err(error.into()),
    };
    let mut findings = damages(&measured.verdict.findings);
    if findings.is_empty()
        && let Some(why) = cut_short(&measured.record)
    {
        return Ok(PartEnd::Untried(why));
    }
    let mut rows = 0;
    for database in &plan.databases {
        let (report, contents) = examine(&Path::new(&database.folder).join(&database.file))?;
        let wrong = contents.map(|contents| contents.named).unwrap_or_default();
        let problems = report.findings.iter().map(ToString::to_string).chain(wrong);
        findings.extend(problems.map(|problem| format!("{}: {problem}", database.file)));
        rows += report.rows;
    }
    if !findings.is_empty() {
        return Ok(PartEnd::Broken(findings));
    }
    let pages: u64 = measured.record.checksums.iter().map(|pass| pass.seen_pages).sum();
    Ok(PartEnd::Held(format!(
        "{} databases of {SIZE}, filled, loaded for {DURATION}, closed: {} pages, {} rows, nothing \
         wrong with any",
        plan.databases.len(),
        thousands(pages),
        thousands(rows),
    )))
}

fn damages(findings: &[Finding]) -> Vec<String> {
    findings.iter().filter_map(damage).collect()
}

/// Describes a finding if it is damage; `None` for the speed of the storage.
fn damage(finding: &Finding) -> Option<String> {
    if finding.kind != Kind::Damage || finding.outcome != Ruling::Fail {
        return None;
    }
    let places: Vec<&str> =
        finding.evidence.iter().map(|evidence| evidence.text.as_str()).collect();
    Some(format!("{}: {}", finding.title, places.join("; ")))
}

/// Why the run did not finish, if it did not.
fn cut_short(record: &RunRecord) -> Option<String> {
    let finished = record.finished.as_ref()?;
    let reason = finished.reason.clone().unwrap_or_else(|| "the run was interrupted".to_owned());
    finished.interrupted.then_some(reason)
}
