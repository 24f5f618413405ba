//! Runs the loads on a volume, one after the other, in a separate file.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use device::{
    Boxed, Device, DeviceError, Durability, JoinHandle, Op, OpenMode, Purpose, Request, Runtime,
    Volume, write_noise,
};
use units::{Nanos, Prng, Seed};

use super::counted::mean_without_stalls;
use super::loads::{
    MeasuredLoad, PROBE_LOADS, ProbeLoad, ProbeLoadKind, READS_OF_A_BURST, WRITES_OF_A_BURST,
};

/// Length of the writes that fill the file.
const FILL_BYTES: u64 = 1 << 20;

/// The probe's settings.
#[derive(Clone, Debug)]
pub struct VolumeProbe {
    /// Name of the file, which must not exist yet; it is kept.
    pub file: String,
    /// Its length, in whole MiB.
    pub file_bytes: u64,
    /// How long each load lasts.
    pub each: Nanos,
    /// Seed of contents and addresses.
    pub seed: Seed,
}

/// Observer of a probe.
pub trait CalibrationWatch {
    /// Reports that a part has started or advanced: its name, and the fraction of all work that is
    /// done, from 0 to 1.
    fn tell(&self, part: &str, share: f64);

    /// Whether to stop now; partial results are discarded.
    fn is_stopped(&self) -> bool;
}

/// Measurement of every load; `None` if the watch asked to stop.
pub fn probe(
    runtime: Runtime,
    volume: Rc<dyn Volume>,
    probe: VolumeProbe,
    watch: Rc<dyn CalibrationWatch>,
) -> Boxed<'static, Result<Option<Vec<MeasuredLoad>>, DeviceError>> {
    Box::pin(async move {
        let device =
            volume.open(&probe.file, OpenMode::CreateNew { length: probe.file_bytes }).await?;
        let file = Rc::new(ProbedFile {
            runtime,
            device,
            span: probe.file_bytes,
            prng: RefCell::new(Prng::new(probe.seed)),
        });
        file.fill(&*watch).await?;
        let mut measured = Vec::new();
        for (number, load) in (0_u32..).zip(PROBE_LOADS) {
            if watch.is_stopped() {
                return Ok(None);
            }
            let share = 0.1 + 0.9 * f64::from(number) / PROBE_LOADS.len() as f64;
            watch.tell(&load.to_string(), share);
            measured.push(file.meet(load, probe.each).await?);
        }
        Ok((!watch.is_stopped()).then_some(measured))
    })
}

struct ProbedFile {
    runtime: Runtime,
    device: Rc<dyn Device>,
    span: u64,
    prng: RefCell<Prng>,
}

/// One load in progress.
struct LoadUnderWay {
    load: ProbeLoad,
    until: Nanos,
    asked: Cell<u64>,
    latencies: RefCell<Vec<u64>>,
    /// The writes of the last burst, and the number still unanswered.
    burst: RefCell<Vec<JoinHandle<Result<(), DeviceError>>>>,
    unanswered: Cell<u32>,
}

impl ProbedFile {
    /// Writes the whole file: reads of unwritten places are answered without the medium.
    async fn fill(&self, watch: &dyn CalibrationWatch) -> Result<(), DeviceError> {
        for block in 0..self.span / FILL_BYTES {
            let offset = block * FILL_BYTES;
            if watch.is_stopped() {
                return Ok(());
            }
            watch.tell("writing the file", 0.1 * offset as f64 / self.span as f64);
            let volatile = Durability::Volatile;
            write_noise(&*self.device, &self.prng, offset, FILL_BYTES, volatile).await?;
        }
        let request = Request { purpose: Purpose::Fill, op: Op::Flush };
        self.device.submit(request).await.result
    }

    async fn write(
        &self,
        offset: u64,
        load: ProbeLoad,
        durability: Durability,
    ) -> Result<Nanos, DeviceError> {
        write_noise(&*self.device, &self.prng, offset, load.bytes.into(), durability).await
    }

    async fn read(&self, offset: u64, bytes: u32) -> Result<Nanos, DeviceError> {
        let length = usize::try_from(bytes).expect("invariant: a read fits into memory");
        let read = self.device.submit(Request::read(Purpose::Fill, offset, length)).await;
        let latency = read.latency();
        read.result.map(|()| latency)
    }

