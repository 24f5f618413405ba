//! Builds the test programs, runs them in parallel, and shows which tests took longest.
//!
//! Cargo runs test programs one after the other, so a program with a long last test leaves the
//! other processors idle. The times come from libtest's `--report-time`, which a stable toolchain
//! has if `RUSTC_BOOTSTRAP` is set; only the test programs see it.

pub(crate) mod left_to_prove;
mod programs;
mod times;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

use xtask::failure::Failure;

pub(crate) use programs::{Kind, PROGRAM, Program, build, helper};

use times::TestTime;

/// Number of tests in the list of the slowest.
const SLOWEST: usize = 20;

/// Number of programs that run at the same time, so that the long last test of one leaves no
/// processor idle.
const AT_A_TIME: usize = 2;

/// Number of concurrent tests, per processor, of a program that mostly waits: tests of the real
/// program take less than 1 s of processor time on average, and wait for runs of several seconds.
const WAITING: usize = 4;

/// Maximum number of such tests: more runs would disturb each other on the disk.
const MOST_WAITING: usize = 16;

/// Progress of the programs so far.
#[derive(Default)]
struct Progress {
    waiting: Vec<Program>,
    times: Vec<TestTime>,
    failed: Vec<String>,
}

/// Variables for tests, by name.
pub(crate) type Variables = Vec<(&'static str, PathBuf)>;

/// Runs all `programs` to completion with `variables` set, even if some fail, and prints the
/// slowest tests.
pub(crate) fn run(programs: Vec<Program>, variables: &Variables) -> Result<(), Failure> {
    let mut waiting = programs;
    // Programs are taken from the end, so those with the longest tests start first.
    waiting.sort_by_key(|program| program.kind == Kind::Integration);
    let progress = Mutex::new(Progress { waiting, ..Progress::default() });
    thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| while run_next(&progress, variables) {});
        }
    });
    let progress = progress.into_inner().map_err(Failure::of)?;
    let count = progress.times.len();
    println!("{count} tests; the slowest, in seconds:");
    for test in times::slowest(progress.times, SLOWEST) {
        println!("{test}");
    }
    if progress.failed.is_empty() {
        return Ok(());
    }
    Err(Failure::list("tests failed, see above; to run a program again:", &progress.failed))
}

/// Runs a waiting program; returns `false` if there is none.
fn run_next(progress: &Mutex<Progress>, variables: &Variables) -> bool {
    let Some(program) = locked(progress, |progress| progress.waiting.pop()) else {
        return false;
    };
    let output = command(&program).envs(variables.iter().cloned()).output();
    locked(progress, |progress| match output {
        Ok(output) => progress.note(&program, &output),
        Err(error) => progress.failed.push(format!("{}: {error}", program.executable.display())),
    });
    true
}

fn locked<T>(progress: &Mutex<Progress>, action: impl FnOnce(&mut Progress) -> T) -> T {
    // If a thread panicked under the lock, this one panics too, because the counts would be wrong.
    action(&mut progress.lock().expect("no thread panics under the lock"))
}

/// Number of tests of a program that run at the same time.
fn threads(waits: bool, processors: usize) -> usize {
    if waits { (processors * WAITING).min(MOST_WAITING).max(processors) } else { processors }
}

/// The command that runs a test program in the folder of its package, as cargo does.
fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.executable);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads(program.waits(), processors).to_string();
    command.args(["-Zunstable-options", "--report-time", "--test-threads", &threads]);
    command.args(left_to_prove::arguments(program));
    command.current_dir(&program.folder);
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_MANIFEST_DIR", &program.folder);
    command
}

impl Progress {
    /// Records the times of a finished program, and shows all of its output if it failed.
    fn note(&mut self, program: &Program, output: &Output) {
        let text = String::from_utf8_lossy(&output.stdout);
        let times = times::read(&program.package, &text);
        println!("  {program}: {} tests", times.len());
        self.times.extend(times);
        if output.status.success() {
            return;
        }
        println!("{text}");
        // A failure to write to standard error cannot be reported.
        let _ = std::io::stderr().write_all(&output.stderr);
        self.failed.push(program.again());
    }
}

#[cfg(test)]
mod tests {
    use super::threads;

    #[test]
    fn tests_that_wait_run_several_to_a_processor_up_to_a_limit() {
        assert_eq!(threads(false, 2), 2);
        assert_eq!(threads(true, 2), 8);
        assert_eq!(threads(true, 8), 16);
        assert_eq!(threads(true, 64), 64);
    }
}
