//! A folder in memory, in virtual time.

use std::future::Future;
use std::rc::Rc;

use device::{Executor, Latency, MemoryVolume, Runtime, VirtualReactor, Volume, VolumeImage};
use faults::Guarantee;
use simdisk::{ArrayDescription, SimulatedArray};
use units::{Nanos, Seed};

/// One folder in memory and the executor whose tasks use it.
pub(crate) struct World {
    executor: Executor,
    memory: MemoryVolume,
    /// The simulated array under the folder, if any.
    array: Option<SimulatedArray>,
}

/// The writes that an array keeps when power fails.
struct ArrayGuarantee(SimulatedArray);

impl Guarantee for ArrayGuarantee {
    fn last_request(&self) -> Option<u64> {
        self.0.last_request()
    }

    fn spares(&self, write: u64) -> bool {
        self.0.spares(write)
    }
}

impl World {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self::of(&VolumeImage::default())
    }

    /// A folder that initially holds the files of `image`.
    pub(crate) fn of(image: &VolumeImage) -> Self {
        let span = Nanos::from_micros(10);
        Self::with_latency(image, (span, span), Seed(0))
    }

    /// A folder that initially holds the files of `image`; each request takes between the two
    /// `spans`.
    pub(crate) fn with_latency(image: &VolumeImage, spans: (Nanos, Nanos), seed: Seed) -> Self {
        let reactor = VirtualReactor::new();
        let latency = Latency::spread(spans.0, spans.1, seed);
        let memory = MemoryVolume::of("memory", &reactor, latency, image);
        Self { executor: Executor::new(reactor), memory, array: None }
    }

    /// A folder on a simulated array that initially holds the files of `image`.
    pub(crate) fn on_array(
        image: &VolumeImage,
        description: &ArrayDescription,
        seed: Seed,
    ) -> Self {
        let reactor = VirtualReactor::new();
        let array = SimulatedArray::new(description, &reactor, seed).expect("an array");
        let memory = array.volume("memory", array.whole(), image);
        Self { executor: Executor::new(reactor), memory, array: Some(array) }
    }

    /// The writes that the array under the folder keeps when power fails; `None` for plain memory.
    pub(crate) fn guarantee(&self) -> Option<Rc<dyn Guarantee>> {
        let array = self.array.as_ref()?;
        Some(Rc::new(ArrayGuarantee(array.clone())))
    }

    /// The folder as a volume.
    pub(crate) fn volume(&self) -> Rc<dyn Volume> {
        Rc::new(self.memory.clone())
    }

    /// The runtime for new tasks.
    pub(crate) fn runtime(&self) -> Runtime {
        self.executor.runtime()
    }

    pub(crate) const fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Runs a task to its end.
    pub(crate) fn run<T: 'static>(&self, task: impl Future<Output = T> + 'static) -> T {
        self.executor.block_on(task)
    }

    /// The current contents of the files.
    pub(crate) fn image(&self) -> VolumeImage {
        self.memory.image()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}
