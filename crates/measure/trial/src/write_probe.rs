//! Writes to a separate file until any cache in front of the medium reveals itself: single writes,
//! volatile and durable, then as many durable ones at random places as the storage takes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{
    Boxed, Device, DeviceError, Durability, Op, OpenMode, Purpose, Request, Runtime, Volume,
    write_noise,
};
use record::WriteSamples;
use units::{Nanos, Prng, Seed};

/// Length of the writes that fill the file.
const FILL_BYTES: u64 = 1 << 20;

/// Completions between two checks for sufficient data.
const LOOK: usize = 256;

/// Shape of the writes.
#[derive(Clone, Debug)]
pub struct WriteProbe {
    /// Name of the file, which must not exist; it is kept.
    pub file: String,
    /// Its length: a multiple of 1 MiB. No place is written twice by random writes, so caches up to
    /// this size are detected.
    pub file_bytes: u64,
    /// Length of a random write in bytes; divides 1 MiB.
    pub write_bytes: u32,
    /// Single writes of each kind.
    pub singles: u32,
    /// Durable writes in flight at a time.
    pub in_flight: u32,
    /// Pause before the single writes and before the batch, to let caches drain.
    pub rest: Nanos,
    /// Time limit for the durable writes at random places.
    pub limit: Nanos,
    /// Seed of contents and places.
    pub seed: Seed,
}

/// Observer of a probe, which can end it.
pub trait ProbeWatch {
    /// Reports that a part has begun or progressed: its name, and its share from 0 to 1.
    fn tell(&self, part: &'static str, share: f64);

    /// Whether the samples suffice.
    fn is_enough(&self, samples: &WriteSamples) -> bool;

    /// Whether to stop now; partial results are discarded.
    fn is_stopped(&self) -> bool;
}

/// Writes to a new file and samples the writes; `None` if `watch` asked to stop.
pub fn probe_writes(
    runtime: Runtime,
    volume: Rc<dyn Volume>,
    probe: WriteProbe,
    watch: Rc<dyn ProbeWatch>,
) -> Boxed<'static, Result<Option<WriteSamples>, DeviceError>> {
    Box::pin(async move {
        let mode = OpenMode::CreateNew { length: probe.file_bytes };
        let device = volume.open(&probe.file, mode).await?;
        let mut prng = Prng::new(probe.seed);
        let mut running = Running {
            places: places(&probe, &mut prng),
            prng: RefCell::new(prng),
            samples: RefCell::new(WriteSamples {
                write_bytes: probe.write_bytes,
                ..WriteSamples::default()
            }),
            failed: RefCell::new(None),
            runtime,
            device,
            probe,
            watch,
        };
        running.fill().await?;
        running.rest("rest").await;
        let volatile_ns = running.singles(Durability::Volatile).await?;
        running.flush().await?;
        let durable_ns = running.singles(Durability::Durable).await?;
        running.rest("rest").await;
        {
            let samples = running.samples.get_mut();
            (samples.volatile_ns, samples.durable_ns) = (volatile_ns, durable_ns);
        }
        let running = Rc::new(running);
        saturate(&running).await?;
        let samples = running.samples.take();
        Ok((!running.watch.is_stopped()).then_some(samples))
    })
}

struct Running {
    runtime: Runtime,
    device: Rc<dyn Device>,
    probe: WriteProbe,
    watch: Rc<dyn ProbeWatch>,
    /// Offsets still to be written by random writes, each once.
    places: RefCell<Vec<u64>>,
    prng: RefCell<Prng>,
    samples: RefCell<WriteSamples>,
    failed: RefCell<Option<DeviceError>>,
}

/// Every block of the file in a fresh random order (Fisher and Yates).
fn places(probe: &WriteProbe, prng: &mut Prng) -> RefCell<Vec<u64>> {
    let each = u64::from(probe.write_bytes);
    let mut places: Vec<u64> = (0..probe.file_bytes / each).map(|number| number * each).collect();
    for last in (1..places.len()).rev() {
        let drawn = prng.below(last as u64 + 1);
        places.swap(last, usize::try_from(drawn).expect("invariant: below a length"));
    }
    RefCell::new(places)
}

impl Running {
    async fn write(
        &self,
        offset: u64,
        bytes: u64,
        durability: Durability,
    ) -> Result<Nanos, DeviceError> {
        write_noise(&*self.device, &self.prng, offset, bytes, durability).await
    }

    async fn flush(&self) -> Result<(), DeviceError> {
        let request = Request { purpose: Purpose::Fill, op: Op::Flush };
        self.device.submit(request).await.result
    }

    /// Writes the whole file: the first write to a place also costs the file system a metadata
    /// update.
    async fn fill(&self) -> Result<(), DeviceError> {
        for number in 0..self.probe.file_bytes / FILL_BYTES {
            if self.watch.is_stopped() {
                return Ok(());
            }
            let offset = number * FILL_BYTES;
            self.watch.tell("file", offset as f64 / self.probe.file_bytes as f64);
            self.write(offset, FILL_BYTES, Durability::Volatile).await?;
        }
        self.flush().await
    }

