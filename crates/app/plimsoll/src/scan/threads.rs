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
use units::PageNumber;

use super::target::ScanTarget;
use crate::crew::{self, Crew, News, NewsSender};
use crate::error::CommandError;
use crate::target;
use crate::term::Progress;
use crate::wire::{self, OpenVolumes};

/// Bytes of one part: large enough to stream, small enough to keep all threads busy to the end.
const PART_BYTES: u64 = 256 << 20;
/// How often progress is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A file that has been scanned.
pub(crate) struct Scanned {
    /// The file, with its faults as a whole.
    pub target: ScanTarget,
    /// What its pages are worth.
    pub tally: Tally,
    /// From the first read of the file to the last, over all threads.
    pub took: Duration,
    /// Whether it was read from the medium and not through the system's cache.
    pub unbuffered: bool,
}

/// Neighbouring pages of one file.
struct FilePart {
    file: usize,
    pages: Range<PageNumber>,
}

/// What the threads share.
struct ScanWork {
    targets: Vec<ScanTarget>,
    parts: Mutex<VecDeque<FilePart>>,
}

/// What one thread found in one file, and when it began and ended with it.
struct ScanShare {
    tally: Tally,
    unbuffered: bool,
    from: Instant,
    to: Instant,
}

/// What threads found in files, by the file's number.
type Shares = Vec<(usize, ScanShare)>;

/// Reports of a thread about the further bytes it has judged.
type ScanNews = NewsSender<u64, Result<Shares, CommandError>>;

/// Scans all of `targets`. An error is one of the whole undertaking: a file that has gone
/// meanwhile.
pub(crate) fn scan(
    targets: Vec<ScanTarget>,
    progress: &mut Progress,
) -> Result<Vec<Scanned>, CommandError> {
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
    progress: &mut Progress,
) -> Result<Shares, CommandError> {
    let targets = work.targets.iter();
    let total: u64 = targets.map(|of| u64::from(of.last_read.0) * of.page_size.bytes_u64()).sum();
    let jobs = (0..threads).map(|_| Arc::clone(work)).collect();
    let mut crew = Crew::start(jobs, |work, news| one_thread(&work, news));
    // Those that could be started take all parts.
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
        progress.bytes(done_bytes, total);
    }
    if found.is_ok() {
        crew.join();
    }
    found
}

/// Takes parts until there are none.
fn one_thread(work: &ScanWork, news: &ScanNews) -> Result<Shares, CommandError> {
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
