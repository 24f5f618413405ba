//! Programs and tests of the workspace that prove one property, for as long as they are allowed to
//! run.

use xtask::failure::Failure;
use xtask::shell;

use crate::peers;
use crate::suite::PROGRAM;

/// Runs another program of the workspace with these options.
fn runner(program: &str, options: &[&str]) -> Result<(), Failure> {
    let words = program.split(' ').chain(options.iter().copied());
    shell::run(&words.collect::<Vec<_>>())
}

/// Runs the tests that `words` select; `environment` makes them longer than usual.
fn test(words: &str, environment: &[(&str, &str)]) -> Result<(), Failure> {
    let words = format!("cargo test -q {words}");
    let status = shell::command(&words.split(' ').collect::<Vec<_>>())
        .envs(environment.iter().copied())
        .status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new(format!("`{words}` failed")))
}

/// Power failures in random scripts, with every promise checked.
pub(crate) fn crash(options: &[&str]) -> Result<(), Failure> {
    runner("cargo run -q --release -p testkit --bin crash --", options)
}

/// Power failures of a volume behind the flash cache.
pub(crate) fn cache_crash(options: &[&str]) -> Result<(), Failure> {
    runner("cargo run -q --release -p flashcache --example crash --", options)
}

/// Two hosts of one volume, under faults.
pub(crate) fn mirror(options: &[&str]) -> Result<(), Failure> {
    runner("cargo run -q --release -p mirror --example mirror --", options)
}

/// Damaged databases, and what `check` finds in them.
pub(crate) fn damage(options: &[&str]) -> Result<(), Failure> {
    runner("cargo run -q --release -p testkit --bin damage --", options)
}

/// A benchmark that compares with a peer or with limits.
pub(crate) fn bench(options: &[&str]) -> Result<(), Failure> {
    runner("cargo run -q --release -p bench --", options)
}

/// Packages the crates of the reader library as for a registry. `cargo` builds each from its
/// package and those of the others.
pub(crate) fn reader_crates() -> Result<(), Failure> {
    let words = "cargo package -q -p plimsoll-units -p ese -p plimsoll-ese --target-dir \
                 target/packages";
    runner(words, &[])
}

/// Feeds damaged logs of the real engine to every step of a recovery: `mutants` of them in one
/// process, and one for every 25 to the program.
pub(crate) fn log_mutants(mutants: &str) -> Result<(), Failure> {
    test("-p eselog --test engine mutants", &[("PLIMSOLL_MUTANTS", mutants)])?;
    shell::run(&["cargo", "build", "-q", "-p", PROGRAM])?;
    let programs = mutants.parse::<u64>().map_or(1, |mutants| mutants.div_ceil(25)).to_string();
    let command = "cargo run -q -p testkit --bin log_mutants -- target/debug/plimsoll --mutants";
    runner(command, &[&programs])
}

/// Compares counts of published runs with those of our load.
pub(crate) fn fidelity() -> Result<(), Failure> {
    bench(&["fidelity"])
}

/// Has the release build judge storage that loses bytes or stalls.
pub(crate) fn lies(options: &[&str]) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", PROGRAM])?;
    let command = "cargo run -q --release -p testkit --bin lies -- target/release/plimsoll";
    runner(command, options)
}

/// Tests outputs of controllers and network captures, `count` of each, with every kind of damage
/// that copying from a terminal does.
pub(super) fn mutants(count: &str) -> Result<(), Failure> {
    let words = "--release -p inspection -p vrrp --test mutants -- --nocapture";
    test(words, &[("PLIMSOLL_MUTANTS", count)])
}

/// Tests in full what `cargo xtask test` tests in part: bits of every kind of page, `designs`
/// random deployments, calibration of both kinds of flash.
pub(super) fn exhaustive(designs: &str) -> Result<(), Failure> {
    test("--release -p testkit --lib every_bit -- --include-ignored", &[])?;
    let drawn = "--release -p provision --lib every_design";
    test(drawn, &[("PLIMSOLL_DESIGNS", designs)])?;
    test("--release -p simdisk --lib calibrate -- --include-ignored", &[])
}

/// Kills the real program `times` times and checks its databases against what it acknowledged.
pub(crate) fn kill(times: &str) -> Result<(), Failure> {
    program_test("kill", &[("PLIMSOLL_KILLS", times)])
}

/// Kills the server of a flash cache `times` times and checks it against the acknowledgements that
/// clients saw.
pub(crate) fn cache_kill(times: &str) -> Result<(), Failure> {
    program_tests("end_to_end", " cached::kills", &[("PLIMSOLL_CACHE_KILLS", times)])
}

