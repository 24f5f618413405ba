//! Speed of virtual time, in figures that hold at any hour: instructions per event of the operation
//! model, and times beside those of a reference loop in alternating slices of one run. Seconds are
//! reported alone, since they measure the hour.

pub(crate) mod instructions;
mod reference;

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Instant;

use units::Nanos;

use crate::{PAIRS, events, folder, median};
use xtask::failure::Failure;
use xtask::shell;

/// Two databases of the published run, three sessions each.
const PLAN: &str = "preset = \"exchange2010\"\n[databases]\nfolders = [\"/vnx\"]\ncount = 2\n\
    size = \"900GiB\"\n[test]\nmaintenance_throttle = \"31200us\"\n";

/// Virtual time of one slice.
const SLICE: Nanos = Nanos::from_secs(1_200);

/// Most steps of the reference loop that an event takes: a sixth above the 8.6 measured.
const MOST_STEPS: f64 = 10.0;

/// Duration and level of each simulation, startup included, and its limit in millions of steps of
/// the reference loop: a fifth above those measured.
const WHOLE: [(&str, &[&str], f64); 3] = [
    ("2 hours, level 2", &["--duration", "2h", "--level", "2"], 390.0),
    ("24 hours, level 2", &["--duration", "24h", "--level", "2"], 2_900.0),
    ("10 minutes, level 1", &["--duration", "10m", "--level", "1"], 290.0),
];

/// A figure beside its limit; smaller is better.
struct Figure {
    name: &'static str,
    measured: f64,
    most: f64,
}

impl Figure {
    fn is_kept(&self) -> bool {
        self.measured <= self.most
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, measured, most } = self;
        let word = if self.is_kept() { "kept" } else { "MISSED" };
        write!(f, "{name}: {measured:.1}, at most {most}: {word}")
    }
}

/// Measures events and whole simulations, and prints both; fails if a limit is missed.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    shell::run(&["cargo", "build", "-q", "--release", "-p", "plimsoll"])?;
    let own = directory.join("plimsoll-bench-simulated");
    folder::remove(&own)?;
    folder::create(&own)?;
    let mut figures: Vec<Figure> = instructions::per_event()?.into_iter().collect();
    figures.push(steps_of_an_event()?);
    let whole = whole(&own);
    folder::remove(&own)?;
    figures.extend(whole?);
    for figure in &figures {
        println!("{figure}");
    }
    match figures.iter().filter(|figure| !figure.is_kept()).count() {
        0 => Ok(()),
        missed => Err(Failure::new(format!("{missed} limits were missed"))),
    }
}

/// The time of an event in steps of the reference loop: median of alternating slices.
fn steps_of_an_event() -> Result<Figure, Failure> {
    let (mut steps, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        let before = reference::step_ns();
        let (events, took) = events::counted(SLICE)?;
        let event_ns = took.as_nanos() as f64 / events as f64;
        steps.push(event_ns / between(before, reference::step_ns()));
        rates.push(1e9 / event_ns);
    }
    println!("{:.0} events/s", median(rates));
    Ok(Figure { name: "steps of an event", measured: median(steps), most: MOST_STEPS })
}

/// The mean of the reference loop before and after.
const fn between(before: f64, after: f64) -> f64 {
    f64::midpoint(before, after)
}

/// The time of each simulation in millions of steps of the reference loop; prints it in seconds.
fn whole(folder: &Path) -> Result<Vec<Figure>, Failure> {
    let plan = folder.join("plan.toml");
    fs::write(&plan, PLAN).map_err(|error| Failure::new(format!("{}: {error}", plan.display())))?;
    let mut figures = Vec::new();
    for (number, (name, options, most)) in WHOLE.iter().enumerate() {
        let out = folder.join(number.to_string());
        let before = reference::step_ns();
        let seconds = simulated(&plan, &out, options)?;
        let step_ns = between(before, reference::step_ns());
        println!("{name}: {seconds:.1} s");
        figures.push(Figure { name, measured: seconds * 1e3 / step_ns, most: *most });
    }
    Ok(figures)
}

/// Seconds that a simulation takes with its report, in the folder `out`.
fn simulated(plan: &Path, out: &Path, options: &[&str]) -> Result<f64, Failure> {
    let program = shell::root().join("target/release/plimsoll").display().to_string();
    let [plan, folder] = [plan, out].map(|path| path.display().to_string());
    let load = ["--array", "vnxe3300", "--threads", "3", "--rest", "100", "-o", &folder];
    let words = [&[&*program, "--quiet", "simulate", &plan], &load[..], options].concat();
    let begun = Instant::now();
    // The exit status reflects the verdict, which does not matter here.
    let ended = shell::command(&words).output();
    let took = begun.elapsed().as_secs_f64();
    ended.map_err(|error| Failure::new(format!("{program}: {error}")))?;
    if !out.join("report.json").exists() {
        return Err(Failure::new(format!("`{}` wrote no report", words.join(" "))));
    }
    Ok(took)
}
