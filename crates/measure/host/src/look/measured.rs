//! Behaviour of durable writes under a folder, measured on a separate file.

use std::path::Path;
use std::rc::Rc;

use device::Volume;
use device_os::World;
use record::WriteSamples;
use trial::{ProbeWatch, WriteProbe, probe_writes};
use units::{Bytes, Nanos, Seed};

use crate::error::HostError;
use crate::observer::{HostEvent, HostObserver};
use crate::scratch::ScratchFolder;
use crate::stop::StopFlag;
use crate::target::{self, RawTarget};
use crate::wire;

/// The file that is written.
const FILE: &str = "plimsoll-inspect-writes";

/// A page of a database.
const WRITE_BYTES: u32 = 32 << 10;

/// Enough for a median that one hiccup does not move.
const SINGLES: u32 = 64;

/// As many as a mail store with a few databases has in flight.
const IN_FLIGHT: u32 = 32;

/// Enough for a cache of a few gigabytes to drain after a file has been written in one piece.
const REST: Nanos = Nanos::from_secs(10);

/// Left on the volume for others.
const RESERVE_BYTES: u64 = 1 << 30;

/// Amount and duration of the writes.
#[derive(Clone, Copy, Debug)]
pub struct MeasureOrder {
    /// Size of the file.
    pub size: Bytes,
    /// Time limit for the parallel writes.
    pub limit: Nanos,
}

/// Measures the storage under `folder`, which [`refuse`] has let pass. Whatever happens, the file
/// is removed.
pub(super) fn writes(
    folder: &Path,
    order: MeasureOrder,
    stop: &StopFlag,
    observer: &HostObserver,
) -> Result<WriteSamples, HostError> {
    let world = wire::world()?;
    if RawTarget::of(folder).is_some() {
        let volume = wire::volume(&world, folder)?;
        // A killed measurement leaves its file behind.
        let _ = world.executor().block_on(volume.remove(FILE));
        let samples = probed(&world, Rc::clone(&volume), order, (stop, observer));
        // A raw device has no folder to delete with its contents, and an error of the measurement
        // takes precedence.
        let removed = world.executor().block_on(volume.remove(FILE));
        let samples = samples?;
        removed?;
        return whole(folder, samples);
    }
    let scratch = ScratchFolder::new(folder, "plimsoll-inspect", observer)?;
    let volume = wire::volume(&world, scratch.path())?;
    whole(folder, probed(&world, volume, order, (stop, observer))?)
}

fn probed(
    world: &World,
    volume: Rc<dyn Volume>,
    order: MeasureOrder,
    (stop, observer): (&StopFlag, &HostObserver),
) -> Result<Option<WriteSamples>, HostError> {
    let probe = WriteProbe {
        file: FILE.to_owned(),
        file_bytes: order.size.0,
        write_bytes: WRITE_BYTES,
        singles: SINGLES,
        in_flight: IN_FLIGHT,
        rest: REST,
        limit: order.limit,
        seed: Seed(1),
    };
    let watch = Rc::new(Watch { stop: stop.clone(), observer: observer.clone() });
    let probing = probe_writes(world.executor().runtime(), volume, probe, watch);
    let samples = world.executor().block_on(probing);
    observer.tell(HostEvent::Ended);
    Ok(samples?)
}

fn whole(folder: &Path, samples: Option<WriteSamples>) -> Result<WriteSamples, HostError> {
    samples.ok_or_else(|| {
        HostError::new(format!("{}: was not measured to the end; measure again", folder.display()))
    })
}

/// Refuses a path that is not a folder or has no space for the file.
pub fn refuse(folder: &Path, size: Bytes) -> Result<(), HostError> {
    let name = folder.display();
    let raw = RawTarget::of(folder);
    if raw.is_none() && !folder.is_dir() {
        return Err(HostError::new(format!("{name}: is no folder; name one to measure in")));
    }
    if size.0 < 64 << 20 || !size.0.is_multiple_of(1 << 20) {
        return Err(HostError::new(format!(
            "--measure-size {size}: is to be whole MiB, and 64 MiB at least"
        )));
    }
    let free = target::free_bytes(folder)?;
    // A raw device has no other users.
    let reserve = if raw.is_some() { 0 } else { RESERVE_BYTES };
    if free < size.0 + reserve {
        return Err(HostError::new(format!(
            "{name}: {} are free, and a file of {size} is to leave {} of them; free some, or say \
             --measure-size",
            Bytes(free),
            Bytes(reserve)
        )));
    }
    Ok(())
}

