//! System-specific operations under one set of names: nothing else in this crate asks which system
//! it runs on.

use std::time::Instant;

mod open_files;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub(crate) use open_files::{OpenFiles, other_runs};
#[cfg(unix)]
pub use unix::{
    FolderHold, boot_id, connect_local, create_held, create_private, create_private_folder,
    disk_id, file_number, hold_folder, identity, is_private, is_stream, keep_owner, layout_roots,
    machine, of_new_files, set_apart, sync_folder,
};
#[cfg(unix)]
pub(crate) use unix::{
    NameHold, available_memory, hold_name, host_reading, is_block_device, is_device,
    is_device_held, is_held, is_name_held, open_held, volume_number,
};
#[cfg(windows)]
pub use windows::{
    FolderHold, boot_id, connect_local, create_held, create_private, create_private_folder,
    disk_id, file_number, hold_folder, identity, is_private, is_stream, keep_owner, layout_roots,
    machine, of_new_files, set_apart, sync_folder,
};
#[cfg(windows)]
pub(crate) use windows::{
    NameHold, available_memory, hold_name, host_reading, is_block_device, is_device,
    is_device_held, is_held, is_name_held, open_held, volume_number,
};

/// Result of an attempt to lock something for this process alone.
pub enum Hold<T> {
    /// Locked against other processes while this exists.
    Held(T),
    /// Another process has it.
    Busy,
    /// It cannot be locked here, or its error is reported on use.
    Unheld,
}

/// Counts of the machine up to now, as far as the system reports them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostReading {
    /// Time of all processors.
    pub processors: Option<ProcessorCount>,
    /// Processor time of this program.
    pub(crate) process_seconds: Option<f64>,
    /// Memory that programs could have without swapping.
    pub(crate) available_memory_bytes: Option<u64>,
    /// Memory of this program.
    pub(crate) resident_bytes: Option<u64>,
    /// Non-paged and paged kernel memory.
    pub pools: Option<(u64, u64)>,
    /// Entries of its page tables that are free.
    pub(crate) free_page_table_entries: Option<u64>,
    /// Pages that the kernel has repurposed from standby, and the time of reading.
    pub(crate) repurposed_pages: Option<(Instant, u64)>,
}

/// Time of all processors, in a system-specific unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessorCount {
    /// Not idle.
    pub busy: u64,
    /// Time that a hypervisor gave to others; `None` if unknown.
    pub(crate) steal: Option<u64>,
    /// In all.
    pub total: u64,
}
