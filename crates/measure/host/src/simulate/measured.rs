//! The operation model's profile from a trace of the engine: the waits of a batch, the times of
//! page writes, the requests that accompany the log.

use device::{OpKind, Purpose};
use ese::log_file::{LOG_FILE_BYTES, LOG_HEADER_BYTES, SegmentSize};
use plan::Plan;
use simdisk::operations::{
    BatchShape, BesidePlace, CheckpointShape, ColdCache, LogShape, OperationKind, OperationProfile,
    Placement, RequestBeside, SpanShape, WriteBurst, WriteShape,
};
use units::Nanos;

use super::memo::Memo;
use super::pace::ArrayPace;
use super::scale::scaled;
use super::trace::{self, LogFile, READ_LATENCY, Traced, TracedLoad, TracedStep, trace};
use crate::error::HostError;

/// Page writes that the engine keeps in flight to free memory.
const WRITES_IN_FLIGHT: usize = 32;

/// The engine keeps at most one page in this many free, however long its writes take.
const LARGEST_FREE_SHARE: u64 = 16;

/// The engine's checkpoint advances this often while the log grows by its depth.
const STEPS_OF_A_DEPTH: u64 = 5;

/// The checkpoint advances at the latest when the log has grown by this.
const LONGEST_STEP_BYTES: u64 = 4 << 20;

/// Requests less than this apart count as near. The pages of a message and of its body are that
/// close in a database of any size, because `prepare` fills both side by side.
const NEAR_BYTES: u64 = 2 << 20;

/// The engine's requests under the load of `plan`, whose databases must fit in memory.
pub(super) fn profile(plan: &Plan) -> Result<OperationProfile, HostError> {
    let profile = shaped(plan, &trace(plan, &TracedLoad::one())?);
    if profile.batches.is_empty() {
        return Err(HostError::new(
            "the load's first batches ended before they could be measured; simulate it with \
             --level 1"
                .to_owned(),
        ));
    }
    Ok(profile)
}

/// The profile with the write bursts and log writes of as many sessions as `plan` has, at the pace
/// of an array. The databases of `plan` must fit in memory.
pub(super) fn paced(
    profile: &OperationProfile,
    plan: &Plan,
    pace: ArrayPace,
) -> Result<OperationProfile, HostError> {
    static WRITES: Memo<(Plan, ArrayPace), (Vec<WriteBurst>, u64)> = Memo::new();
    let load = TracedLoad::at(plan, pace);
    let key = (trace::key(plan, load.sessions), load.pace.clone());
    let (bursts, behind_reads_per_million) = WRITES.of(key, || {
        let trace = trace(plan, &load)?;
        Ok((bursts(&trace), behind_reads_per_million(&trace)))
    })?;
    let log = LogShape { behind_reads_per_million, ..profile.log.clone() };
    Ok(OperationProfile { bursts, log, ..profile.clone() })
}

/// Cost of a cold cache under the load of `plan`: the reads of the first batches after the database
/// was opened, until the cache of the scaled database is full, compared with the reads of as many
/// batches with a warm one.
pub(super) fn cold(plan: &Plan, profile: &OperationProfile) -> Result<ColdCache, HostError> {
    static COLD: Memo<Plan, ColdCache> = Memo::new();
    COLD.of(trace::key(plan, 1), || cold_cache(plan, profile))
}

fn cold_cache(plan: &Plan, profile: &OperationProfile) -> Result<ColdCache, HostError> {
    let (small, _) = scaled(plan);
    let trace = trace(&small, &TracedLoad::from_opening())?;
    let warm = profile.mean(|span| u64::from(span.reads + span.reads_beside));
    let (mut reads, mut wanted) = (0_u64, 0.0);
    for batch in batches(&trace, plan.workload.commits_per_batch as usize) {
        if reads >= pages(&small) {
            break;
        }
        let own = batch.spans.iter().map(|span| u64::from(span.reads + span.reads_beside));
        (reads, wanted) = (reads + own.sum::<u64>(), wanted + warm);
    }
    Ok(ColdCache { pages: pages(plan), extra_reads: extra_reads(reads as f64, wanted) })
}

fn pages(plan: &Plan) -> u64 {
    plan.cache.maximum.0 / plan.page_size.0.max(1)
}

/// Additional reads per read at the start, if `reads` were made instead of `wanted` until the cache
/// was warm, and the excess decreased evenly.
fn extra_reads(reads: f64, wanted: f64) -> f64 {
    if wanted > 0.0 { (2.0 * (reads - wanted) / wanted).max(0.0) } else { 0.0 }
}

