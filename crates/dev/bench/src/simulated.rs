//! Speed of virtual time: events of the operation model per second on one core, and whole
//! simulations of a published array against the clock.

use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::{events, folder};
use xtask::failure::Failure;
use xtask::shell;

/// Two databases of the published run, three sessions each.
const PLAN: &str = "preset = \"exchange2010\"\n[databases]\nfolders = [\"/vnx\"]\ncount = 2\n\
    size = \"900GiB\"\n[test]\nmaintenance_throttle = \"31200us\"\n";

/// Duration and level of each simulation, and its limit in seconds. Level 1 must be a hundred times
/// as fast as the clock, including startup.
const WHOLE: [(&str, &[&str], f64); 3] = [
    ("2 hours, level 2", &["--duration", "2h", "--level", "2"], 5.0),
    ("24 hours, level 2", &["--duration", "24h", "--level", "2"], 60.0),
    ("10 minutes, level 1", &["--duration", "10m", "--level", "1"], 6.0),
];

/// Measures events and whole simulations, and prints both; fails if a simulation takes too long.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let (events, took) = events::counted()?;
    let per_second = events as f64 / took.as_secs_f64();
    println!("{events} events in {:.2} s: {per_second:.0} events/s", took.as_secs_f64());
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let own = directory.join("plimsoll-bench-simulated");
    folder::remove(&own)?;
    folder::create(&own)?;
    let slow = whole(&own);
    folder::remove(&own)?;
    match slow? {
        0 => Ok(()),
        slow => Err(Failure::new(format!("{slow} simulations took longer than they may"))),
    }
}

/// Prints the duration of each simulation; returns how many take too long.
fn whole(folder: &Path) -> Result<usize, Failure> {
    let plan = folder.join("plan.toml");
    fs::write(&plan, PLAN).map_err(|error| Failure::new(format!("{}: {error}", plan.display())))?;
    let program = shell::root().join("target/release/plimsoll").display().to_string();
    let (plan, mut slow) = (plan.display().to_string(), 0);
    for (number, (name, options, most)) in WHOLE.iter().enumerate() {
        let out = folder.join(number.to_string()).display().to_string();
        let load = ["--array", "vnxe3300", "--threads", "3", "--rest", "100", "-o", &out];
        let words = [&[&*program, "--quiet", "simulate", &plan], &load[..], options].concat();
        let begun = Instant::now();
        // The exit status reflects the verdict, which does not matter here.
        let ended = shell::command(&words).output();
        let took = begun.elapsed().as_secs_f64();
        ended.map_err(|error| Failure::new(format!("{program}: {error}")))?;
        if !Path::new(&out).join("report.json").exists() {
            return Err(Failure::new(format!("`{}` wrote no report", words.join(" "))));
        }
        let word = if took <= *most { "kept" } else { "MISSED" };
        println!("{name:<22} {took:>6.1} s, at most {most} s: {word}");
        slow += usize::from(took > *most);
    }
    Ok(slow)
}
