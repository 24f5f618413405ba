//! The test command: set-up and every check in one ordered list, cheapest first.

use std::time::{Duration, Instant};

use crate::{fuzz, layers, licences, peers, tidy, windows};
use xtask::failure::Failure;
use xtask::shell;

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<(), Failure>,
}

const STEPS: &[Step] = &[
    Step {
        name: "format",
        what: "cargo fmt",
        run: || shell::run(&["cargo", "fmt", "--all", "--check"]),
    },
    Step { name: "tidy", what: "the house rules", run: || tidy::run(tidy::Mode::Check) },
    Step { name: "layers", what: "who may depend on whom", run: layers::run },
    Step { name: "licences", what: "licences of every dependency", run: licences::run },
    Step { name: "lint", what: "clippy, pedantic, warnings denied", run: lint },
    Step { name: "peers", what: "independent readers of the file format", run: peers::install },
    Step { name: "unit", what: "unit, property and golden tests", run: unit },
    Step {
        name: "build",
        what: "the release build that the end-to-end tests drive",
        run: || shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"]),
    },
    Step { name: "end-to-end", what: "the real program in scratch folders", run: end_to_end },
    Step {
        name: "windows",
        what: "the Windows build under Wine: unit tests, the program beside this one, kills",
        run: windows::short,
    },
    Step {
        name: "fuzz",
        what: "decoders against generated input",
        run: || fuzz::run(fuzz::SHORT_SECONDS),
    },
    Step { name: "documentation", what: "rustdoc, warnings denied", run: documentation },
];

fn lint() -> Result<(), Failure> {
    let words = "cargo clippy -q --workspace --all-targets -- -D warnings";
    shell::run(&words.split(' ').collect::<Vec<_>>())
}

/// Tests, with the foreign readers at hand.
fn test(what: &str) -> Result<(), Failure> {
    peers::install()?;
    let status = shell::command(&["cargo", "test", "-q"])
        .args(what.split(' '))
        .env(peers::VARIABLE, peers::folder())
        .status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new(format!("`cargo test {what}` failed")))
}

/// Programs of others that look at what ours serves, and their packages in Debian.
const ONLOOKERS: [windows::Tool; 2] =
    [("/usr/bin/chromium", "chromium"), ("/usr/bin/prometheus", "prometheus")];

/// Programs of others that offer storage over a network, and what judges it there.
const SERVERS: [windows::Tool; 4] = [
    ("/usr/sbin/tgtd", "tgt"),
    ("/usr/bin/iscsi-inq", "libiscsi-bin"),
    ("/usr/bin/nbdkit", "nbdkit"),
    ("/usr/bin/qemu-nbd", "qemu-utils"),
];

/// Tests of everything but the program, with the servers that clients are tried against.
fn unit() -> Result<(), Failure> {
    install("tests of storage over a network", &SERVERS);
    test("--workspace --exclude plimsoll")
}

/// Tests with those, and with the programs that look at its pages and metrics.
fn end_to_end() -> Result<(), Failure> {
    install("tests of storage over a network", &SERVERS);
    install("tests of pages and metrics", &ONLOOKERS);
    test("--release -p plimsoll")
}

/// Installs missing tools if allowed; each test reports what it skips without them.
fn install(purpose: &str, tools: &[windows::Tool]) {
    let lacking = windows::install(purpose, tools);
    if !lacking.is_empty() {
        println!(
            "SKIPPED: tests that need {}, which cannot be installed here; on Debian, as root: \
             apt-get update && apt-get install {}",
            lacking.join(" and "),
            lacking.join(" ")
        );
    }
}

fn documentation() -> Result<(), Failure> {
    let status = shell::command(&["cargo", "doc", "-q", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings")
        .status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new("cargo doc found faults"))
}

/// Runs the named steps, or all; stops at the first that fails.
pub(crate) fn run(names: &[&str]) -> Result<(), Failure> {
    let unknown = names.iter().find(|name| STEPS.iter().all(|step| step.name != **name));
    if let Some(unknown) = unknown {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(Failure::new(format!(
            "no step `{unknown}`; the steps are: {}",
            known.join(", ")
        )));
    }
    let chosen: Vec<&Step> =
        STEPS.iter().filter(|step| names.is_empty() || names.contains(&step.name)).collect();
    let mut times: Vec<(&Step, Duration)> = Vec::new();
    for step in chosen {
        println!("== {}: {}", step.name, step.what);
        let started = Instant::now();
        let result = (step.run)();
        times.push((step, started.elapsed()));
        if let Err(failure) = result {
            print_times(&times);
            return Err(Failure::new(format!(
                "{failure}\nFAILED at step {name}; repair it, then run: cargo xtask test {name}",
                name = step.name
            )));
        }
    }
    print_times(&times);
    println!("all passed");
    Ok(())
}

fn print_times(times: &[(&Step, Duration)]) {
    println!("\nstep            seconds");
    for (step, time) in times {
        println!("{:<15} {:>7.1}", step.name, time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    println!("{:<15} {:>7.1}", "total", total.as_secs_f64());
}
