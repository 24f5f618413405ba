//! A driver of virtio-blk that only reads: its memory is a file, and its ring has one slot for each
//! request in flight.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use vhost::vhost_user::message::{VhostUserProtocolFeatures, VhostUserVirtioFeatures};
use vhost::vhost_user::{Frontend, VhostUserFrontend as _};
use vhost::{VhostBackend as _, VhostUserMemoryRegionInfo, VringConfigData};
use vm_memory::{Bytes as _, FileOffset, GuestAddress, GuestMemoryBackend as _, GuestMemoryMmap};
use vmm_sys_util::eventfd::EventFd;
use xtask::failure::Failure;

use super::{READ_BYTES, ReadPlaces};

/// Descriptors; three for each request.
const RING: u16 = 64;

/// Addresses in the guest's memory, which begins at 0.
const DESCRIPTORS: u64 = 0x1000;
const AVAILABLE: u64 = 0x2000;
const USED: u64 = 0x3000;
const HEADERS: u64 = 0x4000;
const DATA: u64 = 0x1_0000;
const MEMORY: usize = 4 << 20;

/// The address of that memory for the client.
const USER: u64 = 1 << 40;

/// Bytes between two headers; the status is behind each.
const HEADER_STRIDE: u64 = 32;
const HEADER_BYTES: u32 = 16;

/// Flags of a descriptor.
const NEXT: u16 = 1;
const WRITABLE: u16 = 2;

/// Bits of virtio: flushes, indexes of events, version 1.
const FEATURES: u64 = 1 << 9 | 1 << 29 | 1 << 32;

/// See the module.
pub(super) struct RingClient {
    memory: GuestMemoryMmap,
    kick: EventFd,
    answered: EventFd,
    places: ReadPlaces,
    in_flight: u16,
    offered: u16,
    seen: u16,
    /// The device goes with its connection.
    _connection: Frontend,
}

impl RingClient {
    /// Opens the device of the server at `socket`, with its memory in `file`.
    pub(super) fn connect(socket: &Path, file: &Path, in_flight: u16) -> Result<Self, Failure> {
        assert!(3 * in_flight <= RING, "each request takes three descriptors");
        let mut opening = File::options();
        let opened = opening.read(true).write(true).create(true).truncate(true).open(file);
        let file = opened.map_err(Failure::of)?;
        file.set_len(MEMORY as u64).map_err(Failure::of)?;
        let place = (GuestAddress(0), MEMORY, Some(FileOffset::new(file, 0)));
        let memory = GuestMemoryMmap::from_ranges_with_files([place]).map_err(Failure::of)?;
        let kick = EventFd::new(0).map_err(Failure::of)?;
        let answered = EventFd::new(0).map_err(Failure::of)?;
        let connection = open(socket, &memory, (&kick, &answered)).map_err(Failure::of)?;
        let mut client = Self {
            memory,
            kick,
            answered,
            places: ReadPlaces::new(),
            in_flight,
            offered: 0,
            seen: 0,
            _connection: connection,
        };
        for slot in 0..in_flight {
            client.describe(slot)?;
        }
        Ok(client)
    }

    /// Reads for `span`; reads a second.
    pub(super) fn read_for(&mut self, span: Duration) -> Result<f64, Failure> {
        let (began, mut done) = (Instant::now(), 0_usize);
        self.offer((0..self.in_flight).collect())?;
        while began.elapsed() < span {
            let slots = self.answers()?;
            done += slots.len();
            self.offer(slots)?;
        }
        let per_second = done as f64 / began.elapsed().as_secs_f64();
        let mut left = usize::from(self.in_flight);
        while left > 0 {
            left -= self.answers()?.len();
        }
        Ok(per_second)
    }