/// Kills two hosts and their NATS server `times` times and checks them against what their clients
/// saw.
pub(crate) fn mirror_kills(times: &str) -> Result<(), Failure> {
    program_tests("end_to_end", " mirrored::kills", &[("PLIMSOLL_MIRROR_KILLS", times)])
}

/// Runs two hosts in separate networks `times` times; `first` is the first of the seeds from which
/// faults are drawn.
pub(crate) fn mirror_network(times: &str, first: &str) -> Result<(), Failure> {
    let environment = [("PLIMSOLL_MIRROR_RUNS", times), ("PLIMSOLL_MIRROR_FIRST", first)];
    program_tests("end_to_end", " mirrored::network --ignored", &environment)
}

/// Examines the device under a mirrored volume at `times` instants.
pub(crate) fn mirror_instants(times: &str) -> Result<(), Failure> {
    program_tests("end_to_end", " mirrored::instants", &[("PLIMSOLL_MIRROR_INSTANTS", times)])
}

/// Measures the cost of a mirrored write compared with its parts, on an idle machine.
pub(crate) fn mirror_speed() -> Result<(), Failure> {
    program_tests("end_to_end", " mirrored::speed --ignored", &[])
}

/// Sweeps of `designs` simulations: killed five times and resumed, and run by agents with one of
/// them lost.
pub(crate) fn sweeps(designs: &str) -> Result<(), Failure> {
    program_tests("end_to_end", " sweeps::", &[("PLIMSOLL_SWEEP_DESIGNS", designs)])
}

/// Proves every worked example of the sizing, and checks the tables in docs/worked-examples.md.
pub(super) fn examples() -> Result<(), Failure> {
    program_tests("end_to_end", " deployments::examples", &[("PLIMSOLL_PROOFS", "all")])
}

/// Loads a database for `minutes` and has every independent reader compare what it sees.
pub(crate) fn soak(minutes: &str, iops: Option<&str>) -> Result<(), Failure> {
    let minutes: u32 = minutes
        .parse()
        .map_err(|_| Failure::new(format!("`{minutes}` is no number of minutes")))?;
    peers::install()?;
    let (seconds, folder) = ((minutes * 60).to_string(), peers::folder());
    let folder = folder.display().to_string();
    let mut environment = vec![("PLIMSOLL_LOAD_SECONDS", &*seconds), (peers::VARIABLE, &*folder)];
    environment.extend(iops.map(|iops| ("PLIMSOLL_LOAD_IOPS", iops)));
    program_test("load", &environment)
}

/// Runs a fleet of two systems, with the development build of each.
pub(crate) fn mixed_fleet(environment: &[(&str, &str)]) -> Result<(), Failure> {
    test("-p plimsoll --test windows -- --nocapture a_fleet_of_two_systems", environment)
}

/// Has the real program measure caches of known behaviour through FUSE, `tries` of each kind.
pub(crate) fn measured_caches(tries: &str) -> Result<(), Failure> {
    let alone = " caches_are_told_apart --ignored";
    program_tests("end_to_end", alone, &[("PLIMSOLL_CACHE_TRIES", tries)])
}

/// Has libiscsi's suite test our target alone, our target on a served cache, and tgt.
pub(super) fn iscsi() -> Result<(), Failure> {
    const ALONE: &str = "libiscsi_finds_no_more_faults_than_in_tgt --ignored";
    test(&format!("--release -p export-iscsi --lib -- {ALONE}"), &[])?;
    program_tests("end_to_end", &format!(" {ALONE}"), &[])
}

/// Runs every test of the real program on its release build.
pub(super) fn release_tests() -> Result<(), Failure> {
    peers::install()?;
    let folder = peers::folder().display().to_string();
    test("--release -p plimsoll", &[(peers::VARIABLE, &folder), ("PLIMSOLL_SCREENSHOTS", "yes")])
}

/// Runs a test of the real program in its release build; `environment` makes it longer than usual.
pub(crate) fn program_test(name: &str, environment: &[(&str, &str)]) -> Result<(), Failure> {
    program_tests(name, "", environment)
}

/// Like [`program_test`], with further arguments for the test program.
pub(crate) fn program_tests(
    name: &str,
    more: &str,
    environment: &[(&str, &str)],
) -> Result<(), Failure> {
    test(&format!("--release -p plimsoll --test {name} -- --nocapture{more}"), environment)
}
