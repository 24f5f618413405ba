//! How fast virtual time goes: events of the operation model per second on one core, and whole
//! simulations of a published array against the clock.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use simdisk::ArrayDescription;
use simdisk::operations::{
    BatchShape, LoadedDatabase, LogShape, OperationLoad, OperationPlace, OperationProfile,
    OperationRun, ScanShape, SpanShape, WriteBurst,
};
use units::{Nanos, Seed};

use crate::folder;
use xtask::failure::Failure;
use xtask::shell;

/// The array that is simulated: that of a published run.
const ARRAY: &str = include_str!("../../../arrays/vnxe3300.toml");

/// Virtual time that events are counted in.
const SPAN: Nanos = Nanos::from_secs(3_600);

const DATABASE_BYTES: u64 = 900 << 30;

/// Two databases of the published run, three sessions each.
const PLAN: &str = "preset = \"exchange2010\"\n[databases]\nfolders = [\"/vnx\"]\ncount = 2\n\
    size = \"900GiB\"\n[test]\nmaintenance_throttle = \"31200us\"\n";

/// Options, and the most seconds that they may take. Level 1 is to be a hundred times as fast as
/// the clock, with its start.
const WHOLE: [(&str, &[&str], f64); 3] = [
    ("2 hours, level 2", &["--duration", "2h", "--level", "2"], 5.0),
    ("24 hours, level 2", &["--duration", "24h", "--level", "2"], 60.0),
    ("10 minutes, level 1", &["--duration", "10m", "--level", "1"], 6.0),
];

/// Prints both; fails where a simulation takes longer than it may.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let (events, took) = events()?;
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

/// Events of a load like the published one, and how long they took.
fn events() -> Result<(u64, Duration), Failure> {
    let failed = |error: simdisk::DescriptionError| Failure::new(error.to_string());
    let array = ArrayDescription::parse("vnxe3300", ARRAY, &[]).map_err(failed)?;
    let profile = profile();
    let databases = [0, 1].map(|number| {
        let base = number * (DATABASE_BYTES + (64 << 30));
        let place = OperationPlace { array: 0, base, bytes: DATABASE_BYTES };
        let log = OperationPlace { array: 0, base: base + DATABASE_BYTES, bytes: 32 << 30 };
        LoadedDatabase { sessions: 3, place, log, pace: None }
    });
    let load = OperationLoad {
        profile: &profile,
        databases: databases.into(),
        rest_percent: 100,
        scan: Some(ScanShape { pause: Nanos::from_micros(31_200), bytes: 256 << 10 }),
        processors: None,
    };
    let mut run = OperationRun::new(&[array], load, Seed(1)).map_err(failed)?;
    let begun = Instant::now();
    run.advance(SPAN, |_| ());
    Ok((run.events(), begun.elapsed()))
}

/// What a published batch comes to: 20 reads, 0.6 page writes and 2.6 KB of log for each of them,
/// every second transaction durable.
fn profile() -> OperationProfile {
    let span = |is_durable| SpanShape {
        reads: 2,
        reads_beside: 0,
        updates: 4,
        log_bytes: 5_200,
        is_durable,
    };
    let spans = (0..10).map(|number| span(number % 2 == 0)).collect();
    OperationProfile {
        batches: vec![BatchShape { spans }],
        bursts: vec![WriteBurst { after_reads: 20, bytes: vec![32 << 10; 12] }],
        read_bytes: 32 << 10,
        writes_in_flight: 32,
        writes_behind: 1_000,
        log: LogShape {
            file_bytes: 1 << 20,
            header_bytes: 4_096,
            segment_bytes: 512,
            write_behind_bytes: 512 << 10,
            buffer_bytes: 2 << 20,
            longest_write_bytes: 512 << 10,
            beside: Vec::new(),
        },
    }
}

/// Prints how long each simulation takes; how many take too long.
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
        // The status is that of the verdict, which is not asked for here.
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
