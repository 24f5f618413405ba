//! The operation model against its profile, on a fast array and on a slow one.

use units::{Nanos, Seed};

use super::{
    BatchShape, BesidePlace, CheckpointShape, ColdCache, LoadedDatabase, LogShape, OperationAnswer,
    OperationKind, OperationLoad, OperationPlace, OperationProfile, OperationRun, Placement,
    RequestBeside, ScanShape, SpanShape, WriteBurst, WriteShape,
};
use crate::description::ArrayDescription;
use crate::host::HostProcessors;

const DISKS: &str = include_str!("../../../../../arrays/shelf-15k.toml");
const FLASH: &str = include_str!("../../../../../arrays/nvme.toml");

const PAGE: u64 = 32 << 10;
/// A write of one page.
const ANYWHERE: WriteShape = WriteShape { bytes: PAGE, placement: Placement::Anywhere };

const MINUTE: Nanos = Nanos::from_secs(60);

/// Two transactions of three reads and one; every other one waits for its log.
fn profile() -> OperationProfile {
    let span = |reads, is_durable| SpanShape {
        reads,
        reads_beside: 0,
        updates: 1,
        log_bytes: 3_000,
        is_durable,
    };
    OperationProfile {
        batches: vec![BatchShape { spans: vec![span(3, true), span(1, false)], reads: vec![] }],
        bursts: vec![WriteBurst {
            after_reads: 10,
            writes: vec![ANYWHERE; 5],
            ..WriteBurst::default()
        }],
        read_bytes: PAGE,
        writes_in_flight: 32,
        writes_behind: 64,
        log: LogShape {
            beside: vec![RequestBeside {
                at: 512 << 10,
                chain: 1,
                kind: OperationKind::ReplicationRead,
                bytes: 256 << 10,
                place: BesidePlace::Log(-(1 << 20)),
            }],
            ..LogShape::default()
        },
        cold: ColdCache::default(),
    }
}

/// One database with a number of sessions, modified by `change`.
fn load<'a>(
    profile: &'a OperationProfile,
    sessions: u32,
    change: impl FnOnce(&mut OperationLoad<'a>),
) -> OperationLoad<'a> {
    let place = OperationPlace { array: 0, base: 0, bytes: 100 << 30 };
    let log = OperationPlace { array: 0, base: 100 << 30, bytes: 16 << 30 };
    let mut load = OperationLoad {
        profile,
        databases: vec![LoadedDatabase { sessions, place, log, pace: None, profile: None }],
        rest_percent: 0,
        scan: None,
        processors: None,
    };
    change(&mut load);
    load
}

fn answers(array: &str, load: OperationLoad<'_>, seed: u64) -> Vec<OperationAnswer> {
    let array = ArrayDescription::parse("array", array, &[]).expect("an array");
    let mut run = OperationRun::new(&[array], load, Seed(seed)).expect("an array");
    let mut answers = Vec::new();
    run.advance(MINUTE, &mut |answer| answers.push(answer));
    assert!(run.events() > answers.len() as u64);
    answers
}

fn count(answers: &[OperationAnswer], kind: OperationKind) -> f64 {
    answers.iter().filter(|of| of.kind == kind).count() as f64
}

fn near(value: f64, expected: f64, percent: f64) {
    assert!((value / expected - 1.0).abs() * 100.0 <= percent, "{value}, not {expected}");
}

#[test]
fn the_same_seed_gives_the_same_answers_and_another_one_others() {
    let profile = profile();
    let played = |seed| answers(DISKS, load(&profile, 4, |_| ()), seed);
    let first = played(1);
    assert_eq!(first, played(1));
    assert_ne!(first, played(2));
}

