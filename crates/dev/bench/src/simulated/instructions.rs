//! Instructions per event of the operation model. They do not depend on the hour, and hardly on the
//! machine.

use units::Nanos;

use super::Figure;
use crate::events;
use xtask::failure::Failure;
use xtask::shell;

/// The bench command that only makes the events of some seconds.
pub(crate) const COMMAND: &str = "bench-events";

/// Spans of virtual time; their difference has no start in it.
const SPANS_SECONDS: [u64; 2] = [60, 660];

/// Most instructions of an event: a tenth above the 1,594 counted.
const MOST: f64 = 1_750.0;

/// Counts them with callgrind; `None` without it.
pub(super) fn per_event() -> Result<Option<Figure>, Failure> {
    if !shell::installed("valgrind") {
        println!("SKIPPED, no valgrind on this machine: instructions per event");
        return Ok(None);
    }
    let [short, long] = SPANS_SECONDS.map(counted);
    let ((events, instructions), (more_events, more_instructions)) = (short?, long?);
    let each = (more_instructions - instructions) / (more_events - events);
    Ok(Some(Figure { name: "instructions of an event", measured: each, most: MOST }))
}

/// Events and instructions of a span.
fn counted(seconds: u64) -> Result<(f64, f64), Failure> {
    let program = std::env::current_exe().map_err(Failure::of)?.display().to_string();
    let seconds = seconds.to_string();
    let counter = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let words = [&counter[..], &[&program, COMMAND, &seconds]].concat();
    let output = shell::command(&words).output().map_err(Failure::of)?;
    let [printed, told] =
        [output.stdout, output.stderr].map(|of| String::from_utf8_lossy(&of).into_owned());
    let collected = told.lines().find_map(|line| line.split_once("Collected : "));
    let instructions = collected.and_then(|(_, count)| count.trim().parse::<f64>().ok());
    let events = printed.trim().parse::<f64>().ok();
    events
        .zip(instructions)
        .ok_or_else(|| Failure::new(format!("`{}` counted nothing:\n{told}", words.join(" "))))
}

/// Makes the events and prints their number.
pub(crate) fn alone(seconds: &str) -> Result<(), Failure> {
    let seconds = seconds.parse().map_err(|_| Failure::new(format!("`{seconds}` is no number")))?;
    println!("{}", events::counted(Nanos::from_secs(seconds))?.0);
    Ok(())
}
