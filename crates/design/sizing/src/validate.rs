//! Problems that the numbers reveal in a deployment (facts 5.20): violations, warnings, remarks.

mod databases;
mod volumes;

use std::borrow::Cow;
use std::cmp::Reverse;

use plan::deployment::SiteModel;
use units::{counted, limit_beside, three_digits, three_digits_beside};

use crate::architecture::Architecture;
use crate::decision::Decision;
use crate::failure::Failures;
use crate::finding::DesignFinding;
use crate::finding::Severity::{Remark, Violation, Warning};
use crate::key::{FailureMode, Key, ProcessorKey, ServerKind};
use crate::metacache;
use crate::network::LINKS;
use crate::number::{Number, write};
use crate::played::PlayedLayout;
use crate::remedy;
use crate::sheet::Value;
use crate::work::Work;

/// Maximum share of its processors that a server may use in the worst case. Source: S-PA19.
const MOST_PROCESSOR: f64 = 0.8;

/// Checks everything; findings are sorted by severity, equal ones in the order in which to fix
/// them.
pub(crate) fn validate(
    work: &mut Work<'_>,
    architecture: Architecture,
    failures: &Failures,
    played: &PlayedLayout,
) {
    groups(work);
    layout(work, failures, played);
    waiting(work);
    databases::judge(work);
    volumes::judge(work, architecture);
    metacache::judge(work, architecture);
    processors(work);
    memory(work);
    link(work);
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

fn groups(work: &mut Work<'_>) {
    let members = remedy::members(&work.sheet);
    let most = work.deployment.product.figures.dag_members.value;
    if work.deployment.has_copies() && members > most {
        let text = format!(
            "a group has {} and may have {}",
            counted(&three_digits(members), "member"),
            three_digits(most)
        );
        let found = [remedy::smaller_groups(work.deployment, &work.sheet, most)];
        let otherwise = "take more groups (availability.dags) of fewer servers";
        let remedy = remedy::one_of(found, otherwise);
        work.find(Violation, Key::ServerPerDag, text, remedy);
    }
    let here = work.value(Key::CopiesFirstSite) + work.value(Key::CopiesFirstSiteLagged);
    let there = work.value(Key::CopiesSecondSite) + work.value(Key::CopiesSecondSiteLagged);
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    if both && (here - there).abs() > 0.5 {
        let text = format!(
            "{} in the first site and {} in the second: their servers carry different loads",
            counted(&three_digits(here), "copy"),
            three_digits(there)
        );
        let remedy = "give both sites of an active/active group the same number of copies";
        work.find(Violation, Key::CopiesSecondSite, text, remedy);
    }
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

/// Copies that fit in no layout; an existing layout determines the load on the processors.
fn layout(work: &mut Work<'_>, failures: &Failures, played: &PlayedLayout) {
    match played {
        PlayedLayout::NotPlayed => (),
        PlayedLayout::Impossible(reason) => {
            let text = format!("the copies cannot be laid out: {reason}");
            let remedy = "change the copies or servers that it names";
            work.find(Violation, Key::CopiesTotal, text, remedy);
        }
        PlayedLayout::Processors(shares) => {
            let survived = shares.iter().filter(|(failure, _)| failures.is_survived(*failure));
            let worst = survived.map(|&(_, share)| share).fold(0.0, f64::max);
            let worst = Number::of_all("worst_of_the_played_failures", &[], worst);
            work.sheet.put(Key::ProcessorUtilWorstPlayed, worst);
        }
    }
}

/// The decisive shares: those of the simulated failures if there are any, otherwise those of the
/// formulas.
fn processors(work: &mut Work<'_>) {
    let by_formula = [
        Key::Processor(ProcessorKey::Util, FailureMode::Worst, ServerKind::First),
        Key::Processor(ProcessorKey::Util, FailureMode::Worst, ServerKind::Second),
        Key::Processor(ProcessorKey::Util, FailureMode::Worst, ServerKind::Lagged),
    ];
    let keys = match work.sheet.find(Key::ProcessorUtilWorstPlayed) {
        Some(_) => &[Key::ProcessorUtilWorstPlayed][..],
        None => &by_formula[..],
    };
    let mut shares = Vec::new();
    for &key in keys {
        let Some(share) = work.sheet.find(key) else {
            continue;
        };
        let used = share.value();
        shares.push(share);
        if used > MOST_PROCESSOR {
            let text = format!(
                "{} % of a server's processors are needed at the worst; {} % is the limit",
                three_digits_beside(used * 100.0, MOST_PROCESSOR * 100.0),
                limit_beside(used * 100.0, MOST_PROCESSOR * 100.0)
            );
            let remedy = faster(work, used);
            work.find(Violation, key, text, remedy);
        }
    }
    if !shares.is_empty() {
        let worst = shares.iter().map(Number::value).fold(0.0, f64::max);
        work.sheet.put(Key::ProcessorUtilWorst, Number::of_all("max", &shares, worst));
    }
    let limit = work.deployment.product.figures.cores_limit.value;
    let cores = work.deployment.servers.first.cores.max(work.deployment.servers.second.cores);
    if cores > limit {
        let (cores, limit) = (three_digits(cores), three_digits(limit));
        let text = format!("{cores} cores are more than the {limit} that were tested");
        work.find(Warning, Key::ServersCoresGiven, text, "take more, smaller servers");
    }
}

/// The server speed at which the limit is met: use is inversely proportional to speed.
fn faster(work: &Work<'_>, used: f64) -> Cow<'static, str> {
    let servers = &work.deployment.servers;
    let slowest = [servers.first, servers.second].into_iter().filter_map(|of| of.spec_rate);
    let rate = slowest.reduce(f64::min).map(|rate| {
        let needed = (rate * used / MOST_PROCESSOR).ceil();
        format!(
            "servers of SPECint_rate2006 {} (servers.spec_rate), or more servers",
            write(needed)
        )
    });
    rate.map_or("take faster servers, or more of them".into(), Cow::Owned)
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
            "{shown} are enough for this load; the vendor supports no less than {}",
            three_digits(least)
        );
        work.find(
            Remark,
            Key::MemoryRamGb(ServerKind::First),
            text,
            "buy what the vendor supports",
        );
    }
}

/// If the link is slower than the recovery point needs, copies fall behind for good. If it is
/// slower than the peak, they fall behind for hours each day, which the recovery point may allow.
fn link(work: &mut Work<'_>) {
    let no = Some(Decision::Answer(false));
    let throughput = Key::NetworkLinkThroughputMbps;
    if work.sheet.decision(Key::NetworkLinkOkRpo) == no {
        let [carried, needed] = work.beside(throughput, Key::NetworkEnvironmentMbps);
        let text = format!(
            "{carried} go through the link and {needed} are needed within the recovery point, {} \
             in the busiest hour",
            work.shown(Key::NetworkPeakEnvironmentMbps)
        );
        let remedy = link_remedy(work);
        work.find(Violation, Key::NetworkLinkOkRpo, text, remedy);
    } else if work.sheet.decision(Key::NetworkLinkOkPeak) == no {
        let [carried, needed] = work.beside(throughput, Key::NetworkPeakEnvironmentMbps);
        let text = format!(
            "{carried} go through the link and the busiest hour needs {needed}: copies of the \
             second site fall behind in it, as far as the recovery point allows"
        );
        let remedy = faster_link(work, Key::NetworkLinkOkPeak)
            .unwrap_or_else(|| "take a faster link or one with less latency".to_owned());
        work.find(Warning, Key::NetworkLinkOkPeak, text, remedy);
    }
}

/// A link for the recovery point, and a faster one if the busiest hour needs it.
fn link_remedy(work: &Work<'_>) -> Cow<'static, str> {
    let enough = faster_link(work, Key::NetworkLinkOkRpo);
    let faster = faster_link(work, Key::NetworkLinkOkPeak).filter(|of| enough.as_ref() != Some(of));
    let faster = faster.map(|link| format!("{link} to keep up in the busiest hour too"));
    let longer = enough.is_some().then(|| "a longer recovery point".to_owned());
    let otherwise = "take a faster link or one with less latency, or allow a longer recovery point";
    remedy::one_of([enough, faster, longer], otherwise)
}

/// The smallest usual link with which the question under `key` is answered with yes.
fn faster_link(work: &Work<'_>, key: Key) -> Option<String> {
    let yes = Some(Decision::Answer(true));
    remedy::faster_link(work.deployment, &LINKS, |sheet| sheet.decision(key) == yes)
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
