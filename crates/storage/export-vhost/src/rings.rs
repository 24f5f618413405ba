//! The rings of one guest, started and stopped as its hypervisor orders.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::Sender;

use device::Runtime;
use export::{ExportedVolume, MemoryBudget};
use virtio_queue::Queue;

use crate::bell::BellMaker;
use crate::guest_memory::SharedGuestMemory;
use crate::offer::BlockOffer;
use crate::ring::{BlockRing, RingHall};

/// What a hypervisor orders, from the thread that answers it.
pub enum RingOrder {
    /// Perform the requests of a ring.
    Start(usize, RingStart),
    /// Tell the guest of answers by ringing this bell, or not at all.
    AnswerWith(usize, Option<File>),
    /// Answer the requests in progress and take no more; then send the ring's position.
    Stop(usize, Sender<u16>),
}

/// A ring as it begins.
pub struct RingStart {
    pub(crate) queue: Queue,
    pub(crate) memory: SharedGuestMemory,
    pub(crate) kick: File,
    pub(crate) answer: Option<File>,
    pub(crate) writes_through: bool,
}

/// The rings of one guest's device.
pub struct GuestRings {
    hall: Rc<RingHall>,
    bells: BellMaker,
    running: RefCell<BTreeMap<usize, Rc<BlockRing>>>,
}

impl GuestRings {
    /// No ring yet, of a guest that sees `volume` as `offer`.
    pub fn new(
        volume: Rc<ExportedVolume>,
        offer: BlockOffer,
        (budget, runtime): (MemoryBudget, Runtime),
        bells: BellMaker,
    ) -> Self {
        let hall = Rc::new(RingHall { volume, offer, budget, runtime });
        Self { hall, bells, running: RefCell::default() }
    }

    /// Carries out an order. A stop is reported once it is complete, from a task.
    ///
    /// # Errors
    ///
    /// The file of a bell cannot be waited for.
    pub fn obey(&self, order: RingOrder) -> io::Result<()> {
        match order {
            RingOrder::Start(number, start) => self.start(number, start)?,
            RingOrder::AnswerWith(number, file) => {
                let bell = file.map(&self.bells).transpose()?;
                if let Some(ring) = self.running.borrow().get(&number) {
                    ring.answer_with(bell);
                }
            }
            RingOrder::Stop(number, stopped) => {
                // Without the answer, the thread that waits for it learns that nothing runs.
                if let Some(ring) = self.running.borrow_mut().remove(&number) {
                    drop(self.hall.runtime.spawn(async move {
                        // The hypervisor may have gone.
                        let _ = stopped.send(ring.stop().await);
                    }));
                }
            }
        }
        Ok(())
    }

    fn start(&self, number: usize, start: RingStart) -> io::Result<()> {
        let RingStart { queue, memory, kick, answer, writes_through } = start;
        let bells = ((self.bells)(kick)?, answer.map(&self.bells).transpose()?);
        let hall = Rc::clone(&self.hall);
        let ring = Rc::new(BlockRing::new(hall, (queue, memory), bells, writes_through));
        self.running.borrow_mut().insert(number, Rc::clone(&ring));
        drop(self.hall.runtime.spawn(ring.run()));
        Ok(())
    }

    /// Stops every ring: the hypervisor has gone, or the server ends.
    pub async fn end(&self) {
        let running = self.running.take();
        for ring in running.values() {
            ring.stop().await;
        }
    }
}
