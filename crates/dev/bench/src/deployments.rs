//! A day of a deployment in virtual time with 4, 8 and 16 hosts: the cost must grow with the hosts,
//! and sixteen must take at most two minutes of processor time, which is a minute on two cores.
//! Elapsed seconds are printed but not judged, because other programs lengthen them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rehearsal::{
    Happening, Occurrence, PlayOrder, PlayedCopy, PlayedDatabase, PlayedDeployment, PlayedHost,
    PlayedRules, groups, play, replay_of, timeline,
};
use simdisk::ArrayDescription;
use simdisk::operations::OperationPlace;
use units::{Nanos, Seed};

use crate::replay::peak_memory_mib;
use crate::tally::Usage;
use xtask::failure::Failure;

/// Twelve disks of 4 TB, RAID 10.
const ARRAY: &str = include_str!("../../../../arrays/shelf-sata.toml");

const HOSTS: [usize; 3] = [4, 8, 16];

/// Active databases per host.
const DATABASES: usize = 10;

const COPIES: usize = 4;

/// Demanded IOPS per database.
const IOPS: f64 = 12.0;

const DATABASE_BYTES: u64 = 400 << 30;

/// Maximum processor time for sixteen hosts: a minute of two cores.
const MOST_PROCESSOR: Duration = Duration::from_mins(2);

/// Maximum memory for sixteen hosts.
const MOST_MIB: f64 = 2_048.0;

/// Maximum cost after the hosts double, relative to twice the cost before.
const LARGEST_EXCESS: f64 = 1.3;

/// What one simulated day cost.
struct DayCost {
    events: u64,
    processor: Duration,
    wall: Duration,
}

/// Prints a line for each number of hosts. Fails if sixteen take too long or too much memory, or if
/// the cost grows faster than the hosts.
pub(crate) fn run() -> Result<(), Failure> {
    let mut before: Option<f64> = None;
    for hosts in HOSTS {
        let DayCost { events, processor, wall } = day(hosts)?;
        let seconds = processor.as_secs_f64();
        println!(
            "{hosts:>2} hosts, {:>3} databases: {seconds:>6.2} s of processors, {:>6.1} s on the \
             wall, {:.1} million events, {:.0} MiB",
            hosts * DATABASES,
            wall.as_secs_f64(),
            events as f64 / 1e6,
            peak_memory_mib()
        );
        if processor > MOST_PROCESSOR {
            return Err(Failure::new(format!(
                "{hosts} hosts take {seconds:.1} s of processors, limit {} s",
                MOST_PROCESSOR.as_secs()
            )));
        }
        if let Some(before) = before.filter(|before| seconds > before * 2.0 * LARGEST_EXCESS) {
            return Err(Failure::new(format!(
                "{hosts} hosts take {seconds:.1} s of processors, half as many {before:.1} s: not \
                 linear"
            )));
        }
        before = Some(seconds);
    }
    let mib = peak_memory_mib();
    if mib > MOST_MIB {
        return Err(Failure::new(format!("it took {mib:.0} MiB of memory, limit {MOST_MIB:.0}")));
    }
    Ok(())
}

fn processor_time() -> Result<Duration, Failure> {
    let Usage { user_micros, kernel_micros, .. } = Usage::now().map_err(Failure::of)?;
    Ok(Duration::from_micros(user_micros + kernel_micros))
}

/// Simulates 24 hours with three events: a lost host, a failed disk and a reseed.
fn day(hosts: usize) -> Result<DayCost, Failure> {
    let array = ArrayDescription::parse("shelf", ARRAY, &[]).map_err(Failure::of)?;
    let deployment = deployment(hosts, &array);
    let occurrences = [
        occurrence(hour(2), Some(hour(4)), Happening::HostLost { host: 0 }),
        occurrence(hour(8), None, Happening::DiskFailed { array: 1 }),
        occurrence(hour(12), None, Happening::Reseed { database: 0, copy: 1, rate: None }),
    ];
    let (begun, before) = (Instant::now(), processor_time()?);
    let stretches = timeline(&deployment, &occurrences, hour(24));
    let replays: Vec<_> = deployment.profiles.iter().map(replay_of).collect();
    let order = PlayOrder {
        deployment: &deployment,
        replays: &replays,
        stretches: &stretches,
        scan: None,
        rest_percent: 0,
        transition: Nanos::from_secs(120),
        steady: Nanos::from_secs(60),
        seed: Seed(1),
    };
    let (all, next) = (groups(&deployment), AtomicUsize::new(0));
    let work = || {
        let mut events = 0;
        while let Some(group) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let played = play(&order, group, &mut ());
            events += played.map_err(|error| error.to_string())?.events;
        }
        Ok::<u64, String>(events)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let counted: Result<Vec<u64>, String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|of| of.join().map_err(|_| "a panic".to_owned())?).collect()
    });
    let events = counted.map_err(Failure::new)?.iter().sum();
    let processor = processor_time()?.saturating_sub(before);
    Ok(DayCost { events, processor, wall: begun.elapsed() })
}

fn hour(count: u64) -> Nanos {
    Nanos::from_secs(3_600 * count)
}

const fn occurrence(at: Nanos, until: Option<Nanos>, what: Happening) -> Occurrence {
    Occurrence { at, until, what, text: String::new(), take_over: Vec::new() }
}

/// Hosts with one array each; the copies of a database are on the hosts after its own.
fn deployment(hosts: usize, array: &ArrayDescription) -> PlayedDeployment {
    let mut taken = vec![0; hosts];
    let mut database = |number: usize| {
        let copies = (0..COPIES).map(|at| {
            let host = (number + at) % hosts;
            let place = OperationPlace { array: host, base: taken[host], bytes: DATABASE_BYTES };
            let log = OperationPlace { base: place.base + place.bytes, bytes: 16 << 30, ..place };
            taken[host] = log.base + log.bytes;
            PlayedCopy { host, place, log, is_lagged: false }
        });
        PlayedDatabase {
            name: format!("DB{number:03}"),
            profile: 0,
            iops: Some(IOPS),
            sessions: 2,
            copies: copies.collect(),
        }
    };
    let databases = (0..hosts * DATABASES).map(&mut database).collect();
    PlayedDeployment {
        hosts: (0..hosts)
            .map(|number| PlayedHost { name: format!("EX{number:02}"), site: 0, group: 0 })
            .collect(),
        arrays: vec![array.clone(); hosts],
        databases,
        profiles: vec![super::events::profile()],
        rules: PlayedRules { rebuild_rate: Some(50e6), ..PlayedRules::default() },
    }
}
