//! A fleet in network namespaces of this machine: controller, server and four hosts, with links that
//! are cut, programs that are killed, and a server that restarts.

mod cases;
mod world;

use std::time::{Duration, Instant};

use xtask::failure::Failure;
use xtask::shell;

use cases::{CASES, Case};
use world::World;

/// Runs every case `times` times and prints what each measured.
pub(crate) fn run(times: u32) -> Result<(), Failure> {
    if let Some(missing) = missing() {
        println!("fleet skipped: {missing}");
        return Ok(());
    }
    shell::run(&["cargo", "build", "-q", "-p", "plimsoll"])?;
    let world = World::new()?;
    println!("{:<12} {:>5} {:>8}  result", "case", "time", "seconds");
    let mut complaints = Vec::new();
    for case in CASES {
        for time in 1..=times {
            let began = Instant::now();
            let result = attempt(case, &world);
            let said = result.as_ref().map_or_else(ToString::to_string, Clone::clone);
            let seconds = began.elapsed().as_secs();
            println!("{:<12} {time:>2}/{times:<2} {seconds:>8}  {said}", case.name);
            complaints.extend(result.err().map(|why| format!("{}: {why}", case.name)));
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::list("a fleet did not do what it must", &complaints))
}

fn attempt(case: &Case, world: &World) -> Result<String, Failure> {
    let fleet = world.fleet(case.name, case.measured)?;
    (case.run)(&fleet)
}

/// What this machine lacks.
fn missing() -> Option<&'static str> {
    let is_root = shell::capture(&["id", "-u"]).is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Some("network namespaces need root");
    }
    let programs = [
        ("ip", "it needs the package iproute2"),
        ("openssl", "it needs the package openssl"),
        ("nats-server", "it needs the package nats-server"),
    ];
    let is_missing =
        |program: &str| shell::capture(&["sh", "-c", &format!("command -v {program}")]).is_err();
    programs.into_iter().find(|(program, _)| is_missing(program)).map(|(_, why)| why)
}

/// Waits until `is` holds, for `longest`.
fn wait_until(
    what: &str,
    longest: Duration,
    mut is: impl FnMut() -> bool,
) -> Result<Duration, Failure> {
    let began = Instant::now();
    while !is() {
        if began.elapsed() > longest {
            return Err(Failure::new(format!("{what} did not happen within {longest:?}")));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(began.elapsed())
}
