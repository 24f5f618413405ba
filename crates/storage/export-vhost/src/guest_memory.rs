//! The memory that a guest shares, and how its hypervisor's addresses map to it.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vhost::vhost_user::message::VhostUserMemoryRegion;
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap, GuestMemoryRegion, GuestRegionMmap};

/// A range of the hypervisor's addresses, and its address in the guest.
struct Mapping {
    user: u64,
    guest: u64,
    bytes: u64,
}

#[derive(Default)]
struct MemoryNow {
    memory: Arc<GuestMemoryMmap>,
    mappings: Vec<Mapping>,
}

/// The memory of one guest, which its hypervisor may replace while requests are in progress: those
/// keep the memory that they began with. Clones share the memory.
#[derive(Clone, Default)]
pub(crate) struct SharedGuestMemory(Arc<Mutex<MemoryNow>>);

impl SharedGuestMemory {
    fn lock(&self) -> MutexGuard<'_, MemoryNow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current memory.
    pub(crate) fn now(&self) -> Arc<GuestMemoryMmap> {
        Arc::clone(&self.lock().memory)
    }

    /// Translates an address of the hypervisor to one of the guest; `None` if it is not shared.
    pub(crate) fn guest_address(&self, user: u64) -> Option<u64> {
        let now = self.lock();
        let own = now.mappings.iter().find(|of| (of.user..of.user + of.bytes).contains(&user))?;
        Some(own.guest + (user - own.user))
    }

    /// Maps `regions`, each from its file; `None` if one cannot be mapped.
    pub(crate) fn replace(
        &self,
        regions: &[VhostUserMemoryRegion],
        files: Vec<File>,
    ) -> Option<()> {
        if regions.len() != files.len() {
            return None;
        }
        let mut mapped = Vec::new();
        let mut mappings = Vec::new();
        for (region, file) in regions.iter().zip(files) {
            let place = FileOffset::new(file, region.mmap_offset);
            let (guest, bytes) = (region.guest_phys_addr, region.memory_size);
            let size = usize::try_from(bytes).ok()?;
            region.user_addr.checked_add(bytes)?;
            mapped.push(GuestRegionMmap::from_range(GuestAddress(guest), size, Some(place)).ok()?);
            mappings.push(Mapping { user: region.user_addr, guest, bytes });
        }
        mapped.sort_by_key(GuestMemoryRegion::start_addr);
        let memory = Arc::new(GuestMemoryMmap::from_regions(mapped).ok()?);
        *self.lock() = MemoryNow { memory, mappings };
        Some(())
    }

    /// Anonymous memory at the address 0.
    #[cfg(test)]
    pub(crate) fn of(memory: GuestMemoryMmap) -> Self {
        let now = MemoryNow { memory: Arc::new(memory), mappings: Vec::new() };
        Self(Arc::new(Mutex::new(now)))
    }
}
