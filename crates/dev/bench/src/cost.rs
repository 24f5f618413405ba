//! Measures the cost of the load generator itself: processor time per transactional I/O, on a disk,
//! and on storage in memory minus the cost of the memory itself. fio makes the same page requests
//! and nothing else, which gives the machine's cost for any program. Only the ratio to fio is
//! judged: the same build took 13.6 us on one day and 42 us next to other work.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{
    Buffer, Device, DeviceError, Durability, Executor, Latency, MemoryVolume, OpenMode, Purpose,
    Request, Runtime, VirtualReactor, Volume,
};
use device_os::{Backend, World};
use record::{Event, Interval, Phase, Series};
use trial::{Coordinator, Stop};
use units::{Bytes, Nanos, Prng, Seed};

use crate::mail::{self, Mail};
use crate::tally::Usage;
use crate::{fio, folder, median};
use xtask::failure::Failure;

/// A database of 32 times the cache, so that most reads reach the storage, with the sessions of a
/// published run of `exchange2013`.
const LOAD: Mail =
    Mail { database: "1GiB", cache: Bytes::from_mib(32), checkpoint_depth: None, threads: 12 };

/// Requests skipped at the start: by then the cache is full and pages are written as well.
const SETTLING_REQUESTS: u64 = 100_000;

/// Requests to measure. One tick of the processor clock amounts to 0.025 us per request.
const MEASURED_REQUESTS: u64 = 400_000;

/// Each round measures this program on the disk, fio on the disk, and this program in memory. The
/// printed figures are medians.
const ROUNDS: usize = 5;

/// Limit for the processor time of a request on a disk, as a multiple of fio's in the same round.
const MOST_OF_FIO: f64 = 2.0;

/// Processor time of one transactional I/O, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RequestCost {
    user: f64,
    kernel: f64,
}

impl RequestCost {
    /// Cost per request between two readings.
    fn between(before: Usage, after: Usage, requests: u64) -> Self {
        let requests = requests.max(1) as f64;
        Self {
            user: (after.user_micros - before.user_micros) as f64 / requests,
            kernel: (after.kernel_micros - before.kernel_micros) as f64 / requests,
        }
    }

    fn micros(self) -> f64 {
        self.user + self.kernel
    }

    /// The cost without the storage's share.
    fn without(self, storage: Self) -> Self {
        Self { user: self.user - storage.user, kernel: self.kernel - storage.kernel }
    }

    /// Requests per second of one core that does nothing else.
    fn per_core_and_second(self) -> f64 {
        1e6 / self.micros()
    }

    /// Median of several costs, taken separately for each part.
    fn median(costs: &[Self]) -> Self {
        Self {
            user: median(costs.iter().map(|cost| cost.user).collect()),
            kernel: median(costs.iter().map(|cost| cost.kernel).collect()),
        }
    }
}

impl fmt::Display for RequestCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:5.1} us ({:.1} user, {:.1} kernel), {:.0} per core and second",
            self.micros(),
            self.user,
            self.kernel,
            self.per_core_and_second(),
        )
    }
}

/// Counts the requests of a run and ends the run when there are enough.
struct RequestAccount {
    coordinator: Arc<Coordinator>,
    requests: Cell<u64>,
    settled: Cell<Option<(u64, Usage)>>,
    cost: Cell<Option<RequestCost>>,
}

impl RequestAccount {
    fn new(coordinator: &Arc<Coordinator>) -> Self {
        Self {
            coordinator: Arc::clone(coordinator),
            requests: Cell::new(0),
            settled: Cell::new(None),
            cost: Cell::new(None),
        }
    }

    fn note(&self, event: &Event) {
        let Event::Interval(interval) = event else {
            return;
        };
        if interval.phase != Phase::Measure || self.cost.get().is_some() {
            return;
        }
        self.requests.set(self.requests.get() + transactional(interval));
        let Ok(usage) = Usage::now() else {
            self.coordinator.stop(Stop::Failed);
            return;
        };
        match self.settled.get() {
            None if self.requests.get() >= SETTLING_REQUESTS => {
                self.settled.set(Some((self.requests.get(), usage)));
            }
            Some((from, before)) if self.requests.get() - from >= MEASURED_REQUESTS => {
                self.cost.set(Some(RequestCost::between(
                    before,
                    usage,
                    self.requests.get() - from,
                )));
                self.coordinator.stop(Stop::Interrupted);
            }
            _ => {}
        }
    }
}

/// Reads and writes of database pages for transactions.
fn transactional(interval: &Interval) -> u64 {
    let databases = interval.databases.iter();
    databases
        .map(|database| {
            database.count(Series::DatabaseRead) + database.count(Series::DatabaseWrite)
        })
        .sum()
}

