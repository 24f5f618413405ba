//! Turns a written description into a simulated array, with every value within its bounds.

use super::{ArrayDescription, DescriptionError, DiskSection, FlashSection};
use crate::disk::{DataSheetSeeks, DiskParameters, Geometry, SeekCurve, WriteCacheParameters};
use crate::flash::FlashParameters;
use crate::limit::LimitParameters;
use crate::link::PathParameters;
use crate::model::{ArrayModel, CacheMode, CacheParameters, Medium};
use crate::neighbours::NeighbourParameters;
use crate::raid::{FailedDisk, RaidLayout, RaidLevel};

/// The problem with a value: its key, and its valid values.
pub(super) type ValueComplaint = (&'static str, String);

impl ArrayDescription {
    /// The array to simulate; `file` names the description in complaints.
    pub(crate) fn model(&self, file: &str) -> Result<ArrayModel, DescriptionError> {
        self.checked().map_err(|(key, wanted)| DescriptionError::Value {
            file: file.to_owned(),
            key,
            wanted,
        })
    }

    fn checked(&self) -> Result<ArrayModel, ValueComplaint> {
        let trust = self.calibration.uncertainty_percent;
        within("calibration.uncertainty_percent", trust, 0.0, 100.0)?;
        let (medium, gigabytes) = match (&self.disk, &self.flash) {
            (Some(disk), None) => (Medium::Disk(disk.checked()?), disk.capacity_gb),
            (None, Some(flash)) => (Medium::Flash(flash.checked()?), flash.capacity_gb),
            _ => {
                return Err(("disk", "given, or else flash: one of the two sections".to_owned()));
            }
        };
        let drive_bytes = whole(gigabytes * 1e9);
        let cache = self.cache_parameters()?;
        let is_cached = self.disk.as_ref().is_some_and(|disk| disk.write_cache_kib > 0);
        if is_cached && matches!(cache.mode, CacheMode::WriteBack) {
            let wanted = "0 behind a cache that writes back: its promise is only as good as the \
                          disks'";
            return Err(("disk.write_cache_kib", wanted.to_owned()));
        }
        self.host_within()?;
        Ok(ArrayModel {
            layout: self.layout(drive_bytes)?,
            medium,
            drive_bytes,
            cache,
            path: self.path_parameters()?,
            limits: self.limit_parameters()?,
            neighbours: self.neighbour_parameters()?,
            host_cache: self.host_cache.map(|cache| cache.checked()).transpose()?,
            rebuild_percent: self.raid.rebuild_percent,
            has_spare: self.raid.spares > 0,
        })
    }

    fn layout(&self, drive_bytes: u64) -> Result<RaidLayout, ValueComplaint> {
        let raid = &self.raid;
        let least = raid.level.fewest_disks();
        let disks = raid.disks as f64;
        within("raid.disks", disks, least as f64, 1_000.0)?;
        within("raid.stripe_kib", raid.stripe_kib as f64, 4.0, 16_384.0)?;
        if matches!(raid.level, RaidLevel::Raid1) && raid.disks != 2 {
            return Err(("raid.disks", "2 in RAID 1; more of them make RAID 10".to_owned()));
        }
        if matches!(raid.level, RaidLevel::Raid10) && !raid.disks.is_multiple_of(2) {
            return Err(("raid.disks", "even in RAID 10".to_owned()));
        }
        let survives = usize::from(!matches!(raid.level, RaidLevel::Raid0));
        if raid.failed > survives {
            return Err(("raid.failed", format!("at most {survives} here")));
        }
        within("raid.spares", raid.spares as f64, 0.0, 1_000.0)?;
        within("raid.rebuild_percent", raid.rebuild_percent, 1.0, 100.0)?;
        within("raid.rebuilt_percent", raid.rebuilt_percent, 0.0, 100.0)?;
        let rebuilt = whole(drive_bytes as f64 * raid.rebuilt_percent / 100.0);
        let rebuilt = rebuilt / (raid.stripe_kib << 10) * (raid.stripe_kib << 10);
        Ok(RaidLayout {
            level: raid.level,
            disks: raid.disks,
            stripe_unit: raid.stripe_kib << 10,
            failed: (raid.failed == 1).then_some(FailedDisk { disk: 0, rebuilt }),
        })
    }

    fn limit_parameters(&self) -> Result<LimitParameters, ValueComplaint> {
        let limits = &self.limits;
        within("limits.iops", limits.iops, 0.0, 1e9)?;
        within("limits.mb_per_second", limits.mb_per_second, 0.0, 1e6)?;
        within("limits.request_kib", limits.request_kib as f64, 1.0, 65_536.0)?;
        within("limits.burst_ms", limits.burst_ms, 0.0, 1e7)?;
        Ok(LimitParameters {
            requests: limits.iops,
            request_bytes: limits.request_kib << 10,
            rate: limits.mb_per_second,
            burst: limits.burst_ms * 1e3,
        })
    }

    fn neighbour_parameters(&self) -> Result<NeighbourParameters, ValueComplaint> {
        let neighbours = &self.neighbours;
        within("neighbours.reads_per_second", neighbours.reads_per_second, 0.0, 1e6)?;
        within("neighbours.writes_per_second", neighbours.writes_per_second, 0.0, 1e6)?;
        within("neighbours.kib", neighbours.kib as f64, 1.0, 16_384.0)?;
        Ok(NeighbourParameters {
            reads: neighbours.reads_per_second,
            writes: neighbours.writes_per_second,
            bytes: neighbours.kib << 10,
        })
    }

    fn host_within(&self) -> Result<(), ValueComplaint> {
        let of = &self.file_system;
        within("file_system.metadata_percent", f64::from(of.metadata_percent), 0.0, 1_000.0)?;
        within("file_system.write_kib", of.write_kib as f64, 1.0, 1_024.0)?;
        within("host.processors", self.host.processors as f64, 0.0, 65_536.0)?;
        within("host.update_us", self.host.update_us, 0.0, 1e6)?;
        within("host.commit_us", self.host.commit_us, 0.0, 1e6)
    }

    fn cache_parameters(&self) -> Result<CacheParameters, ValueComplaint> {
        let cache = &self.cache;
        within("cache.write_percent", cache.write_percent as f64, 0.0, 100.0)?;
        within("cache.low_mark_percent", cache.low_mark_percent as f64, 0.0, 95.0)?;
        within("cache.size_mib", cache.size_mib as f64, 0.0, 1e9)?;
        within("cache.destage_concurrency", cache.destage_concurrency as f64, 1.0, 4_096.0)?;
        within("cache.destage_kib", cache.destage_kib as f64, 4.0, 65_536.0)?;
        within("cache.read_ahead_kib", cache.read_ahead_kib as f64, 0.0, 65_536.0)?;
        within("cache.read_ahead_streams", cache.read_ahead_streams as f64, 1.0, 4_096.0)?;
        within("cache.read_hit_percent", cache.read_hit_percent as f64, 0.0, 100.0)?;
        within("cache.mirror_us", cache.mirror_us, 0.0, 1e6)?;
        let write_bytes = (cache.size_mib << 20) * cache.write_percent / 100;
        let holds_writes = cache.battery && write_bytes > 0;
        let mode = match cache.mode {
            CacheMode::WriteBack if !holds_writes => CacheMode::WriteThrough,
            mode => mode,
        };
        Ok(CacheParameters {
            mode,
            write_bytes,
            low_mark: write_bytes * cache.low_mark_percent / 100,
            destage_concurrency: cache.destage_concurrency,
            destage_bytes: cache.destage_kib << 10,
            read_ahead: cache.read_ahead_kib << 10,
            read_ahead_streams: cache.read_ahead_streams,
            read_hit_percent: cache.read_hit_percent,
            mirror: whole(cache.mirror_us * 1e3),
        })
    }

    fn path_parameters(&self) -> Result<PathParameters, ValueComplaint> {
        let path = &self.path;
        within("path.links", path.links as f64, 1.0, 256.0)?;
        within("path.mb_per_second", path.mb_per_second, 0.1, 1e6)?;
        within("path.latency_us", path.latency_us, 0.0, 1e6)?;
        within("path.processors", path.processors as f64, 1.0, 1_024.0)?;
        within("path.request_us", path.request_us, 0.0, 1e6)?;
        let write_us = path.write_us.unwrap_or(path.request_us);
        within("path.write_us", write_us, 0.0, 1e6)?;
        within("path.kib_us", path.kib_us, 0.0, 1e5)?;
        within("path.drive_us", path.drive_us, 0.0, 1e5)?;
        Ok(PathParameters {
            links: path.links,
            rate: path.mb_per_second,
            latency: path.latency_us,
            processors: path.processors,
            read: path.request_us,
            write: write_us,
            kibibyte: path.kib_us,
            drive: path.drive_us,
        })
    }
}

impl DiskSection {
    fn checked(&self) -> Result<DiskParameters, ValueComplaint> {
        within("disk.rpm", self.rpm, 1_000.0, 30_000.0)?;
        within("disk.capacity_gb", self.capacity_gb, 0.01, 1e6)?;
        within("disk.inner_mb_per_second", self.inner_mb_per_second, 0.1, 10_000.0)?;
        within(
            "disk.outer_mb_per_second",
            self.outer_mb_per_second,
            self.inner_mb_per_second,
            10_000.0,
        )?;
        within("disk.write_settle_ms", self.write_settle_ms, 0.0, 100.0)?;
        within("disk.overhead_ms", self.overhead_ms, 0.0, 100.0)?;
        within("disk.queue_depth", self.queue_depth as f64, 1.0, 1_024.0)?;
        within("disk.read_ahead_kib", self.read_ahead_kib as f64, 0.0, 1e6)?;
        within("disk.write_cache_kib", self.write_cache_kib as f64, 0.0, 1e7)?;
        Ok(DiskParameters {
            geometry: Geometry {
                capacity: self.capacity_gb * 1e9,
                outer_rate: self.outer_mb_per_second * 1e3,
                inner_rate: self.inner_mb_per_second * 1e3,
                revolution: 60_000.0 / self.rpm,
            },
            seek: self.seek()?,
            write_settle: self.write_settle_ms,
            overhead: self.overhead_ms,
            queue_depth: self.queue_depth,
            policy: self.policy,
            read_ahead: (self.read_ahead_kib << 10) as f64,
            write_cache: WriteCacheParameters {
                bytes: self.write_cache_kib << 10,
                lies: self.ignores_flushes,
            },
        })
    }

    fn seek(&self) -> Result<SeekCurve, ValueComplaint> {
        within("disk.seek_track_to_track_ms", self.seek_track_to_track_ms, 0.0, 1e3)?;
        within("disk.seek_average_ms", self.seek_average_ms, 0.0, 1e3)?;
        within("disk.seek_full_ms", self.seek_full_ms, 0.0, 1e3)?;
        if !self.seek_table.is_empty() {
            let rising = self.seek_table.windows(2).all(|pair| pair[0].0 < pair[1].0);
            let mut points = self.seek_table.iter();
            let sane = points.all(|(at, ms)| (0.0..=1.0).contains(at) && (0.0..1e3).contains(ms));
            return if rising && sane {
                Ok(SeekCurve::Table(self.seek_table.clone()))
            } else {
                let wanted = "pairs of a rising fraction from 0 to 1 and milliseconds";
                Err(("disk.seek_table", wanted.to_owned()))
            };
        }
        let sheet = DataSheetSeeks {
            single_track_ms: self.seek_track_to_track_ms,
            average_ms: self.seek_average_ms,
            full_stroke_ms: self.seek_full_ms,
        };
        SeekCurve::of_data_sheet(self.seek_curve, sheet).ok_or_else(|| {
            let (least, most) = self.seek_curve.possible_averages_ms(sheet);
            let wanted = format!(
                "such that a curve goes through it: between {least:.2} and {most:.2} with these \
                 shortest and longest seeks"
            );
            ("disk.seek_average_ms", wanted)
        })
    }
}

impl FlashSection {
    fn checked(&self) -> Result<FlashParameters, ValueComplaint> {
        within("flash.capacity_gb", self.capacity_gb, 0.01, 1e6)?;
        within("flash.dies", self.dies as f64, 1.0, 65_536.0)?;
        within("flash.read_us", self.read_us, 0.0, 1e6)?;
        within("flash.program_us", self.program_us, 0.0, 1e6)?;
        within("flash.page_kib", self.page_kib as f64, 1.0, 1_024.0)?;
        within("flash.interface_mb_per_second", self.interface_mb_per_second, 0.1, 1e6)?;
        within("flash.overhead_us", self.overhead_us, 0.0, 1e6)?;
        within("flash.write_overhead_us", self.write_overhead_us, 0.0, 1e6)?;
        within("flash.durable_us", self.durable_us, 0.0, 1e6)?;
        within("flash.read_beside_writes_us", self.read_beside_writes_us, 0.0, 1e6)?;
        within("flash.write_amplification", self.write_amplification, 1.0, 100.0)?;
        within("flash.buffer_kib", self.buffer_kib as f64, 0.0, 1e9)?;
        Ok(FlashParameters {
            dies: self.dies,
            read: self.read_us,
            program: self.program_us,
            page: self.page_kib << 10,
            rate: self.interface_mb_per_second,
            overhead: self.overhead_us,
            write_overhead: self.write_overhead_us,
            durable: self.durable_us,
            read_beside_writes: self.read_beside_writes_us,
            write_amplification: self.write_amplification,
            buffer: (self.buffer_kib << 10) as f64,
            buffer_is_volatile: self.buffer_is_volatile,
        })
    }
}

pub(super) fn within(
    key: &'static str,
    value: f64,
    least: f64,
    most: f64,
) -> Result<(), ValueComplaint> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err((key, format!("from {least} to {most}, not {value}")))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bounds were checked: positive, and far below 2^64"
)]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}
