//! Announces the load and its timing before it starts, since others may share the storage.

use std::time::Duration;

use plan::{Plan, Sessions, TestKind};
use record::Thresholds;
use units::Nanos;

use console::term;

/// Describes the load rate of `plan` before and during the measurement; `None` for a test without a
/// load.
pub(crate) fn pace(plan: &Plan) -> Option<String> {
    if !matches!(plan.test.kind, TestKind::Performance | TestKind::Stress) {
        return None;
    }
    let before = match plan.workload.sessions {
        Sessions::Auto => "warm-up and the search for sessions",
        Sessions::Count(_) => "the warm-up",
    };
    let full = format!("{before} as fast as the storage answers");
    let share = plan.workload.throughput_percent.filter(|percent| *percent < 100);
    Some(match (plan.workload.target_iops, share) {
        (Some(target), _) if trial::held_from_start(plan).is_some() => {
            format!("held at {target} IOPS from the first request, {before} included")
        }
        (Some(target), _) => format!("{full}, then held at {target} IOPS"),
        (None, Some(percent)) => {
            format!("{full}, then held at {percent} % of the highest load found")
        }
        (None, None) => "as fast as the storage answers".to_owned(),
    })
}

/// Describes all steps of a run of `plan`, in order; `None` for a test without a load.
pub(crate) fn run_words(plan: &Plan) -> Option<String> {
    let test = &plan.test;
    let day = match plan.workload.day {
        Some(_) => "; the plan's `hours` are for simulations, a run holds the busiest hour",
        None => "",
    };
    let check = if test.checksum { ", and every page is read" } else { "" };
    Some(format!(
        "The load: {}{day}. A warm-up of at most {}, then {} measured{}; then the caches are \
         written out{check}, as fast as the storage answers.",
        pace(plan)?,
        time(test.warm_up_limit),
        time(test.duration),
        doubt(test.duration),
    ))
}

/// Warns of a measurement that is too short for a verdict; empty for a longer one.
pub(crate) fn doubt(measured: Nanos) -> String {
    let least = Nanos(Thresholds::strict().minimum_measure_ns);
    if measured >= least {
        return String::new();
    }
    format!(" (too short for a verdict, which takes {} or more)", time(least))
}

fn time(span: Nanos) -> String {
    term::duration(Duration::from_nanos(span.0))
}

#[cfg(test)]
mod tests {
    use plan::Plan;

    use super::run_words;

    fn said(load: &str, test: &str) -> Option<String> {
        let text = format!(
            "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n[workload]\n{load}\n[test]\n{test}"
        );
        run_words(&Plan::parse("test", &text).expect("a valid plan"))
    }

    #[test]
    fn it_is_said_when_the_load_is_held_and_when_it_is_not() {
        let held = said("target_iops = 48", "").unwrap_or_default();
        assert!(
            held.starts_with(
                "The load: held at 48 IOPS from the first request, warm-up and the search for \
                 sessions included. A warm-up of at most 30 min 00 s, then 2 h 00 min measured;"
            ),
            "{held}"
        );
        let hours = format!("target_iops = 48\nhours = [{}]", ["100"; 24].join(", "));
        let day = said(&hours, "").unwrap_or_default();
        assert!(day.contains("included; the plan's `hours` are for simulations, a run"), "{day}");
        let full = said("target_iops = 48\nthreads = 4", "warm_up = \"full\"").unwrap_or_default();
        assert!(
            full.contains("the warm-up as fast as the storage answers, then held at 48 IOPS."),
            "{full}"
        );
        let share = said("throughput_percent = 80", "checksum = false").unwrap_or_default();
        assert!(share.contains("then held at 80 % of the highest load found."), "{share}");
        assert!(share.ends_with("the caches are written out, as fast as the storage answers."));
        let free = said("", "").unwrap_or_default();
        assert!(free.starts_with("The load: as fast as the storage answers."), "{free}");
        assert_eq!(said("", "type = \"backup\""), None);
        let short = said("", "duration = \"20s\"").unwrap_or_default();
        let doubt = "then 20 s measured (too short for a verdict, which takes 30 s or more);";
        assert!(short.contains(doubt) && !free.contains("too short"), "{short}");
    }
}
