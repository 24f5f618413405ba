//! A virtio-blk driver over vhost-user, acting as a guest's kernel and its hypervisor together: the
//! memory is a file, and the ring has one slot for each request in flight.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};
use std::thread;

use vhost::vhost_user::message::{VhostUserProtocolFeatures, VhostUserVirtioFeatures};
use vhost::vhost_user::{Frontend, VhostUserFrontend as _};
use vhost::{VhostBackend as _, VhostUserMemoryRegionInfo, VringConfigData};
use vm_memory::{Bytes as _, FileOffset, GuestAddress, GuestMemoryBackend as _, GuestMemoryMmap};
use vmm_sys_util::eventfd::EventFd;

/// Bytes of a request.
pub const REQUEST_BYTES: usize = 32 << 10;

/// Number of descriptors; a request takes three.
const RING: u16 = 64;

/// Addresses in the guest's memory, which starts at 0.
const DESCRIPTORS: u64 = 0x1000;
const AVAILABLE: u64 = 0x2000;
const USED: u64 = 0x3000;
const HEADERS: u64 = 0x4000;
const DATA: u64 = 0x1_0000;
const MEMORY: usize = 4 << 20;

/// Address at which the hypervisor maps the guest's memory.
const USER: u64 = 1 << 40;

/// Distance between the headers of two slots; the status follows each header.
const HEADER_STRIDE: u64 = 32;
const HEADER_BYTES: u32 = 16;

/// Flags of a descriptor.
const NEXT: u16 = 1;
const WRITABLE: u16 = 2;

/// Feature bits of virtio: flushes, event indexes, version 1.
const FEATURES: u64 = 1 << 9 | 1 << 29 | 1 << 32;

/// Operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestRequest {
    /// Read [`REQUEST_BYTES`] starting at this byte.
    Read(u64),
    /// Write the slot's data starting at this byte.
    Write(u64),
}

/// The driver's view of a virtio-blk device; see the module.
pub struct GuestRing {
    memory: GuestMemoryMmap,
    kick: EventFd,
    answered: EventFd,
    offered: u16,
    seen: u16,
    /// Held because the device disappears with its connection.
    _connection: Frontend,
}

impl GuestRing {
    /// Connects to the device of the server at `socket`; the guest's memory is a new `file`.
    pub fn open(socket: &Path, file: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(file)?;
        file.set_len(MEMORY as u64)?;
        let place = (GuestAddress(0), MEMORY, Some(FileOffset::new(file, 0)));
        let memory = GuestMemoryMmap::from_ranges_with_files([place]).map_err(io::Error::other)?;
        let (kick, answered) = (EventFd::new(0)?, EventFd::new(0)?);
        let connection = connect(socket, &memory, (&kick, &answered), 0)?;
        Ok(Self { memory, kick, answered, offered: 0, seen: 0, _connection: connection })
    }

    /// Reconnects after the server was killed, and continues at the first unanswered request.
    pub fn reopen(self, socket: &Path) -> io::Result<Self> {
        let bells = (&self.kick, &self.answered);
        let position = self.load(USED + 2)?;
        let connection = connect(socket, &self.memory, bells, position)?;
        self.kick.write(1)?;
        Ok(Self { _connection: connection, ..self })
    }

    /// Offers a request in each of these slots, and notifies the server if it waits for that.
    ///
    /// # Panics
    ///
    /// The ring has no such slot.
    pub fn offer(&mut self, requests: &[(u16, GuestRequest)]) -> io::Result<()> {
        let before = self.offered;
        for &(slot, request) in requests {
            self.describe(slot, request)?;
            let entry = AVAILABLE + 4 + 2 * u64::from(self.offered % RING);
            self.put(entry, &(3 * slot).to_le_bytes())?;
            self.offered = self.offered.wrapping_add(1);
        }
        self.store(AVAILABLE + 2, self.offered)?;
        fence(Ordering::SeqCst);
        let awaited = self.load(USED + 4 + 8 * u64::from(RING))?;
        let reached = self.offered.wrapping_sub(awaited).wrapping_sub(1);
        if reached < self.offered.wrapping_sub(before) {
            self.kick.write(1)?;
        }
        Ok(())
    }

    /// Slots answered since the last call. Waits for at least one, sleeping meanwhile.
    ///
    /// # Errors
    ///
    /// The server refused a request.
    pub fn answers(&mut self) -> io::Result<Vec<u16>> {
        while self.asks_to_be_rung()? {
            self.answered.read()?;
        }
        self.take_answers()
    }

    /// Like `answers`, but stays awake while it waits, as KVM does for a guest's halted processor.
    /// The server cannot see that, and notifies the guest as if it slept.
    ///
    /// # Errors
    ///
    /// The server refused a request.
    pub fn answers_awake(&mut self) -> io::Result<Vec<u16>> {
        while self.asks_to_be_rung()? {
            thread::yield_now();
        }
        self.take_answers()
    }

