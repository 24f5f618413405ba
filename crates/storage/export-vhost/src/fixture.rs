//! A guest for tests: memory with one ring in it, filled as a driver fills it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use virtio_queue::{Queue, QueueT as _};
use vm_memory::{Bytes as _, GuestAddress, GuestMemoryMmap};

use crate::bell::{GuestCall, GuestKick};
use crate::guest_memory::SharedGuestMemory;

/// Maximum number of requests in the ring.
pub(crate) const RING: u16 = 64;

const DESCRIPTORS: u64 = 0x1000;
const AVAILABLE: u64 = 0x2000;
const USED: u64 = 0x3000;

/// Guest address of the first buffer.
pub(crate) const BUFFERS: u64 = 0x1_0000;

/// Length of the guest's memory.
pub(crate) const MEMORY: usize = 1 << 20;

const NEXT: u16 = 1;
const WRITABLE: u16 = 2;

/// A bell without a file.
#[derive(Default)]
pub(crate) struct TestBell {
    pub rung: Cell<u32>,
    waker: RefCell<Option<Waker>>,
}

impl GuestKick for TestBell {
    fn poll_rung(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.rung.take() > 0 {
            return Poll::Ready(());
        }
        self.waker.replace(Some(context.waker().clone()));
        Poll::Pending
    }
}

impl GuestCall for TestBell {
    fn ring(&self) {
        self.rung.set(self.rung.get() + 1);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// See the module.
pub(crate) struct TestGuest {
    pub memory: SharedGuestMemory,
    pub kick: Rc<TestBell>,
    pub answered: Rc<TestBell>,
    /// `false` if it relies on a server that polls the ring.
    pub rings: bool,
    next_descriptor: u16,
    offered: u16,
}

impl TestGuest {
    pub(crate) fn new() -> Self {
        let memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), MEMORY)]).unwrap();
        let memory = SharedGuestMemory::of(memory);
        let (kick, answered) = Default::default();
        Self { memory, kick, answered, rings: true, next_descriptor: 0, offered: 0 }
    }

    /// The ring for a server that begins at `position`.
    pub(crate) fn queue(position: u16) -> Queue {
        let mut queue = Queue::new(RING).unwrap();
        queue.try_set_desc_table_address(GuestAddress(DESCRIPTORS)).unwrap();
        queue.try_set_avail_ring_address(GuestAddress(AVAILABLE)).unwrap();
        queue.try_set_used_ring_address(GuestAddress(USED)).unwrap();
        queue.set_next_avail(position);
        queue.set_next_used(position);
        queue.set_ready(true);
        queue
    }

    pub(crate) fn put(&self, at: u64, bytes: &[u8]) {
        self.memory.now().write_slice(bytes, GuestAddress(at)).unwrap();
    }

    pub(crate) fn get(&self, at: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.memory.now().read_slice(&mut bytes, GuestAddress(at)).unwrap();
        bytes
    }

    /// Puts a chain of `parts` (address, length, whether the server writes it) into the ring.
    pub(crate) fn offer(&mut self, parts: &[(u64, u32, bool)]) -> u16 {
        let head = self.next_descriptor;
        for (number, &(address, length, is_writable)) in parts.iter().enumerate() {
            let own = self.next_descriptor;
            self.next_descriptor = (own + 1) % RING;
            let is_last = number + 1 == parts.len();
            let mut flags = if is_writable { WRITABLE } else { 0 };
            flags |= if is_last { 0 } else { NEXT };
            self.describe(own, (address, length), flags, self.next_descriptor);
        }
        self.put(AVAILABLE + 4 + 2 * u64::from(self.offered % RING), &head.to_le_bytes());
        self.offered = self.offered.wrapping_add(1);
        self.put(AVAILABLE + 2, &self.offered.to_le_bytes());
        if self.rings {
            self.kick.ring();
        }
        head
    }

    /// Claims to have offered `count` requests, and rings.
    pub(crate) fn claim(&self, count: u16) {
        self.put(AVAILABLE + 2, &count.to_le_bytes());
        self.kick.ring();
    }

    pub(crate) fn describe(&self, own: u16, part: (u64, u32), flags: u16, next: u16) {
        let mut bytes = part.0.to_le_bytes().to_vec();
        bytes.extend(part.1.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        self.put(DESCRIPTORS + 16 * u64::from(own), &bytes);
    }

    /// Offers a request with its header at `at`, and its status after it.
    pub(crate) fn request(
        &mut self,
        at: u64,
        (kind, sector): (u32, u64),
        data: Option<(u64, u32, bool)>,
    ) -> u16 {
        let mut header = kind.to_le_bytes().to_vec();
        header.extend([0; 4]);
        header.extend(sector.to_le_bytes());
        header.push(0xFF);
        self.put(at, &header);
        let mut parts = vec![(at, 16, false)];
        parts.extend(data);
        parts.push((at + 16, 1, true));
        self.offer(&parts)
    }

    /// Whether the server wants to be notified of new requests.
    pub(crate) fn must_ring(&self) -> bool {
        self.get(USED, 2) == [0, 0]
    }

    /// Chains that were answered: the first descriptor of each, and the bytes written.
    pub(crate) fn answers(&self) -> Vec<(u32, u32)> {
        let count = u16::from_le_bytes(self.get(USED + 2, 2).try_into().unwrap());
        let first = count.saturating_sub(RING);
        (first..count)
            .map(|number| USED + 4 + 8 * u64::from(number % RING))
            .map(|at| (self.word(at), self.word(at + 4)))
            .collect()
    }

    fn word(&self, at: u64) -> u32 {
        u32::from_le_bytes(self.get(at, 4).try_into().unwrap())
    }

    /// Total count of answered chains.
    pub(crate) fn answered_count(&self) -> u16 {
        u16::from_le_bytes(self.get(USED + 2, 2).try_into().unwrap())
    }
}
