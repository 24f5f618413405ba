//! The project's own automation, so that a check is one command here and the same command in CI.

#![expect(clippy::print_stdout, reason = "printing is this program's output")]

mod dist;
mod fuzz;
mod guest;
mod layers;
mod licences;
mod peers;
mod steps;
mod tidy;
mod windows;
mod wine;

use std::process::ExitCode;

use xtask::command;
use xtask::failure::Failure;
use xtask::shell;

const USAGE: &str = "\
cargo xtask <command>

  test [STEP...]  set up what the tests need, then run every check; or only the named steps
  tidy            the house rules: sizes, documentation, banned words, dead files
  tidy --tighten  the same, and lower the limits in xtask/figures.toml to what was found
  tidy --explain  the same, with the places behind the figures
  layers          every dependency edge against the table in ARCHITECTURE.md
  bench NAME [DIR]  speed against a peer, or counts against limits, with files in DIR
                  (default: target/bench)
  fidelity        what published runs counted, beside what our load counts under their latencies
  fuzz [SECONDS]  every decoder of foreign bytes, so long each (default 10)
  crash --seeds N [--first S]      power failures in N random scripts, on every processor
  crash --seed S [--step K]        one script again, power failing at request K or at every one
  crash ... --log-segment 512|4096 logs in segments of that length; else it changes between lives
  cache-crash --seeds N [--first S]  power failures of a volume behind the flash cache
  damage [--times N]               flipped bits, misdirected, lost and torn writes, N of each
                  (default 10000), and what `check` makes of them
  lies [DIR [faults|healthy]]      the real program on storage that loses bytes or stands still, and
                  on healthy storage under disturbances, with files in DIR (default: target/lies;
                  in memory, what else the disk does matters least); needs root
  kill [--times N]                 the real program killed N times (default 100)
  soak [--minutes N] [--iops N]    a load so long (default 10), then every reader must agree; held
                  at so many I/Os a second, libesedb too follows every long value
  windows [--kills N]              the Windows build, made here and held under Wine to what this
                  one does, and killed N times (default 20); says which packages it lacks
  dist            programs for Windows and Linux that need nothing beside them, with checksums and
                  the licences of all that is in them, in target/dist
  caches          disks with caches on, off and believed to be otherwise, in a machine of QEMU's;
                  a minute after the build; root on Debian installs what it needs
  caches --measured [N]            caches of known mode and size under a FUSE volume, N of each
                  kind (default 10), as `inspect --measure` sees them; FUSE; 5 min
  deny            cargo-deny where it is installed, else the licence check alone
";

fn main() -> ExitCode {
    command::run(USAGE, &["bench"], dispatch)
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["test", names @ ..] => steps::run(names),
        ["tidy"] => tidy::run(tidy::Mode::Check),
        ["tidy", "--explain"] => tidy::run(tidy::Mode::Explain),
        ["tidy", "--tighten"] => tidy::run(tidy::Mode::Tighten),
        ["layers"] => layers::run(),
        ["bench", options @ ..] => runner("cargo run -q --release -p bench --", options),
        ["fidelity"] => runner("cargo run -q --release -p bench --", &["fidelity"]),
        ["fuzz"] => fuzz::run(fuzz::SHORT_SECONDS),
        ["fuzz", seconds] => fuzz::run(
            seconds
                .parse()
                .map_err(|_| Failure::new(format!("`{seconds}` is no number of seconds")))?,
        ),
        ["crash", options @ ..] => {
            runner("cargo run -q --release -p testkit --bin crash --", options)
        }
        ["cache-crash", options @ ..] => {
            runner("cargo run -q --release -p flashcache --example crash --", options)
        }
        ["damage", options @ ..] => {
            runner("cargo run -q --release -p testkit --bin damage --", options)
        }
        ["lies"] => lies(&["target/lies"]),
        ["lies", options @ ..] => lies(options),
        ["kill"] => kill("100"),
        ["kill", "--times", times] => kill(times),
        ["soak"] => soak("10", None),
        ["soak", "--minutes", minutes] => soak(minutes, None),
        ["soak", "--iops", iops] => soak("10", Some(iops)),
        ["soak", "--minutes", minutes, "--iops", iops] => soak(minutes, Some(iops)),
        ["windows"] => windows::whole("20"),
        ["windows", "--kills", kills] => windows::whole(kills),
        ["dist"] => dist::run(),
        ["caches"] => guest::caches(),
        ["caches", "--measured"] => measured_caches("10"),
        ["caches", "--measured", tries] => measured_caches(tries),
        ["deny"] => licences::deny(),
        _ => Err(Failure::new(USAGE)),
    }
}

/// Runs another program of the workspace with these options.
fn runner(program: &str, options: &[&str]) -> Result<(), Failure> {
    let words = program.split(' ').chain(options.iter().copied());
    shell::run(&words.collect::<Vec<_>>())
}

/// Has the real program, in its release build, judge storage that lies.
fn lies(options: &[&str]) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let command = "cargo run -q --release -p testkit --bin lies -- target/release/plimsoll";
    runner(command, options)
}

/// Kills the real program so many times and holds its databases to what it acknowledged.
fn kill(times: &str) -> Result<(), Failure> {
    program_test("kill", &[("PLIMSOLL_KILLS", times)])
}

/// Loads a database so many minutes and has every independent reader compare what it sees.
fn soak(minutes: &str, iops: Option<&str>) -> Result<(), Failure> {
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

/// Has the real program measure caches of known behaviour through FUSE, so many of each kind.
fn measured_caches(tries: &str) -> Result<(), Failure> {
    program_tests("end_to_end", " caches_are_told_apart", &[("PLIMSOLL_CACHE_TRIES", tries)])
}

/// A test of the real program in its release build, made longer than usual by its environment.
fn program_test(name: &str, environment: &[(&str, &str)]) -> Result<(), Failure> {
    program_tests(name, "", environment)
}

/// The same with further words for the program of tests.
fn program_tests(name: &str, more: &str, environment: &[(&str, &str)]) -> Result<(), Failure> {
    let words = format!("cargo test -q --release -p plimsoll --test {name} -- --nocapture{more}");
    let status = shell::command(&words.split(' ').collect::<Vec<_>>())
        .envs(environment.iter().copied())
        .status();
    if status.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Failure::new(format!("`{words}` failed")))
}
