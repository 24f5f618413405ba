//! The plan's settings for the engine, and for the record.

use engine::CheckpointMode;
use ese::log_file::SegmentSize;
use ese::page::PageSize;
use plan::{Plan, TestKind};
use record::{OperationMix, Settings, TestType, Thresholds};
use units::{Bytes, Nanos};

use crate::policy::{WARM_FRACTION, held_from_start, sessions_per_database};

// A plan must not ask for more than the engine accepts.
const _: () = assert!(plan::LONGEST_LONG_PAD.0 == engine::LONGEST_VALUE as u64);

/// The engine's settings for each database of `plan`.
pub(crate) fn engine_settings(plan: &Plan) -> engine::Settings {
    engine::Settings {
        cache_minimum: plan.cache.minimum,
        cache_maximum: plan.cache.maximum,
        checkpoint_depth: plan.checkpoint_depth,
        checkpoint: match plan.test.kind {
            TestKind::Recovery => CheckpointMode::Held,
            _ => CheckpointMode::Advancing,
        },
        log_segment: plan.log_segment.map(segment_size),
        maintenance_pause: maintenance_pause(plan),
        log_copies: copies(plan) - 1,
        read_back: true,
        ..engine::Settings::default()
    }
}

/// The settings for replaying logs that a load of `plan` generated.
pub(crate) fn replay_settings(plan: &Plan) -> engine::Settings {
    engine::Settings {
        checkpoint: CheckpointMode::Advancing,
        checkpoint_depth: plan.test.replayed_copy().unwrap_or(plan.checkpoint_depth),
        ..engine_settings(plan)
    }
}

/// Pause of the maintenance scan; `None` for no scan, as when logs are generated and replayed.
fn maintenance_pause(plan: &Plan) -> Option<Nanos> {
    plan.test.maintenance_throttle.filter(|_| !plan.test.is_recovery())
}

/// Copies of each database, including the active one; 1 if logs are generated.
const fn copies(plan: &Plan) -> u32 {
    if plan.test.is_recovery() { 1 } else { plan.test.copies }
}

/// The test's name in the record.
pub const fn test_type(plan: &Plan) -> TestType {
    match plan.test.kind {
        TestKind::Performance => TestType::Performance,
        TestKind::Stress => TestType::Stress,
        TestKind::Backup => TestType::Backup,
        TestKind::Checksum => TestType::Checksum,
        TestKind::Recovery => TestType::Recovery,
    }
}

/// Every setting of `plan`, with defaults resolved, for a run on `executors` threads.
pub fn record_settings(plan: &Plan, executors: u32) -> Settings {
    let engine = engine_settings(plan);
    let (start, stop) = engine.free_pool_marks(page_size(plan));
    let mix = &plan.workload.mix;
    Settings {
        threads_per_database: sessions_per_database(plan),
        executors,
        cache_minimum_bytes: plan.cache.minimum.0,
        cache_maximum_bytes: plan.cache.maximum.0,
        flush_start_bytes: start.0,
        flush_stop_bytes: stop.0,
        checkpoint_depth_bytes: plan.checkpoint_depth.0,
        page_size_bytes: u32::try_from(plan.page_size.0).expect("invariant: at most 32 KiB"),
        mix: OperationMix {
            insert_percent: mix.insert,
            delete_percent: mix.delete,
            replace_percent: mix.replace,
            read_percent: mix.read,
        },
        lazy_commit_percent: mix.lazy_commits,
        batch_operations: plan.workload.batch_updates,
        commits_per_batch: plan.workload.commits_per_batch,
        compressible_percent: plan.workload.compressible_percent,
        repeated_percent: plan.workload.repeated_percent,
        zipf_theta: plan.workload.zipf_theta,
        preset: plan.preset.to_string(),
        verify_checksums: match plan.test.kind {
            TestKind::Performance | TestKind::Stress | TestKind::Recovery => plan.test.checksum,
            TestKind::Backup => false,
            TestKind::Checksum => true,
        },
        background_maintenance: maintenance_pause(plan).is_some(),
        copies_per_database: copies(plan),
        mailboxes: plan.mailboxes.map(|of| u64::from(of.count)),
        iops_per_mailbox: plan.mailboxes.map(|of| of.iops_each),
        mailbox_bytes: plan.mailboxes.map(|of| of.size.0),
        target_iops: plan.workload.target_iops.map(f64::from),
        hourly_percent: Vec::new(),
        warm_up_held: held_from_start(plan).is_some(),
        throughput_percent: plan.workload.throughput_percent.map(f64::from),
        capacity_percent: plan.capacity_percent.map(f64::from),
        warm_fraction: WARM_FRACTION,
        interval_ns: plan.test.interval.0,
        measure_ns: plan.test.duration.0,
        replay_logs: if plan.test.is_recovery() { plan.test.replay_logs } else { 0 },
        passive_copy_depth_bytes: plan.test.replayed_copy().map(|depth| depth.0),
        thresholds: thresholds(plan),
    }
}