#[test]
fn a_batch_brings_the_requests_that_were_measured() {
    let profile = profile();
    let answers = answers(DISKS, load(&profile, 4, |_| ()), 1);
    let batches = count(&answers, OperationKind::Batch);
    assert!(batches > 1_000.0, "{batches}");
    near(count(&answers, OperationKind::DatabaseRead) / batches, 4.0, 1.0);
    near(count(&answers, OperationKind::DatabaseWrite) / batches, 2.0, 2.0);
    // One write serves all who wait, so that there are fewer than durable commits.
    let log_writes = count(&answers, OperationKind::LogWrite) / batches;
    assert!((0.3..=1.05).contains(&log_writes), "{log_writes}");
    let log = answers.iter().filter(|of| of.kind == OperationKind::LogWrite);
    let bytes: u64 = log.map(|of| of.bytes).sum();
    near(bytes as f64 / batches, 6_000.0, 12.0);
    let files = bytes as f64 / f64::from(1 << 20);
    near(count(&answers, OperationKind::ReplicationRead), files, 10.0);
}

/// Pages of a message and of its body are near each other: the arm need not move for the second.
#[test]
fn a_read_near_the_one_before_it_takes_no_long_seek() {
    let mean_ms = |placement| {
        let mut profile = profile();
        profile.bursts.clear();
        profile.batches[0].reads = vec![Placement::Anywhere, placement, placement, placement];
        let disk = include_str!("../../../../../arrays/disk-7200.toml");
        let answers = answers(disk, load(&profile, 1, |_| ()), 1);
        let reads = answers.iter().filter(|of| of.kind == OperationKind::DatabaseRead);
        let sum: f64 = reads.map(|of| of.latency.as_secs_f64() * 1e3).sum();
        sum / count(&answers, OperationKind::DatabaseRead)
    };
    let (anywhere, near) = (mean_ms(Placement::Anywhere), mean_ms(Placement::Near(256 << 10)));
    // 256 KiB are a sixth of a track, which takes 1.4 ms to pass; elsewhere the arm moves, and half
    // a revolution of 8.3 ms is added.
    assert!(near < anywhere - 2.0, "{near} ms, anywhere {anywhere} ms");
}

#[test]
fn a_distance_beyond_an_end_of_the_database_stays_within_it() {
    use super::database::SimulatedDatabase;
    use crate::description::FileSystemSection;
    use crate::file_system::Metadata;
    let place = OperationPlace { array: 0, base: 10 * PAGE, bytes: 4 * PAGE };
    let log = OperationPlace { array: 0, base: 0, bytes: 1 << 30 };
    let profile = profile();
    let mut database = SimulatedDatabase::new(
        &profile,
        (place, log),
        None,
        (units::Prng::new(Seed(1)), Metadata::new(FileSystemSection::default(), 0, Seed(0))),
    );
    let mut from_first =
        |distance| database.placed(Placement::Near(distance), place.base, (PAGE, PAGE)) / PAGE;
    let page = PAGE.cast_signed();
    assert_eq!([-page, 0, page, 2 * page, 3 * page].map(&mut from_first), [10, 10, 11, 12, 10]);
}

#[test]
fn sessions_that_rest_as_long_as_they_work_do_half_of_it() {
    let mut profile = profile();
    // Writes that continue while a session rests would make its reads faster.
    profile.bursts.clear();
    let batches = |percent| {
        let load = load(&profile, 1, |load| load.rest_percent = percent);
        count(&answers(FLASH, load, 1), OperationKind::Batch)
    };
    // Slightly more: reads find flash that has programmed the writes from before the rest.
    near(batches(100), batches(0) / 2.0, 10.0);
}

#[test]
fn a_pace_is_kept_and_a_scan_reads_after_each_pause() {
    let profile = profile();
    let scan = ScanShape { pause: Nanos::from_millis(50), bytes: 256 << 10 };
    let load = load(&profile, 4, |load| {
        load.scan = Some(scan);
        // Six requests for a batch: 100 batches a second.
        load.databases[0].pace =
            Some(Box::new(|requests, _, _| Nanos(requests * 1_000_000_000 / 600)));
    });
    let answers = answers(FLASH, load, 1);
    near(count(&answers, OperationKind::Batch), 6_000.0, 3.0);
    near(count(&answers, OperationKind::MaintenanceRead), 60.0 / 0.050, 2.0);
}