/// The profile of a trace of one session.
fn shaped(plan: &Plan, trace: &[Traced]) -> OperationProfile {
    let mut profile = OperationProfile {
        batches: batches(trace, plan.workload.commits_per_batch as usize),
        bursts: bursts(trace),
        read_bytes: plan.page_size.0,
        writes_in_flight: WRITES_IN_FLIGHT,
        writes_behind: 0,
        log: LogShape {
            file_bytes: LOG_FILE_BYTES,
            header_bytes: LOG_HEADER_BYTES as u64,
            segment_bytes: segment(plan).bytes() as u64,
            beside: beside(trace),
            checkpoint: checkpoint(plan, trace),
            ..LogShape::default()
        },
        cold: ColdCache::default(),
    };
    let free_pages = plan.cache.maximum.0 / plan.page_size.0 / LARGEST_FREE_SHARE;
    let writes = free_pages as f64 * profile.writes_per_read();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the pages of a cache"
    )]
    let writes = writes as usize;
    profile.writes_behind = writes.max(1);
    profile
}

/// Returns the log's segment size: the plan's, or one sector of the traced memory.
fn segment(plan: &Plan) -> SegmentSize {
    let asked = plan.log_segment.and_then(|bytes| usize::try_from(bytes.0).ok());
    asked.and_then(SegmentSize::from_bytes).unwrap_or(SegmentSize::Bytes512)
}

/// Returns the waits of transactions and their additions to the log, batch by batch.
fn batches(trace: &[Traced], commits_per_batch: usize) -> Vec<BatchShape> {
    let (mut spans, mut placements) = (Vec::new(), Placements::default());
    let mut span = SpanShape::default();
    let mut begun: Option<(Nanos, ese::Lgpos)> = None;
    for Traced { at, what } in trace {
        match *what {
            TracedStep::Request {
                purpose: Purpose::Database, kind: OpKind::Read, offset, ..
            } => {
                span.reads += 1;
                placements.add(offset);
            }
            TracedStep::Request { .. } => {}
            TracedStep::Asked { updates } => {
                span.updates = u32::try_from(updates).unwrap_or(u32::MAX);
                if let Some((begun, _)) = begun {
                    let all = span.reads;
                    span.reads = waited(at.since(begun)).min(all);
                    span.reads_beside = all - span.reads;
                }
            }
            TracedStep::Committed { is_durable, place } => {
                if let Some((_, before)) = begun {
                    span.log_bytes = place.bytes_since(before, SegmentSize::Bytes512);
                    span.is_durable = is_durable;
                    spans.push(span);
                } else {
                    placements.all.clear();
                }
                begun = Some((*at, after(place, is_durable)));
                span = SpanShape::default();
            }
        }
    }
    let mut placements = placements.all.into_iter();
    let whole = spans.chunks_exact(commits_per_batch.max(1));
    whole
        .map(|spans| {
            let reads: u32 = spans.iter().map(|span| span.reads + span.reads_beside).sum();
            let reads = placements.by_ref().take(reads as usize).collect();
            BatchShape { spans: spans.to_vec(), reads }
        })
        .collect()
}

/// Placement of consecutive requests.
#[derive(Default)]
struct Placements {
    before: Option<u64>,
    all: Vec<Placement>,
}

impl Placements {
    fn add(&mut self, offset: u64) {
        let placement = self.placement(offset);
        self.all.push(placement);
    }

    /// Placement of a request at `offset` after the previous one.
    fn placement(&mut self, offset: u64) -> Placement {
        let before = self.before.replace(offset);
        let distance = before.map(|before| offset.cast_signed() - before.cast_signed());
        let near = distance.filter(|distance| distance.unsigned_abs() < NEAR_BYTES);
        near.map_or(Placement::Anywhere, Placement::Near)
    }
}

/// Returns how many consecutive reads take this long.
fn waited(span: Nanos) -> u32 {
    let reads = (span.0 + READ_LATENCY.0 / 2) / READ_LATENCY.0;
    u32::try_from(reads).unwrap_or(u32::MAX)
}

/// Log position after a commit: a durable one ends its segment.
const fn after(place: ese::Lgpos, is_durable: bool) -> ese::Lgpos {
    if is_durable && place.byte > 0 {
        return ese::Lgpos { segment: place.segment + 1, byte: 0, ..place };
    }
    place
}

