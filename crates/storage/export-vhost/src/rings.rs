//! The rings of one guest, started and stopped as its hypervisor orders.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::rc::{Rc, Weak};
use std::sync::mpsc::Sender;

use device::Runtime;
use export::{ExportedVolume, MemoryBudget};
use virtio_queue::Queue;

use crate::bell::{GuestBells, GuestCall};
use crate::guest_memory::SharedGuestMemory;
use crate::offer::BlockOffer;
use crate::ring::{BlockRing, RingHall};

/// Orders of a hypervisor, sent by the thread that answers it.
pub enum RingOrder {
    /// Perform the requests of a ring.
    Start(usize, RingStart),
    /// Ring this counter after answers; `None` to ring none.
    AnswerWith(usize, Option<File>),
    /// Answer the requests in progress and take no more; then send the ring's position.
    Stop(usize, Sender<u16>),
}

/// Settings with which a ring starts.
pub struct RingStart {
    pub(crate) queue: Queue,
    pub(crate) memory: SharedGuestMemory,
    pub(crate) kick: File,
    pub(crate) answer: Option<File>,
    pub(crate) writes_through: bool,
}

fn shared(file: File) -> Rc<dyn GuestCall> {
    Rc::new(file)
}

/// The rings of one guest's device.
pub struct GuestRings {
    hall: Rc<RingHall>,
    bells: Box<dyn GuestBells>,
    running: RefCell<BTreeMap<usize, Rc<BlockRing>>>,
}

impl GuestRings {
    /// A device without rings, for a guest that sees `volume` as `offer`.
    pub fn new(
        volume: Rc<ExportedVolume>,
        offer: BlockOffer,
        (budget, runtime): (MemoryBudget, Runtime),
        bells: Box<dyn GuestBells>,
    ) -> Self {
        let hall = Rc::new(RingHall { volume, offer, budget, runtime });
        Self { hall, bells, running: RefCell::default() }
    }

    /// Carries out an order. A stop is reported once it is complete, from a task.
    ///
    /// # Errors
    ///
    /// A guest's counter cannot be waited for.
    pub fn obey(&self, order: RingOrder) -> io::Result<()> {
        match order {
            RingOrder::Start(number, start) => self.start(number, start)?,
            RingOrder::AnswerWith(number, file) => {
                if let Some(ring) = self.running.borrow().get(&number) {
                    ring.answer_with(file.map(shared));
                }
            }
            RingOrder::Stop(number, stopped) => {
                // If the ring is not running, dropping `stopped` notifies the waiting thread.
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
        let bells = (self.bells.watch(kick)?, answer.map(shared));
        let hall = Rc::clone(&self.hall);
        let ring = Rc::new(BlockRing::new(hall, (queue, memory), bells, writes_through));
        let itself: Weak<BlockRing> = Rc::downgrade(&ring);
        ring.is_looked_at(self.bells.look_at(itself));
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
