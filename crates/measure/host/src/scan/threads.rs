//! Deals the parts of all files out to one thread per processor, and adds their tallies up.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use device::{Device, OpenMode};
use device_os::World;
use integrity::{Tally, judge_pages};
use units::{Bytes, PageNumber};

use super::target::ScanTarget;
use crate::crew::{self, Crew, News, NewsSender};
use crate::error::HostError;
use crate::target;
use crate::wire::{self, OpenVolumes};

/// Bytes of one part: large enough to stream, small enough to keep all threads busy to the end.
const PART_BYTES: u64 = 256 << 20;
/// Interval between progress checks.
const LOOK: Duration = Duration::from_millis(50);

/// A file that has been scanned.
pub struct Scanned {
    /// The file, with its faults as a whole.
    pub target: ScanTarget,
    /// Tally of its pages and their findings.
    pub tally: Tally,
    /// From the first read of the file to the last, over all threads.
    pub took: Duration,
    /// Whether it was read from the medium and not through the system's cache.
    pub unbuffered: bool,
}

impl Scanned {
    /// Pages that lost their last write; `None` without a flush map to compare.
    pub fn lost_flushes(&self) -> Option<u64> {
        let is_known = self.target.flush_map.is_ok();
        is_known.then_some(self.tally.lost_flushes)
    }

    /// Pages whose last write is recorded in the flush map, so that its loss would show.
    pub fn pages_judged_by_map(&self) -> Option<u64> {
        let map = self.target.flush_map.as_ref().ok()?;
        let pages = (1..=self.target.last_read.0).map(PageNumber);
        Some(pages.filter(|page| map.written(*page) != 0).count() as u64)
    }

    /// Size of `pages` pages of the database.
    pub fn bytes(&self, pages: u64) -> Bytes {
        Bytes(pages * self.target.page_size.bytes_u64())
    }

    /// MiB per second.
    pub fn speed(&self) -> f64 {
        self.bytes(self.tally.seen).as_mib_f64() / self.took.as_secs_f64().max(1e-6)
    }
}

/// Neighbouring pages of one file.
struct FilePart {
    file: usize,
    pages: Range<PageNumber>,
}

/// State shared by the threads.
struct ScanWork {
    targets: Vec<ScanTarget>,
    parts: Mutex<VecDeque<FilePart>>,
}

/// Findings of one thread in one file, and when it started and finished.
struct ScanShare {
    tally: Tally,
    unbuffered: bool,
    from: Instant,
    to: Instant,
}

/// Findings of threads in files, by the file's number.
type Shares = Vec<(usize, ScanShare)>;

/// A thread's reports of further bytes judged.
type ScanNews = NewsSender<u64, Result<Shares, HostError>>;