/// Runs the load in a temporary folder below `directory`, and in memory. Fails if a request on a
/// disk costs more than the limit, or if fio is missing.
pub(crate) fn run(directory: &Path) -> Result<(), Failure> {
    let folder = directory.join("plimsoll-bench-cost");
    let (mut disk, mut memory, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let mut peer = Vec::new();
    println!("processor time per transactional I/O, {LOAD}, {} sessions:", LOAD.threads);
    for _ in 0..ROUNDS {
        disk.push(on_disk(&folder, &mut peer)?);
        memory.push(in_memory()?);
        bare.push(bare_memory()?);
    }
    let ratio = ratio(&disk, &peer);
    let [disk, memory, bare] = [disk, memory, bare].map(|costs| RequestCost::median(&costs));
    println!("disk          {disk}");
    println!("memory        {memory}");
    println!("memory alone  {bare}");
    println!("difference    {}", memory.without(bare));
    let Some(ratio) = ratio else {
        return Err(Failure::new(format!("nothing to compare with: {}", fio::ABSENT)));
    };
    let peer = median(peer);
    println!("fio           {peer:5.1} us, the same requests of pages and nothing above them");
    let is_kept = ratio <= MOST_OF_FIO;
    println!("ratio         {ratio:5.2} x fio, at most {MOST_OF_FIO}: {}", word(is_kept));
    if is_kept { Ok(()) } else { Err(Failure::new("the load generator costs more than it may")) }
}

/// Median of the rounds' ratios of this program's cost to fio's; `None` without fio.
fn ratio(ours: &[RequestCost], peer: &[f64]) -> Option<f64> {
    let rounds = ours.iter().zip(peer).map(|(ours, peer)| ours.micros() / peer);
    (!peer.is_empty()).then(|| median(rounds.collect()))
}

const fn word(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "MISSED" }
}

fn usage() -> Result<Usage, Failure> {
    Usage::now().map_err(Failure::of)
}

/// Measures a request's cost on disk, then adds fio's cost to `peer` if fio is installed. fio
/// overwrites the database, so it is removed afterwards.
fn on_disk(path: &Path, peer: &mut Vec<f64>) -> Result<RequestCost, Failure> {
    folder::remove(path)?;
    folder::create(path)?;
    let world = World::new(Backend::Auto).map_err(Failure::of)?;
    let volume = world.volume(path).map_err(Failure::of)?;
    let cost = measure(world.executor(), &world.executor().runtime(), path, (&volume, &volume))?;
    if fio::installed() {
        peer.push(requests_alone(path)?);
    }
    folder::remove(path)?;
    Ok(cost)
}

/// Processor time of one fio request, in microseconds. fio reads and writes random pages of the
/// database, as many in flight as there are sessions, without log, contents and flushes.
fn requests_alone(path: &Path) -> Result<f64, Failure> {
    let file = path.join(&LOAD.plan(path)?.databases[0].file);
    let depth = format!("--iodepth={}", LOAD.threads);
    let reads = format!("--rwmixread={PERCENT_READS}");
    let page = format!("--bs={PAGE_BYTES}");
    let load = ["--rw=randrw", &reads, &page, &depth, "--scramble_buffers=0"];
    let span = ["--time_based", "--runtime=5"];
    Ok(fio::run(&file, &[&load[..], &span].concat())?.cpu_micros_per_operation)
}

/// Bytes of the load's reads, and of most of its writes.
const PAGE_BYTES: usize = 32 << 10;

/// Percentage of reads among the load's page requests, 20 to 13.7 in a batch; the others are
/// writes.
const PERCENT_READS: u64 = 60;

/// Latency of every request in memory: long enough for virtual time to advance from one interval to
/// the next.
const LATENCY: Nanos = Nanos::from_micros(100);

/// Cost of a request on storage in memory. Virtual time stops while the program works, so no
/// request waits for the storage.
fn in_memory() -> Result<RequestCost, Failure> {
    let reactor = VirtualReactor::new();
    let [database, log] = ["data", "log"].map(|name| -> Rc<dyn Volume> {
        Rc::new(MemoryVolume::new(name, &reactor, Latency::fixed(LATENCY)))
    });
    let executor = Executor::new(reactor);
    measure(&executor, &executor.runtime(), Path::new("data"), (&database, &log))
}

/// Cost of a request to the storage in memory alone, with as many readers and writers as there are
/// sessions.
fn bare_memory() -> Result<RequestCost, Failure> {
    /// The size of the database.
    const FILE_BYTES: u64 = 1 << 30;
    let reactor = VirtualReactor::new();
    let volume = MemoryVolume::new("bare", &reactor, Latency::fixed(LATENCY));
    let executor = Executor::new(reactor);
    let runtime = executor.runtime();
    let device = executor
        .block_on(volume.open("file", OpenMode::CreateNew { length: FILE_BYTES }))
        .map_err(Failure::of)?;
    let filled = Rc::clone(&device);
    executor.block_on(async move { fill(&filled).await }).map_err(Failure::of)?;
    let before = usage()?;
    executor
        .block_on(async move { read_and_write(&runtime, &device).await })
        .map_err(Failure::of)?;
    Ok(RequestCost::between(before, usage()?, MEASURED_REQUESTS))
}

