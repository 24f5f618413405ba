//! Problems that processors reveal in a deployment.

use units::{counted, limit_beside, three_digits, three_digits_beside};

use crate::finding::Severity::{Violation, Warning};
use crate::key::{FailureMode, Key, ProcessorKey, ServerKind};
use crate::number::Number;
use crate::processor::MOST_PROCESSOR;
use crate::remedy;
use crate::sheet::Sheet;
use crate::work::Work;

/// Use of the processors, their number, and servers of unknown speed.
pub(super) fn judge(work: &mut Work<'_>) {
    used(work);
    cores(work);
    not_sized(work);
}

/// The decisive shares: those of the simulated failures if there are any, otherwise those of the
/// formulas.
fn used(work: &mut Work<'_>) {
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
            let found = [remedy::faster_processors, remedy::more_servers, remedy::more_groups];
            let remedy = remedy::one_of(work, key, &found, "take faster servers and more of them");
            work.find(Violation, key, text, remedy);
        }
    }
    if !shares.is_empty() {
        let worst = shares.iter().map(Number::value).fold(0.0, f64::max);
        work.sheet.put(Key::ProcessorUtilWorst, Number::of_all("max", &shares, worst));
    }
}

fn cores(work: &mut Work<'_>) {
    let limit = work.deployment.product.figures.cores_limit.value;
    let cores = work.deployment.servers.first.cores.max(work.deployment.servers.second.cores);
    if cores > limit {
        let (cores, limit) = (three_digits(cores), three_digits(limit));
        let text = format!("{cores} cores are more than the {limit} that were tested");
        work.find(Warning, Key::ServersCoresGiven, text, "take more, smaller servers");
    }
}

/// Servers of unknown speed: no rule can judge whether their processors are enough.
fn not_sized(work: &mut Work<'_>) {
    let found =
        ServerKind::ALL.into_iter().find_map(|kind| Some((kind, unjudged(&work.sheet, kind)?)));
    let Some((kind, need)) = found else {
        return;
    };
    let (cores, place) = unknown_speed(work, kind);
    let text = format!(
        "processors are not sized: at the worst a server needs {}, and the speed of its {} is not \
         known",
        work.shown(need),
        counted(&three_digits(cores), "core"),
    );
    let remedy = format!(
        "add {place}: the SPECint_rate2006 result of the server model, from spec.org/cpu2006 or \
         its vendor"
    );
    work.find(Warning, need, text, remedy);
}

/// The number of cores of these servers, and the key of their speed with its section.
const fn unknown_speed(work: &Work<'_>, kind: ServerKind) -> (f64, &'static str) {
    let servers = &work.deployment.servers;
    match kind {
        ServerKind::First => (servers.first.cores, "`spec_rate` to [servers]"),
        ServerKind::Second => (servers.second.cores, "`spec_rate` to [second_site]"),
        ServerKind::Lagged => (servers.lagged.cores, "`lagged_spec_rate` to [servers]"),
    }
}

/// The largest need of servers whose speed is unknown; `None` if it is known, or there are none.
pub(crate) fn unjudged(sheet: &Sheet, kind: ServerKind) -> Option<Key> {
    if sheet.number(Key::ProcessorMcyclesAvailable(kind)).is_some() {
        return None;
    }
    let modes = FailureMode::LISTED.into_iter().chain([FailureMode::Worst]);
    let needs = modes.map(|mode| Key::Processor(ProcessorKey::Need, mode, kind));
    let known = needs.filter_map(|key| Some((key, sheet.number(key)?)));
    known.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use plan::Deployment;

    use crate::{PlayedLayout, Severity, Sizing, calculate};

    fn sized(rest: &str) -> Sizing {
        let text = format!(
            "[[tier]]\nmailboxes = 1650\nmessages_per_day = 100\nsize_limit = \"5GiB\"\n\
             [availability]\nservers_per_site = 3\ncopies = 2\n{rest}"
        );
        let deployment = Deployment::parse("d.toml", &text).expect("a deployment");
        calculate(&deployment).judge(|_, _| PlayedLayout::NotPlayed)
    }

    /// One core may be too few, and no rule can tell.
    #[test]
    fn servers_of_unknown_speed_are_a_finding() {
        let sizing = sized("[servers]\ncores = 1\n");
        let found = sizing.findings.iter().find(|of| of.text.starts_with("processors are not"));
        let found = found.expect("a finding");
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.text.contains("the speed of its 1 core is"), "{}", found.text);
        assert!(found.remedy.contains("`spec_rate` to [servers]"), "{}", found.remedy);
        assert!(sizing.number(found.key).is_some(), "{} is explained", found.key);
        assert!(sizing.is_workable() && sizing.has_unsized_processors());
    }

    #[test]
    fn servers_of_known_speed_are_no_finding() {
        let known = sized("[servers]\nspec_rate = 540\n");
        assert!(!known.has_unsized_processors(), "{:?}", known.findings);
        assert!(known.findings.iter().all(|of| !of.text.contains("not sized")));
    }
}