    /// Writes the descriptors of a slot: header, data, status.
    fn describe(&mut self, slot: u16) -> Result<(), Failure> {
        let header = HEADERS + HEADER_STRIDE * u64::from(slot);
        let data = DATA + u64::from(READ_BYTES) * u64::from(slot);
        let parts = [
            (header, HEADER_BYTES, NEXT),
            (data, READ_BYTES, NEXT | WRITABLE),
            (header + u64::from(HEADER_BYTES), 1, WRITABLE),
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

    /// Offers a read in each of these slots, and rings if the server waits for it.
    fn offer(&mut self, slots: Vec<u16>) -> Result<(), Failure> {
        let before = self.offered;
        for slot in slots {
            let header = HEADERS + HEADER_STRIDE * u64::from(slot);
            let sector = self.places.next() / 512;
            self.put(header + 8, &sector.to_le_bytes())?;
            let entry = AVAILABLE + 4 + 2 * u64::from(self.offered % RING);
            self.put(entry, &(3 * slot).to_le_bytes())?;
            self.offered = self.offered.wrapping_add(1);
        }
        self.store(AVAILABLE + 2, self.offered)?;
        fence(Ordering::SeqCst);
        let awaited = self.load(USED + 4 + 8 * u64::from(RING))?;
        let reached = self.offered.wrapping_sub(awaited).wrapping_sub(1);
        if reached < self.offered.wrapping_sub(before) {
            self.kick.write(1).map_err(Failure::of)?;
        }
        Ok(())
    }

    /// Slots that were answered since the last time; waits for one.
    fn answers(&mut self) -> Result<Vec<u16>, Failure> {
        while self.load(USED + 2)? == self.seen {
            self.store(AVAILABLE + 4 + 2 * u64::from(RING), self.seen)?;
            fence(Ordering::SeqCst);
            if self.load(USED + 2)? == self.seen {
                self.answered.read().map_err(Failure::of)?;
            }
        }
        let (now, mut slots) = (self.load(USED + 2)?, Vec::new());
        while self.seen != now {
            let slot = self.load(USED + 4 + 8 * u64::from(self.seen % RING))? / 3;
            let header = HEADERS + HEADER_STRIDE * u64::from(slot);
            let status: u8 =
                self.memory.read_obj(GuestAddress(header + 16)).map_err(Failure::of)?;
            if status != 0 {
                return Err(Failure::new("the server refuses a read over vhost-user"));
            }
            slots.push(slot);
            self.seen = self.seen.wrapping_add(1);
        }
        Ok(slots)
    }

    fn put(&self, at: u64, bytes: &[u8]) -> Result<(), Failure> {
        self.memory.write_slice(bytes, GuestAddress(at)).map_err(Failure::of)
    }

    fn load(&self, at: u64) -> Result<u16, Failure> {
        self.memory.load(GuestAddress(at), Ordering::Acquire).map_err(Failure::of)
    }

    fn store(&self, at: u64, value: u16) -> Result<(), Failure> {
        self.memory.store(value, GuestAddress(at), Ordering::Release).map_err(Failure::of)
    }
}

/// Agrees with the server on features, memory and the ring.
fn open(
    socket: &Path,
    memory: &GuestMemoryMmap,
    bells: (&EventFd, &EventFd),
) -> vhost::Result<Frontend> {
    let mut device = Frontend::connect(socket, 1)?;
    device.set_owner()?;
    device.get_features()?;
    device.set_features(FEATURES | VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits())?;
    device.get_protocol_features()?;
    device.set_protocol_features(VhostUserProtocolFeatures::CONFIG)?;
    ring(&device, memory, bells)?;
    device.set_vring_enable(0, true)?;
    Ok(device)
}

fn ring(
    device: &Frontend,
    memory: &GuestMemoryMmap,
    (kick, answered): (&EventFd, &EventFd),
) -> vhost::Result<()> {
    let regions: Vec<VhostUserMemoryRegionInfo> = memory
        .iter()
        .map(|region| {
            let own = VhostUserMemoryRegionInfo::from_guest_region(region)?;
            Ok(VhostUserMemoryRegionInfo { userspace_addr: USER, ..own })
        })
        .collect::<vhost::Result<_>>()?;
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
    device.set_vring_base(0, 0)?;
    device.set_vring_call(0, answered)?;
    device.set_vring_kick(0, kick)
}