/// Fills the device: blocks that were never written take no memory, so reading them would cost
/// nothing.
async fn fill(device: &Rc<dyn Device>) -> Result<(), DeviceError> {
    let mut prng = Prng::new(Seed(1));
    let mut buffer = Buffer::zeroed(PAGE_BYTES);
    for page in 0..device.length() / PAGE_BYTES as u64 {
        prng.fill(&mut buffer);
        let offset = page * PAGE_BYTES as u64;
        let write = Request::write(Purpose::Database, offset, buffer, Durability::Volatile);
        buffer = device.submit(write).await.into_buffer()?;
    }
    Ok(())
}

/// Issues the load's requests directly to the device, in as many lanes as the load has sessions.
async fn read_and_write(runtime: &Runtime, device: &Rc<dyn Device>) -> Result<(), DeviceError> {
    let lanes = u64::from(LOAD.threads);
    let started: Vec<_> =
        (0..lanes).map(|lane| runtime.spawn(use_lane(Rc::clone(device), lane, lanes))).collect();
    for lane in started {
        lane.await?;
    }
    Ok(())
}

/// Issues six page reads per four page writes, like the load, in this lane's part of the file; all
/// parts are equally large.
async fn use_lane(device: Rc<dyn Device>, lane: u64, lanes: u64) -> Result<(), DeviceError> {
    let pages = device.length() / PAGE_BYTES as u64 / lanes;
    let mut prng = Prng::new(Seed(lane));
    let mut buffer = Buffer::zeroed(PAGE_BYTES);
    prng.fill(&mut buffer);
    for _ in 0..MEASURED_REQUESTS / lanes {
        let offset = (lane * pages + prng.below(pages)) * PAGE_BYTES as u64;
        let request = if prng.below(100) < PERCENT_READS {
            Request::read_into(Purpose::Database, offset, buffer)
        } else {
            Request::write(Purpose::Database, offset, buffer, Durability::Volatile)
        };
        buffer = device.submit(request).await.into_buffer()?;
    }
    Ok(())
}

fn measure(
    executor: &Executor,
    runtime: &Runtime,
    path: &Path,
    (database, log): (&Rc<dyn Volume>, &Rc<dyn Volume>),
) -> Result<RequestCost, Failure> {
    let plan = LOAD.plan(path)?;
    let coordinator = Arc::new(Coordinator::new(1));
    let meter = Rc::new(RequestAccount::new(&coordinator));
    let noted = Rc::clone(&meter);
    let volumes = (Rc::clone(database), Rc::clone(log));
    let group = mail::group(runtime, &plan, volumes, &coordinator, move |event| noted.note(event));
    let summary = executor.block_on(async move {
        mail::prepare(&group).await?;
        Ok::<_, Failure>(trial::run::run(group).await)
    })?;
    if let Some(failure) = summary.failure {
        return Err(Failure::new(failure.text));
    }
    meter.cost.get().ok_or_else(|| Failure::new("the run ended before enough was counted"))
}

#[cfg(test)]
mod tests {
    use super::{RequestCost, ratio};
    use crate::tally::Usage;

    #[test]
    fn time_is_divided_by_requests_user_and_kernel_apart() {
        let usage = |user_micros, kernel_micros| Usage {
            read_bytes: 0,
            written_bytes: 0,
            user_micros,
            kernel_micros,
        };
        let cost = RequestCost::between(usage(1_000, 500), usage(4_000, 1_500), 200);
        assert_eq!(cost, RequestCost { user: 15.0, kernel: 5.0 });
        assert!((cost.per_core_and_second() - 50_000.0).abs() < 1e-6);
        let dear = RequestCost { user: 90.0, ..cost };
        assert_eq!(RequestCost::median(&[dear, cost, cost]), cost);
    }
    #[test]
    fn rounds_are_compared_one_by_one() {
        let ours = [12.0, 40.0, 26.0].map(|user| RequestCost { user, kernel: 0.0 });
        let found = ratio(&ours, &[6.0, 16.0, 13.0]).expect("three rounds");
        // Separate medians, 26.0 and 13.0, would compare different rounds on a machine whose speed
        // changes.
        assert!((found - 2.0).abs() < 1e-9, "{found}");
        let found = ratio(&ours, &[5.0, 16.0, 13.0]).expect("three rounds");
        assert!((found - 2.4).abs() < 1e-9, "{found}");
        assert_eq!(ratio(&ours, &[]), None);
    }
}
