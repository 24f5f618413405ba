//! The table of lies: the real program's verdicts on storage that loses bytes or stalls, and on
//! healthy storage. `lies PROGRAM FOLDER [faults|healthy]` fails if one row is wrong; all its files
//! are in FOLDER and are removed. `lies PROGRAM FOLDER faults NAME TIMES` repeats the rows whose
//! name contains NAME.

mod busy;
mod fault_run;
mod fault_table;
mod healthy_run;
mod healthy_table;
mod loop_volume;
mod outcome;
mod program;
mod table;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use testkit::fault_volume::FaultVolume;

use crate::healthy_table::HealthyRow;
use crate::loop_volume::TestFileSystem;
use crate::program::Program;
use crate::table::{LiesTable, say};

/// Maximum number of concurrent runs with a fault: most of them wait.
const FAULT_RUNS_AT_A_TIME: usize = 6;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((program, folder, rows)) = chosen(&words) else {
        say("usage: lies PROGRAM FOLDER [faults [NAME TIMES]|healthy]");
        return ExitCode::from(2);
    };
    match run(Path::new(program), Path::new(folder), &rows) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("{program}, {folder}: {error}"));
            ExitCode::from(2)
        }
    }
}

/// The rows to run.
enum Rows {
    All,
    Healthy,
    /// Those whose name contains this text, this many times.
    Faults(String, usize),
}

/// Program, folder and rows.
fn chosen(words: &[String]) -> Option<(&str, &str, Rows)> {
    let [program, folder, rest @ ..] = words else {
        return None;
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let rows = match rest.as_slice() {
        [] => Rows::All,
        ["healthy"] => Rows::Healthy,
        ["faults"] => Rows::Faults(String::new(), 1),
        ["faults", name, times] => Rows::Faults((*name).to_owned(), times.parse().ok()?),
        _ => return None,
    };
    Some((program, folder, rows))
}

/// Prints the table, or one part of it; returns how many rows are wrong.
fn run(program: &Path, folder: &Path, rows: &Rows) -> io::Result<usize> {
    let program = Program::new(program)?;
    fs::create_dir_all(folder)?;
    let folder = folder.canonicalize()?;
    let table = LiesTable::default();
    match rows {
        Rows::All => run_faults(&program, &folder, &table, "", 1),
        Rows::Faults(name, times) => run_faults(&program, &folder, &table, name, *times),
        Rows::Healthy => {}
    }
    if !matches!(rows, Rows::Faults(..)) {
        run_healthy(&program, &folder, &table);
    }
    Ok(table.close())
}

fn run_faults(program: &Program, folder: &Path, table: &LiesTable, name: &str, times: usize) {
    if !FaultVolume::is_possible() {
        say("skipped: the faults, because this user cannot mount a FUSE volume here");
        return;
    }
    say("storage that loses bytes or stands still");
    let mut rows: Vec<_> = (0..times).flat_map(|_| fault_table::all()).collect();
    rows.retain(|row| row.to_string().contains(name));
    table.fill(rows, FAULT_RUNS_AT_A_TIME, |number, row| {
        fault_run::run(program, &folder.join(number.to_string()), row)
    });
}

/// Whether the program that creates such a file system is installed; prints a message if not.
fn can_make(system: TestFileSystem) -> bool {
    let name = system.maker();
    let mut command = Command::new(name);
    let shown = command.arg("-V").stdout(Stdio::null()).stderr(Stdio::null());
    let found = shown.status().is_ok();
    if !found {
        say(&format!("skipped: {system}, because {name} is not installed"));
    }
    found
}

fn run_healthy(program: &Program, folder: &Path, table: &LiesTable) {
    if !nix::unistd::geteuid().is_root() {
        say("skipped: the healthy runs, because only root can mount a loop device");
        return;
    }
    let mut systems = Vec::from(TestFileSystem::ALL);
    systems.retain(|system| can_make(*system));
    if systems.is_empty() {
        return;
    }
    say("storage with which nothing is wrong");
    for disturbance in healthy_table::DISTURBANCES {
        let load = disturbance.load();
        let rows = systems.iter().map(|&system| HealthyRow { system, disturbance });
        table.fill(rows.collect(), systems.len(), |number, row| {
            healthy_run::run(program, &folder.join(number.to_string()), row)
        });
        drop(load);
    }
}