fn segment_size(bytes: Bytes) -> SegmentSize {
    let bytes = usize::try_from(bytes.0).ok();
    bytes
        .and_then(SegmentSize::from_bytes)
        .expect("invariant: a plan has a segment size of the format")
}

fn page_size(plan: &Plan) -> PageSize {
    let bytes = usize::try_from(plan.page_size.0).ok();
    bytes.and_then(PageSize::from_bytes).expect("invariant: a plan has a page size of the format")
}

fn thresholds(plan: &Plan) -> Thresholds {
    let named = match plan.test.kind {
        TestKind::Stress => Thresholds::lenient(),
        TestKind::Performance | TestKind::Backup | TestKind::Checksum | TestKind::Recovery => {
            Thresholds::strict()
        }
    };
    let limits = &plan.limits;
    let given = Thresholds {
        read_average_ns: limits.read_average.0,
        read_maximum_ns: limits.read_maximum.0,
        log_write_average_ns: limits.log_write_average.0,
        log_write_maximum_ns: limits.log_write_maximum.0,
        longest_request_ns: Some(limits.longest_request.0),
        read_p99_ns: limits.read_p99.map(|latency| latency.0),
        log_write_p99_ns: limits.log_write_p99.map(|latency| latency.0),
        read_rate_bytes_per_second: limits.read_rate.map(|rate| rate.0),
        replay_ns_per_log: limits.replay.map(|span| span.0),
        ..named.clone()
    };
    if given == named {
        return named;
    }
    Thresholds { name: "of the plan".to_owned(), ..given }
}

#[cfg(test)]
mod tests {
    use ese::log_file::SegmentSize;
    use plan::Plan;

    use super::{engine_settings, record_settings};

    fn plan(more: &str) -> Plan {
        let text = format!("[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n{more}");
        Plan::parse("test", &text).unwrap()
    }

    #[test]
    fn the_record_says_what_the_original_prints() {
        let settings = record_settings(&plan(""), 2);
        assert_eq!(settings.thresholds.name, "strict");
        // 256 MiB: 1 and 2 percent.
        assert_eq!(settings.flush_start_bytes, 2_684_355);
        assert_eq!(settings.flush_stop_bytes, 5_368_709);
        assert_eq!(settings.mix.read_percent, 35);
    }

    #[test]
    fn other_limits_are_not_called_strict() {
        let settings = record_settings(&plan("[limits]\nread_average = \"5ms\"\n"), 1);
        assert_eq!(settings.thresholds.name, "of the plan");
        assert_eq!(settings.thresholds.read_average_ns, 5_000_000);
    }

    #[test]
    fn the_log_s_segments_are_those_of_the_plan() {
        for (text, size) in [
            ("", None),
            ("[engine]\nlog_segment = 512\n", Some(SegmentSize::Bytes512)),
            ("[engine]\nlog_segment = 4096\n", Some(SegmentSize::Bytes4096)),
        ] {
            assert_eq!(engine_settings(&plan(text)).log_segment, size);
        }
    }

    #[test]
    fn no_maintenance_means_no_scan() {
        let settings = engine_settings(&plan("[test]\nmaintenance = false\n"));
        assert_eq!(settings.maintenance_pause, None);
    }
}