/// Reports progress and passes on a request to stop.
struct Watch {
    stop: StopFlag,
    observer: HostObserver,
}

impl ProbeWatch for Watch {
    fn tell(&self, part: &'static str, share: f64) {
        let text = format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0);
        self.observer.tell(HostEvent::State { work: part, text: &text });
    }

    fn is_enough(&self, samples: &WriteSamples) -> bool {
        inspection::is_settled(samples)
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use device::{Executor, VirtualReactor, Volume, VolumeImage};
    use record::{StorageFinding, WriteSamples};
    use simdisk::{ArrayDescription, SimulatedArray};
    use trial::{ProbeWatch, WriteProbe, probe_writes};
    use units::{Nanos, Seed};

    use super::{IN_FLIGHT, REST, SINGLES, WRITE_BYTES};

    struct Quiet;

    impl ProbeWatch for Quiet {
        fn tell(&self, _: &'static str, _: f64) {}

        fn is_enough(&self, samples: &WriteSamples) -> bool {
            inspection::is_settled(samples)
        }

        fn is_stopped(&self) -> bool {
            false
        }
    }

    /// Findings on a disk of 7,200 rpm behind a controller with this cache.
    fn behind(cache: &str, disk: &str, seed: u64) -> Vec<StorageFinding> {
        let text = format!(
            "name = \"test\"\nprovenance = \"made up\"\n[raid]\nlevel = 0\ndisks = 1\n\
             stripe_kib = 256\n{disk}\n[cache]\n{cache}\n[path]\nmb_per_second = 600\n\
             request_us = 20\n"
        );
        let description = ArrayDescription::parse("test", &text, &[]).unwrap();
        let reactor = VirtualReactor::new();
        let array = SimulatedArray::new(&description, &reactor, Seed(seed)).unwrap();
        let volume: Rc<dyn Volume> =
            Rc::new(array.volume("mail", array.whole(), &VolumeImage::default()));
        let executor = Executor::new(reactor);
        let probe = WriteProbe {
            file: "writes".to_owned(),
            file_bytes: 256 << 20,
            write_bytes: WRITE_BYTES,
            singles: SINGLES,
            in_flight: IN_FLIGHT,
            rest: REST,
            limit: Nanos::from_secs(300),
            seed: Seed(seed),
        };
        let probing = probe_writes(executor.runtime(), volume, probe, Rc::new(Quiet));
        let samples = executor.block_on(probing).unwrap().unwrap();
        inspection::finding_of("mail", &[], &samples)
    }

    const DISK: &str = "[disk]\nrpm = 7200\ncapacity_gb = 4000\nouter_mb_per_second = 180\n\
        inner_mb_per_second = 85\nseek_track_to_track_ms = 0.8\nseek_average_ms = 8.5\n\
        seek_full_ms = 17.0\nwrite_settle_ms = 0.5\noverhead_ms = 0.2";

    /// The observation, and the size of the cache in MiB if it is named.
    fn seen(cache: &str, seed: u64) -> (String, Option<f64>) {
        let findings = behind(cache, DISK, seed);
        let seen = findings[0].seen.clone();
        let size = seen.split_once(", ").and_then(|(_, rest)| rest.split_once(" MiB"));
        let size = size.and_then(|(number, _)| number.parse().ok());
        (seen, size)
    }

    #[test]
    fn a_write_back_cache_is_found_and_measured_ten_times_of_ten() {
        for (seed, mib) in (0..10).zip([16, 24, 32, 40, 48, 16, 24, 32, 40, 48]) {
            let cache = format!("mode = \"write-back\"\nsize_mib = {mib}\nwrite_percent = 100");
            let (seen, size) = seen(&cache, seed);
            assert!(seen.starts_with("write back, "), "seed {seed}: {seen}");
            let off = (size.unwrap() - f64::from(mib)).abs() / f64::from(mib);
            assert!(off < 0.25, "seed {seed}: {mib} MiB: {seen}");
        }
    }

    #[test]
    fn storage_without_a_write_cache_is_told_from_it_ten_times_of_ten() {
        for seed in 0..10 {
            let through = "mode = \"write-through\"\nsize_mib = 32";
            let (seen, _) = seen(through, seed);
            assert!(seen.starts_with("none: "), "seed {seed}: {seen}");
        }
    }
}
