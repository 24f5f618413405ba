//! Problems that the numbers reveal in a deployment (facts 5.20): violations, warnings, remarks.

mod databases;
mod groups;
mod link;
mod processors;
mod volumes;

pub(crate) use processors::unjudged as unjudged_processors;

use std::cmp::Reverse;

use units::three_digits;

use crate::architecture::Architecture;
use crate::failure::Failures;
use crate::finding::DesignFinding;
use crate::finding::Severity::{Remark, Violation, Warning};
use crate::key::{Key, ServerKind};
use crate::metacache;
use crate::number::Number;
use crate::played::PlayedLayout;
use crate::remedy;
use crate::sheet::Value;
use crate::work::Work;

/// Checks everything; findings are sorted by severity, equal ones in the order in which to fix
/// them.
pub(crate) fn validate(
    work: &mut Work<'_>,
    architecture: Architecture,
    failures: &Failures,
    played: &PlayedLayout,
) {
    groups::judge(work);
    layout(work, failures, played);
    waiting(work);
    databases::judge(work);
    volumes::judge(work, architecture);
    metacache::judge(work, architecture);
    processors::judge(work);
    memory(work);
    link::judge(work);
    assumed(work);
    unknown(work);
    work.findings.sort_by_key(|finding| Reverse(finding.severity));
}

/// Figures of another product may be wrong for this one.
fn assumed(work: &mut Work<'_>) {
    let product = &work.deployment.product;
    let (Some(text), Some(assumed)) = (product.assumption(), &product.assumed) else {
        return;
    };
    let text = format!("{text}: {}", assumed.names.join(", "));
    let remedy = "measure them, or give what you answer for in [figures]";
    work.find(Warning, Key::Figure(assumed.names[0]), text, remedy);
}

/// A number that cannot be calculated invalidates everything that depends on it.
fn unknown(work: &mut Work<'_>) {
    let facts = work.sheet.facts().iter();
    let unknown = facts.filter(|fact| match fact.value {
        Value::Number(value) => !value.is_finite(),
        Value::Decision(_) => false,
    });
    work.findings.extend(unknown.map(|fact| DesignFinding {
        severity: Violation,
        key: fact.key,
        text: format!("{} cannot be calculated: {}", fact.key.title(), fact.numbers),
        remedy: "change one of the values that --explain names for it".into(),
    }));
}

/// Standby servers are counted for these databases alone.
fn waiting(work: &mut Work<'_>) {
    let site = work.deployment.second_site.as_ref();
    let shared = site.is_some_and(|site| !site.dedicated_servers);
    if !shared || work.sheet.find(Key::ServerPassiveDc2).is_none() {
        return;
    }
    let text = "servers that wait are counted for these databases alone".to_owned();
    let remedy = "add what else they carry, or give dedicated_servers = true in [second_site]";
    work.find(Remark, Key::ServerPassiveDc2, text, remedy);
}

/// Reports copies that no layout can hold; otherwise records the highest processor load of the
/// simulated failures that the deployment survives.
fn layout(work: &mut Work<'_>, failures: &Failures, played: &PlayedLayout) {
    match played {
        PlayedLayout::NotPlayed => (),
        PlayedLayout::Impossible(reason) => {
            let text = format!("the copies cannot be laid out: {reason}");
            let otherwise = "change the copies or servers that it names";
            let key = Key::CopiesTotal;
            let remedy = remedy::one_of(work, key, &[remedy::more_servers], otherwise);
            work.find(Violation, key, text, remedy);
        }
        PlayedLayout::Processors(shares) => {
            let survived = shares.iter().filter(|(failure, _)| failures.is_survived(*failure));
            let worst = survived.map(|&(_, share)| share).fold(0.0, f64::max);
            let worst = Number::of_all("worst_of_the_played_failures", &[], worst);
            work.sheet.put(Key::ProcessorUtilWorstPlayed, worst);
        }
    }
}

fn memory(work: &mut Work<'_>) {
    let figures = &work.deployment.product.figures;
    let (limit, least) = (figures.memory_limit_gb.value, figures.memory_minimum_gb.value);
    let memory = work.value(Key::MemoryRamGb(ServerKind::First));
    let shown = work.shown(Key::MemoryRamGb(ServerKind::First));
    if memory > limit {
        let limit = three_digits(limit);
        let text = format!("{shown} of memory are more than the {limit} that were tested");
        work.find(Warning, Key::MemoryRamGb(ServerKind::First), text, "take more, smaller servers");
    }
    if memory < least {
        let text = format!(
            "{shown} are enough for this load; the vendor supports no less than {}, which the bill \
             counts",
            three_digits(least)
        );
        let remedy = "buy what the vendor supports";
        work.find(Remark, Key::MemoryBoughtGb(ServerKind::First), text, remedy);
    }
}

#[cfg(test)]
mod tests {
    use plan::Deployment;

    use super::unknown;
    use crate::Severity;
    use crate::key::Key;
    use crate::number::Number;
    use crate::work::Work;

    #[test]
    fn a_number_that_cannot_be_calculated_forbids_the_design() {
        let deployment = Deployment::parse("d.toml", Deployment::example()).unwrap();
        let mut work = Work::new(&deployment);
        work.put(Key::DatabaseCount, 4.0);
        unknown(&mut work);
        assert_eq!(work.findings, []);
        let none = work.put(Key::ServerDags, 0.0);
        work.put(Key::DatabaseMailboxes, Number::named("mailboxes", 5.0) / none);
        unknown(&mut work);
        let [found] = &work.findings[..] else {
            panic!("{:?}", work.findings);
        };
        assert_eq!((found.severity, found.key), (Severity::Violation, Key::DatabaseMailboxes));
        assert_eq!(found.text, "mailboxes of a database cannot be calculated: 5 / 0");
    }
}