/// Page writes that the array cannot absorb hold up reads, like a cache without a free page.
#[test]
fn reads_wait_where_writes_fall_behind() {
    let mut profile = profile();
    profile.bursts =
        vec![WriteBurst { after_reads: 10, writes: vec![ANYWHERE; 40], ..WriteBurst::default() }];
    let through = DISKS.replace("write-back", "write-through");
    let behind = answers(&through, load(&profile, 16, |_| ()), 1);
    near(writes_per_read(&behind), 4.0, 3.0);
    profile.writes_behind = usize::MAX;
    let ahead = answers(&through, load(&profile, 16, |_| ()), 1);
    assert!(writes_per_read(&ahead) < 3.0, "{}", writes_per_read(&ahead));
}

/// Like a flash read cache in front of disks, bypassed by writes.
#[test]
fn a_cache_for_reads_answers_its_share_of_them() {
    let mut profile = profile();
    profile.bursts.clear();
    let answered_at_once = |percent: u64| {
        let array = DISKS.replace("[cache]", &format!("[cache]\nread_hit_percent = {percent}"));
        let answers = answers(&array, load(&profile, 1, |_| ()), 1);
        let reads = answers.iter().filter(|of| of.kind == OperationKind::DatabaseRead);
        let fast = reads.filter(|of| of.latency < Nanos::from_micros(600)).count();
        fast as f64 / count(&answers, OperationKind::DatabaseRead)
    };
    assert!(answered_at_once(0) < 0.02, "{}", answered_at_once(0));
    near(answered_at_once(50), 0.5, 4.0);
    near(answered_at_once(100), 1.0, 2.0);
}

fn writes_per_read(answers: &[OperationAnswer]) -> f64 {
    count(answers, OperationKind::DatabaseWrite) / count(answers, OperationKind::DatabaseRead)
}

#[test]
fn one_write_of_the_log_serves_all_who_wait_and_a_full_file_is_followed_by_another() {
    use super::log::{LogState, LogWrite};
    let shape = profile().log;
    let mut log = LogState::new(&shape);
    let first = log.add(1_000, &shape);
    assert!(!log.wait(first, 1));
    assert_eq!(log.next_write(&shape), Some(LogWrite { at: 4 << 10, bytes: 1_024 }));
    assert_eq!(log.next_write(&shape), None, "one write at a time");
    for session in [2, 3] {
        let end = log.add(700, &shape);
        assert!(!log.wait(end, session));
    }
    log.written();
    assert_eq!(log.served(), [1]);
    assert_eq!(log.next_write(&shape), Some(LogWrite { at: 5 << 10, bytes: 1_536 }));
    log.written();
    assert_eq!(log.served(), [2, 3]);
    assert!(log.wait(first, 4), "what is durable is not waited for");
    // Lazy bytes are written once there are many of them, in writes that are not too long.
    log.add((512 << 10) - 1, &shape);
    assert_eq!(log.next_write(&shape), None);
    log.add(1, &shape);
    assert_eq!(log.next_write(&shape).map(|write| write.bytes), Some(512 << 10));
    log.written();
    let end = log.add(510 << 10, &shape);
    assert!(!log.wait(end, 5));
    // A write ends with its file, and the header of the next one comes before the rest.
    let used = (6 << 10) + 512 + (512 << 10);
    let rest = LogWrite { at: used, bytes: (1 << 20) - used };
    assert_eq!(log.next_write(&shape), Some(rest), "the rest of the file");
    log.written();
    assert_eq!(log.next_write(&shape), Some(LogWrite { at: 1 << 20, bytes: 4 << 10 }), "a header");
    assert_eq!(log.place().0, 1);
    log.written();
    assert_eq!(log.served(), [0_u32; 0]);
    assert_eq!(log.next_write(&shape).map(|write| write.at), Some((1 << 20) + (4 << 10)));
    assert!(!log.is_full(&shape));
    log.add(2 << 20, &shape);
    assert!(log.is_full(&shape));
}