/// Scans all of `targets`. An error concerns the whole scan, such as a file that has disappeared.
/// `progress` gets the bytes judged so far and their total.
pub fn scan(
    targets: Vec<ScanTarget>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Scanned>, HostError> {
    let parts: VecDeque<FilePart> = targets.iter().enumerate().flat_map(parts).collect();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // A server of exports may accept one connection at a time, and each thread has a separate one.
    let is_remote = targets.iter().any(|of| target::served(&of.path).is_some());
    let threads = if is_remote { 1 } else { cores.min(parts.len()).max(1) };
    let work = Arc::new(ScanWork { targets, parts: Mutex::new(parts) });
    let shares = run_threads(&work, threads, progress)?;
    let work = Arc::into_inner(work).expect("invariant: threads that have ended hold nothing");
    Ok(add_up(work, shares))
}

fn run_threads(
    work: &Arc<ScanWork>,
    threads: usize,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Shares, HostError> {
    let targets = work.targets.iter();
    let total: u64 = targets.map(|of| u64::from(of.last_read.0) * of.page_size.bytes_u64()).sum();
    let jobs = (0..threads).map(|_| Arc::clone(work)).collect();
    let mut crew = Crew::start(jobs, |work, news| one_thread(&work, news));
    // The threads that did start take all parts.
    if let Some(refusal) = crew.refusal.take_if(|_| crew.started == 0) {
        return Err(refusal);
    }
    let (mut done_bytes, mut found) = (0, Ok(Vec::new()));
    while !crew.has_ended() {
        match crew.next(LOOK) {
            Some(News::Told(bytes)) => done_bytes += bytes,
            Some(News::Ended(end)) => {
                let end = end.unwrap_or_else(|| Err(crew::panicked()));
                found = found.and_then(|mut shares: Shares| {
                    shares.extend(end?);
                    Ok(shares)
                });
            }
            None => {}
        }
        progress(done_bytes, total);
    }
    if found.is_ok() {
        crew.join();
    }
    found
}

/// Takes parts until there are none.
fn one_thread(work: &ScanWork, news: &ScanNews) -> Result<Shares, HostError> {
    let world = wire::world()?;
    let volumes = OpenVolumes::new(&world, OpenMode::ReadOnly);
    let mut open: HashMap<usize, (Rc<dyn Device>, ScanShare)> = HashMap::new();
    while let Some(part) = take(work) {
        let target = &work.targets[part.file];
        let (device, share) = if let Some(known) = open.remove(&part.file) {
            known
        } else {
            let device = volumes.file_to_read(&target.path)?;
            let share = begin(target, device.caps().unbuffered);
            (device, share)
        };
        let share = judge_part(&world, news, part.pages, target, Rc::clone(&device), share);
        if let Some(error) = &share.tally.broken_off {
            return Err(error.clone().into());
        }
        open.insert(part.file, (device, share));
    }
    Ok(open.into_iter().map(|(file, (_, share))| (file, share)).collect())
}

fn begin(target: &ScanTarget, unbuffered: bool) -> ScanShare {
    let now = Instant::now();
    ScanShare { tally: target.empty_tally(), unbuffered, from: now, to: now }
}

fn judge_part(
    world: &World,
    news: &ScanNews,
    pages: Range<PageNumber>,
    target: &ScanTarget,
    device: Rc<dyn Device>,
    share: ScanShare,
) -> ScanShare {
    let ScanShare { tally, unbuffered, from, .. } = share;
    let runtime = world.executor().runtime();
    let news = news.clone();
    let size = target.page_size;
    let scan = judge_pages(runtime, device, size, pages, tally, move |bytes| news.tell(bytes));
    ScanShare { tally: world.executor().block_on(scan), unbuffered, from, to: Instant::now() }
}

fn take(work: &ScanWork) -> Option<FilePart> {
    work.parts.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

fn parts((file, target): (usize, &ScanTarget)) -> Vec<FilePart> {
    let step = u32::try_from(PART_BYTES / target.page_size.bytes_u64())
        .expect("invariant: a part has few pages");
    let end = target.last_read.0 + 1;
    (1..end)
        .step_by(step as usize)
        .map(|first| FilePart {
            file,
            pages: PageNumber(first)..PageNumber(end.min(first.saturating_add(step))),
        })
        .collect()
}

fn add_up(work: ScanWork, mut shares: Shares) -> Vec<Scanned> {
    let mut scanned = Vec::new();
    for (file, target) in work.targets.into_iter().enumerate() {
        let mut tally = target.empty_tally();
        let mine = shares.extract_if(.., |(index, _)| *index == file);
        let mut span: Option<(Instant, Instant)> = None;
        let mut unbuffered = true;
        for (_, share) in mine {
            tally.merge(share.tally);
            unbuffered &= share.unbuffered;
            let (from, to) = span.unwrap_or((share.from, share.to));
            span = Some((from.min(share.from), to.max(share.to)));
        }
        // If the log was not replayed, a referenced page may never have been written.
        if target.dirty.is_none() {
            tally.find_wiped_pages(|| target.pages_in_use());
        }
        let took = span.map_or(Duration::ZERO, |(from, to)| to - from);
        scanned.push(Scanned { target, tally, took, unbuffered });
    }
    scanned
}