    async fn rest(&self, part: &'static str) {
        let step = Nanos(self.probe.rest.0 / 10);
        for number in 0..10_u32 {
            if self.watch.is_stopped() {
                return;
            }
            self.watch.tell(part, f64::from(number) / 10.0);
            self.runtime.sleep(step).await;
        }
    }

    /// Latencies of writes, one at a time.
    async fn singles(&self, durability: Durability) -> Result<Vec<u64>, DeviceError> {
        let mut latencies = Vec::new();
        for number in 0..self.probe.singles {
            let Some(place) = self.next_place() else {
                break;
            };
            let share = f64::from(number) / f64::from(self.probe.singles);
            self.watch.tell("single writes", share);
            let bytes = u64::from(self.probe.write_bytes);
            latencies.push(self.write(place, bytes, durability).await?.0);
        }
        Ok(latencies)
    }

    fn next_place(&self) -> Option<u64> {
        if self.watch.is_stopped() {
            return None;
        }
        self.places.borrow_mut().pop()
    }

    /// Records a completion; returns whether to continue.
    fn completed(&self, began: Nanos) -> bool {
        let since = self.runtime.now().since(began);
        let mut samples = self.samples.borrow_mut();
        samples.completions_ns.push(since.0);
        let count = samples.completions_ns.len();
        if !count.is_multiple_of(LOOK) && since.0 < self.probe.limit.0 {
            return true;
        }
        self.watch.tell("many writes", since.0 as f64 / self.probe.limit.0.max(1) as f64);
        since.0 < self.probe.limit.0 && !self.watch.is_enough(&samples)
    }
}

/// Keeps a number of durable writes in flight until the watch has enough, the time is up, or every
/// place is written.
async fn saturate(running: &Rc<Running>) -> Result<(), DeviceError> {
    let began = running.runtime.now();
    let over = Rc::new(Cell::new(false));
    let mut tasks = Vec::new();
    for _ in 0..running.probe.in_flight {
        let (running, over) = (Rc::clone(running), Rc::clone(&over));
        tasks.push(running.runtime.clone().spawn(async move {
            while !over.get() {
                let Some(place) = running.next_place() else {
                    break;
                };
                let bytes = u64::from(running.probe.write_bytes);
                match running.write(place, bytes, Durability::Durable).await {
                    Ok(_) if over.get() => {}
                    Ok(_) => over.set(!running.completed(began)),
                    Err(error) => {
                        running.failed.borrow_mut().get_or_insert(error);
                        over.set(true);
                    }
                }
            }
        }));
    }
    for task in tasks {
        task.await;
    }
    running.failed.take().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use device::{Executor, Latency, MemoryVolume, VirtualReactor};
    use record::WriteSamples;
    use units::{Nanos, Seed};

    use super::{ProbeWatch, WriteProbe, probe_writes};

    struct Watch {
        enough_after: usize,
        stopped: bool,
    }

    impl ProbeWatch for Watch {
        fn tell(&self, _: &'static str, share: f64) {
            assert!((0.0..=1.1).contains(&share), "{share}");
        }

        fn is_enough(&self, samples: &WriteSamples) -> bool {
            samples.completions_ns.len() >= self.enough_after
        }

        fn is_stopped(&self) -> bool {
            self.stopped
        }
    }

    fn probed(watch: Watch) -> Option<WriteSamples> {
        let reactor = VirtualReactor::new();
        let volume = Rc::new(MemoryVolume::new("memory", &reactor, Latency::fixed(Nanos(10))));
        let executor = Executor::new(reactor);
        let probe = WriteProbe {
            file: "probe".to_owned(),
            file_bytes: 32 << 20,
            write_bytes: 32 << 10,
            singles: 10,
            in_flight: 4,
            rest: Nanos::from_secs(1),
            limit: Nanos::from_secs(60),
            seed: Seed(7),
        };
        let probing = probe_writes(executor.runtime(), volume, probe, Rc::new(watch));
        executor.block_on(probing).unwrap()
    }

    #[test]
    fn every_place_is_written_once_at_most() {
        let samples = probed(Watch { enough_after: usize::MAX, stopped: false }).unwrap();
        assert_eq!((samples.volatile_ns.len(), samples.durable_ns.len()), (10, 10));
        assert_eq!(samples.completions_ns.len(), 1024 - 20);
        assert!(samples.completions_ns.is_sorted());
    }

    #[test]
    fn it_ends_when_enough_is_known_or_a_person_asks() {
        let samples = probed(Watch { enough_after: 500, stopped: false }).unwrap();
        assert_eq!(samples.completions_ns.len(), 512, "looked at every 256th");
        assert_eq!(probed(Watch { enough_after: 0, stopped: true }), None);
    }
}