/// A checkpoint advances once a second while the log grows, however long a log file lasts, and
/// sooner if the log grows by a step.
#[test]
fn a_checkpoint_advances_by_time_and_by_the_log() {
    let advances = |log_bytes: u64, step_bytes| {
        let mut profile = profile();
        for span in &mut profile.batches[0].spans {
            span.log_bytes = log_bytes;
        }
        let requests = vec![(OperationKind::Flush, 0), (OperationKind::HeaderWrite, 4_096)];
        profile.log.checkpoint = CheckpointShape { requests, step_bytes, ..Default::default() };
        count(&answers(FLASH, load(&profile, 1, |_| ()), 1), OperationKind::Flush)
    };
    near(advances(3_000, u64::MAX), 60.0, 4.0);
    assert!(advances(0, u64::MAX) < 1.0, "nothing to follow");
    assert!(advances(3_000, 64 << 10) > 120.0);
}

#[test]
fn the_file_system_writes_at_this_level_too() {
    let profile = profile();
    let refs = format!("{FLASH}\n[file_system]\nmetadata_percent = 200\nis_awaited = true\n");
    let reads = |array: &str| {
        count(&answers(array, load(&profile, 32, |_| ()), 1), OperationKind::DatabaseRead)
    };
    let (plain, more) = (reads(FLASH), reads(&refs));
    assert!(more < 0.95 * plain, "{more} of {plain}");
}

#[test]
fn processors_are_the_limit_where_they_are_slow() {
    let profile = profile();
    let section = "[host]\nprocessors = 2\nupdate_us = 1000\ncommit_us = 500\n";
    let text = format!("{FLASH}\n{section}");
    let array = ArrayDescription::parse("array", &text, &[]).expect("an array");
    let load = load(&profile, 16, |load| load.processors = HostProcessors::of(&array));
    // Two transactions of 1.5 ms on two processors.
    near(count(&answers(FLASH, load, 1), OperationKind::Batch), 60.0 / 0.0015, 2.0);
}

/// As in the engine, a transaction takes processor time when it commits: if it came before the
/// reads, commits of several sessions would leave the processors together.
#[test]
fn processors_work_on_a_transaction_after_its_reads_and_before_its_commit() {
    let profile = profile();
    let text = format!("{FLASH}\n[host]\nprocessors = 1\nupdate_us = 500000\n");
    let array = ArrayDescription::parse("array", &text, &[]).expect("an array");
    let load = load(&profile, 1, |load| load.processors = HostProcessors::of(&array));
    let mut run = OperationRun::new(&[array], load, Seed(1)).expect("an array");
    let mut answered_by = |moment| {
        let mut answers = Vec::new();
        run.advance(moment, &mut |answer| answers.push(answer));
        let count = |kind| answers.iter().filter(|of| of.kind == kind).count();
        (count(OperationKind::DatabaseRead), count(OperationKind::LogWrite))
    };
    assert_eq!(answered_by(Nanos::from_millis(490)), (3, 0));
    // The second transaction has one read, and goes to the processors after it.
    assert_eq!(answered_by(Nanos::from_millis(990)), (1, 1));
}

/// Checked by arithmetic: with initially one additional read per read, decreasing evenly with the
/// pages that the cache lacks, `pages * (1 - ln 2)` of the reads until it is full are additional.
#[test]
fn a_cold_cache_reads_more_until_it_is_warm() {
    let cold = ColdCache { pages: 3_000, extra_reads: 1.0 };
    let profile = OperationProfile { cold, ..profile() };
    let array = ArrayDescription::parse("array", FLASH, &[]).expect("an array");
    let load = load(&profile, 4, |_| ());
    let mut run = OperationRun::new(&[array], load, Seed(1)).expect("an array");
    run.cool(0);
    let mut answers = Vec::new();
    run.advance(MINUTE, &mut |answer| answers.push(answer));
    assert_eq!(run.cold_reads_left(0), 0);
    let additional = answers.iter().filter(|of| of.is_warming).count() as f64;
    let wanted = 3_000.0 * (1.0 - std::f64::consts::LN_2);
    assert!((additional / wanted - 1.0).abs() < 0.05, "{additional} reads, not {wanted}");
    let reads = count(&answers, OperationKind::DatabaseRead) - additional;
    let writes = count(&answers, OperationKind::DatabaseWrite) / reads;
    assert!((writes / 0.5 - 1.0).abs() < 0.02, "{writes} writes for each other read");
}
