//! End-to-end tests that `test` leaves to `prove release`, which runs all of them: simulations that
//! take much processor time and depend on no system, and real loads that are repeated until a busy
//! machine lets them be judged. Shorter ones of the same code stay in `test`.

use super::Program;

/// Least processor time of a test on the list, in seconds of the build that `test` makes.
#[cfg(test)]
const LEAST_SECONDS: u32 = 12;

/// Names of the tests, each with its processor time in seconds.
const LEFT: [(&str, u32); 10] = [
    ("deployments::physics::a_degraded_set_is_as_busy_as_its_service_demand_says", 43),
    ("simulated::the_levels_agree_within_five_percent_and_name_themselves", 34),
    ("simulated::alike_folders_are_simulated_once", 30),
    ("simulated::seeds_give_means_with_intervals", 25),
    ("slow_log::a_log_of_12_ms_fails_by_the_log_rule_and_one_of_8_ms_does_not", 20),
    ("simulated::arrays_are_ranked_and_one_without_a_write_cache_fails_by_its_log", 22),
    ("deployments::examples::the_examples_hold_and_fail_as_the_page_says", 17),
    ("deployments::examples::what_the_formulas_call_failed_fails", 15),
    (
        "simulated::the_levels_agree_on_writes_where_databases_shrink_and_the_memory_of_the_array_\
         does_not",
        15,
    ),
    ("flash_caches::a_plan_on_an_array_gains_and_says_how_long_it_takes", 15),
];

/// Arguments with which `program` skips them.
pub(super) fn arguments(program: &Program) -> Vec<&'static str> {
    if !program.waits() || program.target != "end_to_end" {
        return Vec::new();
    }
    let mut arguments = vec!["--exact"];
    arguments.extend(LEFT.iter().flat_map(|(name, _)| ["--skip", *name]));
    arguments
}

/// Says how many tests are left out, and where they run.
pub(crate) fn sentence() -> String {
    let seconds: u32 = LEFT.iter().map(|(_, seconds)| seconds).sum();
    let count = LEFT.len();
    format!("  {count} tests of {seconds} s of processor are left to `cargo xtask prove release`")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use xtask::shell;

    use super::{LEAST_SECONDS, LEFT};

    #[test]
    fn each_test_on_the_list_is_there_once_and_long() {
        let folder = shell::root().join("crates/app/plimsoll/tests/end_to_end");
        for (name, seconds) in LEFT {
            let (group, test) = name.rsplit_once("::").unwrap();
            let stem = folder.join(group.replace("::", "/"));
            let files = [stem.with_extension("rs"), stem.join("mod.rs")];
            let text = files.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap();
            assert!(text.contains(&format!("\nfn {test}()")), "{name}");
            assert!(seconds >= LEAST_SECONDS, "{name}");
        }
        let names: BTreeSet<_> = LEFT.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), LEFT.len());
    }
}
