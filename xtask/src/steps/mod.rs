//! Ordered lists of checks, cheapest first: `test` for every push, `prove` for a release.

mod proofs;
mod table;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use xtask::failure::Failure;
use xtask::shell;

pub(crate) use proofs::{
    bench, cache_crash, cache_kill, crash, damage, fidelity, kill, lies, measured_caches, mirror,
    mirror_kills, mirror_network, mirror_speed, mixed_fleet, program_test, program_tests, soak,
    sweeps,
};
pub(crate) use table::{PROVE, TEST};

use crate::processor;

/// One check, with the name by which it can be requested.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub name: &'a str,
    pub what: &'a str,
    pub run: &'a dyn Fn() -> Result<(), Failure>,
}

/// Cost of a step.
struct Cost<'a> {
    name: &'a str,
    wall: Duration,
    /// Processor time of all programs that the step waited for; `None` except on Linux.
    processor: Option<Duration>,
}

pub(crate) fn format() -> Result<(), Failure> {
    shell::run(&["cargo", "fmt", "--all", "--check"])
}

/// Runs Clippy on the whole workspace; cargo rechecks only crates that a change reaches.
pub(crate) fn lint() -> Result<(), Failure> {
    let words = "cargo clippy -q --workspace --all-targets -- -D warnings";
    shell::run(&words.split(' ').collect::<Vec<_>>())
}

/// The arguments that `cargo clippy -- -D warnings` passes to its driver, each followed by clippy's
/// marker. The escape keeps part of the marker from being taken for an unfinished-work word.
const LINT_ARGUMENTS: &str = "-D__CLIPPY_\x48ACKERY__warnings__CLIPPY_\x48ACKERY__";

/// Runs rustdoc on the crates with the driver that [`lint`] has used. With the compiler itself,
/// cargo would check every crate of the workspace a second time.
pub(crate) fn documentation() -> Result<(), Failure> {
    let mut command = shell::command(&["cargo", "doc", "-q", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    if let Some(driver) = lint_driver() {
        command.env("RUSTC_WORKSPACE_WRAPPER", driver).env("CLIPPY_ARGS", LINT_ARGUMENTS);
    }
    if command.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("cargo doc found faults"))
}

/// Path of clippy's driver; `None` if it is not next to the compiler.
fn lint_driver() -> Option<PathBuf> {
    let root = shell::capture(&["rustc", "--print", "sysroot"]).ok()?;
    let driver = PathBuf::from(root.trim()).join("bin").join("clippy-driver");
    driver.exists().then_some(driver)
}

/// The steps of `list` with these names, or all if there are none.
pub(crate) fn chosen<'a>(
    verb: &str,
    list: &[Step<'a>],
    names: &[&str],
) -> Result<Vec<Step<'a>>, Failure> {
    if let Some(unknown) = names.iter().find(|name| list.iter().all(|step| step.name != **name)) {
        let known: Vec<&str> = list.iter().map(|step| step.name).collect();
        return Err(Failure::new(format!(
            "`{verb}` has no step `{unknown}`; its steps are: {}",
            known.join(", ")
        )));
    }
    let is_asked = |step: &&Step| names.is_empty() || names.contains(&step.name);
    Ok(list.iter().filter(is_asked).copied().collect())
}

/// Runs `steps` in order until one fails, and prints the cost of each.
pub(crate) fn perform(verb: &str, steps: &[Step]) -> Result<(), Failure> {
    let mut costs = Vec::new();
    let mut outcome = Ok(());
    for step in steps {
        println!("== {}: {}", step.name, step.what);
        let (cost, result) = measured(step);
        costs.push(cost);
        if let Err(failure) = result {
            let failed = format!("{failure}\nFAILED at step {}; fix it, then run: ", step.name);
            outcome = Err(Failure::new(format!("{failed}cargo xtask {verb}")));
            break;
        }
    }
    print_costs(&costs);
    if outcome.is_ok() {
        println!("all passed");
    }
    outcome
}

fn measured<'a>(step: &Step<'a>) -> (Cost<'a>, Result<(), Failure>) {
    let (started, before) = (Instant::now(), processor::of_children());
    let result = (step.run)();
    let processor =
        processor::of_children().zip(before).map(|(after, before)| after.saturating_sub(before));
    (Cost { name: step.name, wall: started.elapsed(), processor }, result)
}

fn print_costs(costs: &[Cost]) {
    println!("\n{:<15} {:>8} {:>10}", "step", "seconds", "processor");
    for cost in costs {
        print_cost(cost.name, cost.wall, cost.processor);
    }
    let wall = costs.iter().map(|cost| cost.wall).sum();
    print_cost("total", wall, costs.iter().map(|cost| cost.processor).sum());
}

fn print_cost(name: &str, wall: Duration, processor: Option<Duration>) {
    let processor = processor.map_or("-".to_owned(), |time| format!("{:.1}", time.as_secs_f64()));
    println!("{name:<15} {:>8.1} {processor:>10}", wall.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::{PROVE, TEST, chosen};

    #[test]
    fn steps_are_chosen_by_name_in_their_order_and_others_are_refused() {
        let all = chosen("test", TEST, &[]).expect("no name asks for all");
        assert_eq!(all.len(), TEST.len());
        let two = chosen("test", TEST, &["lint", "tidy"]).expect("both are steps");
        let names: Vec<&str> = two.iter().map(|step| step.name).collect();
        assert_eq!(names, ["tidy", "lint"]);
        let refused = chosen("prove", PROVE, &["unit"]).err().map(|failure| failure.to_string());
        let refused = refused.expect("`unit` is a step of the other list");
        assert!(refused.starts_with("`prove` has no step `unit`; its steps are: "), "{refused}");
    }
}
