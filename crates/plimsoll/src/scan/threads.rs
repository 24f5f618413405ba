//! Deals the parts of all files out to one thread per processor, and adds their tallies up.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use device::Device;
use device_os::World;
use integrity::{Tally, judge_pages};
use units::PageNumber;

use super::target::Target;
use crate::error::CommandError;
use crate::term::Progress;
use crate::wire;

/// Bytes of one part: large enough to stream, small enough to keep all threads busy to the end.
const PART_BYTES: u64 = 256 << 20;
/// How often progress is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A file that has been scanned.
pub(crate) struct Scanned {
    /// The file, with what is wrong with it as a whole.
    pub target: Target,
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
    targets: Vec<Target>,
    parts: Mutex<VecDeque<FilePart>>,
    done_bytes: Arc<AtomicU64>,
    /// The threads that still work.
    busy: AtomicUsize,
}

/// What one thread found in one file, and when it began and ended with it.
struct ScanShare {
    tally: Tally,
    unbuffered: bool,
    from: Instant,
    to: Instant,
}

/// Scans all of `targets`. An error is one of the whole undertaking: a file that has gone
/// meanwhile.
pub(crate) fn scan(
    targets: Vec<Target>,
    progress: &mut Progress,
) -> Result<Vec<Scanned>, CommandError> {
    let parts: VecDeque<FilePart> = targets.iter().enumerate().flat_map(parts).collect();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(parts.len()).max(1);
    let work = ScanWork {
        targets,
        parts: Mutex::new(parts),
        done_bytes: Arc::default(),
        busy: AtomicUsize::new(threads),
    };
    let shares = run_threads(&work, threads, progress)?;
    Ok(add_up(work, shares))
}

fn run_threads(
    work: &ScanWork,
    threads: usize,
    progress: &mut Progress,
) -> Result<Vec<(usize, ScanShare)>, CommandError> {
    let size = |target: &Target| u64::from(target.last_read.0) * target.page_size.bytes_u64();
    let total: u64 = work.targets.iter().map(size).sum();
    thread::scope(|scope| {
        let start = |_| {
            scope.spawn(|| {
                let shares = one_thread(work);
                work.busy.fetch_sub(1, Ordering::Relaxed);
                shares
            })
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        while work.busy.load(Ordering::Relaxed) > 0 {
            progress.bytes(work.done_bytes.load(Ordering::Relaxed), total);
            thread::sleep(LOOK);
        }
        let mut shares = Vec::new();
        for thread in running {
            // A panic has been explained where it happened.
            let found = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            shares.extend(found?);
        }
        Ok(shares)
    })
}

/// Takes parts until there are none.
fn one_thread(work: &ScanWork) -> Result<Vec<(usize, ScanShare)>, CommandError> {
    let world = wire::world()?;
    let mut open: HashMap<usize, (Rc<dyn Device>, ScanShare)> = HashMap::new();
    while let Some(part) = take(work) {
        let target = &work.targets[part.file];
        let (device, share) = if let Some(known) = open.remove(&part.file) {
            known
        } else {
            let opening = world.open_to_read(&target.path);
            let device = world.executor().block_on(opening)?;
            let share = begin(target, device.caps().unbuffered);
            (device, share)
        };
        let share = judge_part(&world, work, part.pages, target, Rc::clone(&device), share);
        open.insert(part.file, (device, share));
    }
    Ok(open
        .into_iter()
        .map(|(file, (_, share))| (file, share))
        .collect())
}

fn begin(target: &Target, unbuffered: bool) -> ScanShare {
    let now = Instant::now();
    ScanShare {
        tally: target.empty_tally(),
        unbuffered,
        from: now,
        to: now,
    }
}

fn judge_part(
    world: &World,
    work: &ScanWork,
    pages: Range<PageNumber>,
    target: &Target,
    device: Rc<dyn Device>,
    share: ScanShare,
) -> ScanShare {
    let ScanShare {
        tally,
        unbuffered,
        from,
        ..
    } = share;
    let runtime = world.executor().runtime();
    let done = Arc::clone(&work.done_bytes);
    let progress = move |bytes| _ = done.fetch_add(bytes, Ordering::Relaxed);
    let size = target.page_size;
    let scan = judge_pages(runtime, device, size, pages, tally, progress);
    ScanShare {
        tally: world.executor().block_on(scan),
        unbuffered,
        from,
        to: Instant::now(),
    }
}

fn take(work: &ScanWork) -> Option<FilePart> {
    work.parts
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop_front()
}

fn parts((file, target): (usize, &Target)) -> Vec<FilePart> {
    let step = u32::try_from(PART_BYTES / target.page_size.bytes_u64())
        .expect("invariant: a part has few pages");
    let end = target.last_read.0 + 1;
    let part = |first: u32| FilePart {
        file,
        pages: PageNumber(first)..PageNumber(end.min(first.saturating_add(step))),
    };
    (1..end).step_by(step as usize).map(part).collect()
}

fn add_up(work: ScanWork, mut shares: Vec<(usize, ScanShare)>) -> Vec<Scanned> {
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
        // Where the log was not replayed, a page that is pointed to may never have been written.
        if target.dirty.is_none() {
            tally.find_wiped_pages(|| target.pages_in_use());
        }
        let took = span.map_or(Duration::ZERO, |(from, to)| to - from);
        scanned.push(Scanned {
            target,
            tally,
            took,
            unbuffered,
        });
    }
    scanned
}