/// Groups page writes by start time.
fn bursts(trace: &[Traced]) -> Vec<WriteBurst> {
    let mut bursts = Vec::new();
    let (mut burst, mut placements) = (WriteBurst::default(), Placements::default());
    let (mut reads, mut begun) = (0, None);
    for Traced { at, what } in trace {
        let TracedStep::Request { purpose, kind, offset, bytes, .. } = *what else {
            continue;
        };
        match (purpose, kind) {
            (Purpose::Database, OpKind::Read) => reads += 1,
            (Purpose::Log, OpKind::Write) if reads == 0 && begun == Some(*at) => {
                burst.is_before_log_write = true;
            }
            (Purpose::Database, OpKind::Write) => {
                if begun.is_some_and(|begun| begun != *at) {
                    bursts.push(std::mem::take(&mut burst));
                }
                if burst.writes.is_empty() {
                    (burst.after_reads, reads, begun) = (reads, 0, Some(*at));
                }
                let placement = placements.placement(offset);
                burst.writes.push(WriteShape { bytes, placement });
            }
            _ => {}
        }
    }
    // The first burst followed reads that were not traced.
    bursts.drain(..1.min(bursts.len()));
    bursts
}

/// Returns how many in a million log writes begin right behind a read of the same moment.
fn behind_reads_per_million(trace: &[Traced]) -> u64 {
    let (mut read, mut behind, mut all) = (None, 0, 0);
    for Traced { at, what } in trace {
        let TracedStep::Request { purpose, kind, .. } = *what else {
            continue;
        };
        match (purpose, kind) {
            (Purpose::Database, OpKind::Read) => read = Some(*at),
            (Purpose::Log, OpKind::Write) => {
                behind += u64::from(read == Some(*at));
                all += 1;
            }
            _ => {}
        }
    }
    behind * 1_000_000 / all.max(1)
}

/// Returns the requests that accompanied the last log file that was traced from beginning to end.
fn beside(trace: &[Traced]) -> Vec<RequestBeside> {
    let (mut at, mut current, mut whole) = (None, Vec::new(), Vec::new());
    for Traced { what, .. } in trace {
        let TracedStep::Request { purpose, kind, file, offset, bytes } = *what else {
            continue;
        };
        if (purpose, kind) == (Purpose::Log, OpKind::Write) {
            if offset == 0 {
                let ended = std::mem::take(&mut current);
                if at.is_some() {
                    whole = ended;
                }
                at = Some(LOG_HEADER_BYTES as u64);
            } else if at.is_some() {
                at = Some(offset + bytes);
            }
        } else if !is_of_checkpoint(what)
            && let (Some(at), Some((chain, kind))) = (at, beside_kind(purpose, kind))
        {
            let place = place_beside(kind, file, offset);
            current.push(RequestBeside { at, chain, kind, bytes, place });
        }
    }
    whole.sort_by_key(|request| request.at);
    whole
}

/// Returns the requests of the last advance of the checkpoint that was traced to its end: a flush
/// of the database, and writes of the checkpoint file.
fn checkpoint(plan: &Plan, trace: &[Traced]) -> CheckpointShape {
    let (mut current, mut whole) = (Vec::new(), Vec::new());
    for Traced { what, .. } in trace.iter().filter(|traced| is_of_checkpoint(&traced.what)) {
        match *what {
            TracedStep::Request { kind: OpKind::Flush, .. } => {
                whole = std::mem::replace(&mut current, vec![(OperationKind::Flush, 0)]);
            }
            TracedStep::Request { bytes, .. } => current.push((OperationKind::HeaderWrite, bytes)),
            _ => {}
        }
    }
    let step_bytes = (plan.checkpoint_depth.0 / STEPS_OF_A_DEPTH).clamp(1, LONGEST_STEP_BYTES);
    CheckpointShape { requests: whole, step_bytes, ..CheckpointShape::default() }
}

const fn is_of_checkpoint(step: &TracedStep) -> bool {
    match *step {
        TracedStep::Request { purpose: Purpose::Database, kind: OpKind::Flush, .. } => true,
        TracedStep::Request { purpose: Purpose::Header, kind: OpKind::Write, file, .. } => {
            matches!(file, LogFile::Checkpoint)
        }
        _ => false,
    }
}