    /// Runs one load for `span`.
    async fn meet(
        self: &Rc<Self>,
        load: ProbeLoad,
        each: Nanos,
    ) -> Result<MeasuredLoad, DeviceError> {
        let under_way = Rc::new(LoadUnderWay {
            load,
            until: self.runtime.now() + each,
            asked: Cell::new(0),
            latencies: RefCell::default(),
            burst: RefCell::default(),
            unanswered: Cell::new(0),
        });
        let mut tasks: Vec<JoinHandle<Result<(), DeviceError>>> = Vec::new();
        for sender in 0..load.in_flight {
            let (file, under_way) = (Rc::clone(self), Rc::clone(&under_way));
            tasks.push(
                self.runtime.spawn(async move { file.keep_asking(sender, &under_way).await }),
            );
        }
        for task in tasks {
            task.await?;
        }
        Self::end_burst(&under_way).await?;
        let mut latencies = under_way.latencies.take();
        let requests = latencies.len() as u64;
        Ok(MeasuredLoad { load, requests, mean: rounded(mean_without_stalls(&mut latencies)) })
    }

    /// Sends one request after the other until the load is over.
    async fn keep_asking(
        self: &Rc<Self>,
        sender: u32,
        under_way: &Rc<LoadUnderWay>,
    ) -> Result<(), DeviceError> {
        let load = under_way.load;
        while self.runtime.now() < under_way.until {
            let number = under_way.asked.replace(under_way.asked.get() + 1);
            let rest = load.rest(&mut self.prng.borrow_mut());
            if rest > Nanos::ZERO {
                self.runtime.sleep(rest).await;
            }
            let offset = load.offset((sender, number), self.span, &mut self.prng.borrow_mut());
            let latency = match load.kind {
                ProbeLoadKind::ReadsBesideBursts => {
                    if number.is_multiple_of(READS_OF_A_BURST) && under_way.unanswered.get() == 0 {
                        Self::end_burst(under_way).await?;
                        self.begin_burst(number, under_way).await;
                    }
                    self.read(offset, load.bytes).await?
                }
                ProbeLoadKind::RandomReads | ProbeLoadKind::SequentialReads => {
                    self.read(offset, load.bytes).await?
                }
                ProbeLoadKind::RandomWrites => {
                    self.write(offset, load, Durability::Volatile).await?
                }
                ProbeLoadKind::DurableWrites => {
                    self.write(offset, load, Durability::Durable).await?
                }
            };
            under_way.latencies.borrow_mut().push(latency.0);
        }
        Ok(())
    }

    /// Starts a burst: the first write is sent at once, the others after the next read, whose
    /// completion is therefore seen later.
    async fn begin_burst(self: &Rc<Self>, number: u64, under_way: &Rc<LoadUnderWay>) {
        under_way.unanswered.set(WRITES_OF_A_BURST);
        self.begin_write(0, number, under_way);
        // After one turn the write's task is ready, but behind this one; after the second it has
        // run.
        self.runtime.yield_now().await;
        self.runtime.yield_now().await;
        for write in 1..WRITES_OF_A_BURST {
            self.begin_write(write, number, under_way);
        }
    }

    fn begin_write(self: &Rc<Self>, write: u32, number: u64, under_way: &Rc<LoadUnderWay>) {
        let load = under_way.load;
        let sender = load.in_flight + write;
        let offset = load.offset((sender, number), self.span, &mut self.prng.borrow_mut());
        let (file, under_way_too) = (Rc::clone(self), Rc::clone(under_way));
        let written = self.runtime.spawn(async move {
            let written = file.write(offset, load, Durability::Volatile).await;
            under_way_too.unanswered.set(under_way_too.unanswered.get() - 1);
            written.map(drop)
        });
        under_way.burst.borrow_mut().push(written);
    }

    /// Waits for the writes of the last burst.
    async fn end_burst(under_way: &LoadUnderWay) -> Result<(), DeviceError> {
        let burst = under_way.burst.take();
        for write in burst {
            write.await?;
        }
        Ok(())
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mean of latencies: positive, and far below 2^63 ns"
)]
fn rounded(nanoseconds: f64) -> Nanos {
    Nanos(nanoseconds.round() as u64)
}