    /// Asks the server to notify the guest of its next answer; `false` if an answer has already
    /// arrived.
    fn asks_to_be_rung(&self) -> io::Result<bool> {
        if self.load(USED + 2)? != self.seen {
            return Ok(false);
        }
        self.store(AVAILABLE + 4 + 2 * u64::from(RING), self.seen)?;
        fence(Ordering::SeqCst);
        Ok(self.load(USED + 2)? == self.seen)
    }

    fn take_answers(&mut self) -> io::Result<Vec<u16>> {
        let (now, mut slots) = (self.load(USED + 2)?, Vec::new());
        while self.seen != now {
            let slot = self.load(USED + 4 + 8 * u64::from(self.seen % RING))? / 3;
            if self.get(header(slot) + u64::from(HEADER_BYTES), 1)? != [0] {
                return Err(io::Error::other("the server refuses a request over vhost-user"));
            }
            slots.push(slot);
            self.seen = self.seen.wrapping_add(1);
        }
        Ok(slots)
    }

    /// The data in a slot, such as the result of its last read.
    pub fn data(&self, slot: u16) -> io::Result<Vec<u8>> {
        self.get(data(slot), REQUEST_BYTES)
    }

    /// Fills the data of a slot, for its next write.
    pub fn fill(&self, slot: u16, bytes: &[u8]) -> io::Result<()> {
        self.put(data(slot), bytes)
    }

    /// Writes the header of a request and its descriptors: header, data, status.
    fn describe(&self, slot: u16, request: GuestRequest) -> io::Result<()> {
        assert!(3 * slot + 2 < RING, "each request takes three descriptors");
        let (kind, at, flags) = match request {
            GuestRequest::Read(at) => (0_u64, at, NEXT | WRITABLE),
            GuestRequest::Write(at) => (1, at, NEXT),
        };
        self.put(header(slot), &[kind.to_le_bytes(), (at / 512).to_le_bytes()].concat())?;
        let status = header(slot) + u64::from(HEADER_BYTES);
        self.put(status, &[0xFF])?;
        let length = u32::try_from(REQUEST_BYTES).map_err(io::Error::other)?;
        let parts = [
            (header(slot), HEADER_BYTES, NEXT),
            (data(slot), length, flags),
            (status, 1, WRITABLE),
        ];
        for (number, (address, length, flags)) in (3 * slot..).zip(parts) {
            let mut bytes = address.to_le_bytes().to_vec();
            bytes.extend(length.to_le_bytes());
            bytes.extend(flags.to_le_bytes());
            bytes.extend((number + 1).to_le_bytes());
            self.put(DESCRIPTORS + 16 * u64::from(number), &bytes)?;
        }
        Ok(())
    }

    fn put(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_slice(bytes, GuestAddress(at)).map_err(io::Error::other)
    }

    fn get(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.memory.read_slice(&mut bytes, GuestAddress(at)).map_err(io::Error::other)?;
        Ok(bytes)
    }

    fn load(&self, at: u64) -> io::Result<u16> {
        self.memory.load(GuestAddress(at), Ordering::Acquire).map_err(io::Error::other)
    }

    fn store(&self, at: u64, value: u16) -> io::Result<()> {
        self.memory.store(value, GuestAddress(at), Ordering::Release).map_err(io::Error::other)
    }
}

fn header(slot: u16) -> u64 {
    HEADERS + HEADER_STRIDE * u64::from(slot)
}

fn data(slot: u16) -> u64 {
    DATA + REQUEST_BYTES as u64 * u64::from(slot)
}

/// Negotiates features, memory and the ring with the server; the ring starts at `position`.
fn connect(
    socket: &Path,
    memory: &GuestMemoryMmap,
    bells: (&EventFd, &EventFd),
    position: u16,
) -> io::Result<Frontend> {
    agree(socket, memory, bells, position).map_err(io::Error::other)
}

fn agree(
    socket: &Path,
    memory: &GuestMemoryMmap,
    (kick, answered): (&EventFd, &EventFd),
    position: u16,
) -> vhost::Result<Frontend> {
    let mut device = Frontend::connect(socket, 1)?;
    device.set_owner()?;
    device.get_features()?;
    device.set_features(FEATURES | VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits())?;
    device.get_protocol_features()?;
    device.set_protocol_features(VhostUserProtocolFeatures::CONFIG)?;
    let mut regions = Vec::new();
    for region in memory.iter() {
        let own = VhostUserMemoryRegionInfo::from_guest_region(region)?;
        regions.push(VhostUserMemoryRegionInfo { userspace_addr: USER, ..own });
    }
    device.set_mem_table(&regions)?;
    device.set_vring_num(0, RING)?;
    let addresses = VringConfigData {
        queue_max_size: RING,
        queue_size: RING,
        flags: 0,
        desc_table_addr: USER + DESCRIPTORS,
        used_ring_addr: USER + USED,
        avail_ring_addr: USER + AVAILABLE,
        log_addr: None,
    };
    device.set_vring_addr(0, &addresses)?;
    device.set_vring_base(0, position)?;
    device.set_vring_call(0, answered)?;
    device.set_vring_kick(0, kick)?;
    device.set_vring_enable(0, true)?;
    Ok(device)
}