/// Returns the chain and kind of a request that accompanies the log; `None` for others.
const fn beside_kind(purpose: Purpose, kind: OpKind) -> Option<(usize, OperationKind)> {
    match (purpose, kind) {
        (Purpose::LogFormat, OpKind::Write) => Some((0, OperationKind::LogFormat)),
        (Purpose::LogFormat, OpKind::Flush) => Some((0, OperationKind::Flush)),
        (Purpose::LogReplication, OpKind::Read) => Some((1, OperationKind::ReplicationRead)),
        (Purpose::LogRead, OpKind::Read) => Some((2, OperationKind::LogRead)),
        (Purpose::Header, OpKind::Write) => Some((3, OperationKind::HeaderWrite)),
        (_, OpKind::Flush) => Some((3, OperationKind::Flush)),
        _ => None,
    }
}

/// Returns the destination of a request that accompanies the log.
fn place_beside(kind: OperationKind, file: LogFile, offset: u64) -> BesidePlace {
    let file_bytes = LOG_FILE_BYTES.cast_signed();
    let from = match file {
        LogFile::Current => 0,
        LogFile::Next => file_bytes,
        LogFile::Checkpoint | LogFile::Other => -file_bytes,
    };
    match kind {
        OperationKind::HeaderWrite | OperationKind::Flush => BesidePlace::Header,
        _ => BesidePlace::Log(from + offset.cast_signed()),
    }
}

#[cfg(test)]
mod tests {
    use device::{OpKind, Purpose};
    use plan::Plan;
    use simdisk::operations::Placement;
    use units::Nanos;

    use super::{
        LogFile, Placements, Traced, TracedStep, behind_reads_per_million, bursts, cold,
        extra_reads, profile, scaled,
    };

    #[test]
    fn reads_beyond_those_of_a_warm_cache_decrease_evenly() {
        assert!((extra_reads(130.0, 100.0) - 0.6).abs() < 1e-9);
        assert!(extra_reads(90.0, 100.0).abs() < 1e-9, "chance");
    }

    /// A cold cache must read the inner pages of the trees, and the rows that a warm one would
    /// hold.
    #[test]
    fn the_engine_reads_more_after_the_database_was_opened() {
        let text = "[databases]\nfolders = [\"/a\"]\nsize = \"2GiB\"\n[engine]\n\
                    cache_minimum = \"16MiB\"\ncache_maximum = \"128MiB\"\n";
        let plan = Plan::parse("test", text).expect("a valid plan");
        let warm = profile(&scaled(&plan).0).expect("it can be measured");
        let cold = cold(&plan, &warm).expect("it can be measured");
        assert_eq!(cold.pages, 4_096);
        assert!((0.02..4.0).contains(&cold.extra_reads), "{cold:?}");
    }

    fn request(at: u64, purpose: Purpose, kind: OpKind) -> Traced {
        let file = LogFile::Current;
        let what = TracedStep::Request { purpose, kind, file, offset: 0, bytes: 4_096 };
        Traced { at: Nanos(at), what }
    }

    fn page(at: u64) -> Traced {
        request(at, Purpose::Database, OpKind::Write)
    }

    fn read(at: u64) -> Traced {
        request(at, Purpose::Database, OpKind::Read)
    }

    fn log(at: u64) -> Traced {
        request(at, Purpose::Log, OpKind::Write)
    }

    #[test]
    fn a_burst_that_a_log_write_follows_at_the_same_moment_precedes_log_writes() {
        // The first burst is left out.
        let trace = [page(1), read(2), page(2), log(3), page(4), log(4), page(5), read(5), log(5)];
        let found: Vec<_> = bursts(&[&trace[..], &[page(6)]].concat())
            .iter()
            .map(|burst| (burst.after_reads, burst.is_before_log_write))
            .collect();
        assert_eq!(found, [(1, false), (0, true), (0, false)]);
    }

    #[test]
    fn a_log_write_is_behind_a_read_of_the_same_moment_alone() {
        let trace = [read(1), log(2), read(3), page(3), log(3), log(4), read(4), log(5)];
        assert_eq!(behind_reads_per_million(&trace), 250_000);
        assert_eq!(behind_reads_per_million(&[read(1)]), 0);
    }

    #[test]
    fn requests_close_to_the_one_before_are_near_it_and_others_anywhere() {
        let mut placements = Placements::default();
        let far = 100 << 20;
        for offset in [far, far + (1 << 20), far + (32 << 10), 0, 2 << 20, (4 << 20) - 1] {
            placements.add(offset);
        }
        let (near, anywhere) = (Placement::Near, Placement::Anywhere);
        let back = (32 << 10) - (1 << 20);
        let expected =
            [anywhere, near(1 << 20), near(back), anywhere, anywhere, near((2 << 20) - 1)];
        assert_eq!(placements.all, expected);
    }
}
