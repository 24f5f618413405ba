//! What each system does in its own way, under one set of names: nothing else in this crate asks
//! which system it runs on.

use std::time::Instant;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    FolderHold, NameHold, PLAIN_CHARACTERS, available_memory, connect_local, create_held,
    create_private, create_private_folder, file_number, hold_folder, hold_name, host_reading,
    identity, is_block_device, is_device, is_device_held, is_held, is_name_held, is_private,
    is_stream, keep_owner, layout_roots, machine, of_new_files, open_held, quoted_word, redraws,
    set_apart, shell, stop_on_request, sync_folder, terminate, volume_number, words_of,
};
#[cfg(windows)]
pub(crate) use windows::{
    FolderHold, NameHold, PLAIN_CHARACTERS, available_memory, connect_local, create_held,
    create_private, create_private_folder, file_number, hold_folder, hold_name, host_reading,
    identity, is_block_device, is_device, is_device_held, is_held, is_name_held, is_private,
    is_stream, keep_owner, layout_roots, machine, of_new_files, open_held, quoted_word, redraws,
    set_apart, shell, stop_on_request, sync_folder, terminate, volume_number, words_of,
};

/// How an attempt ended to have something for this process alone.
pub(crate) enum Hold<T> {
    /// No other process has it while this is there.
    Held(T),
    /// Another process has it.
    Busy,
    /// It cannot be held here, or what is wrong with it is said where it is used.
    Unheld,
}

/// What the machine has counted up to now, as far as the system tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HostReading {
    /// Time of all processors.
    pub processors: Option<ProcessorCount>,
    /// Processor time of this program.
    pub process_seconds: Option<f64>,
    /// Memory that programs could have without swapping.
    pub available_memory_bytes: Option<u64>,
    /// Memory of this program.
    pub resident_bytes: Option<u64>,
    /// Of the kernel's memory, what must stay and what may be swapped.
    pub pools: Option<(u64, u64)>,
    /// Entries of its page tables that are free.
    pub free_page_table_entries: Option<u64>,
    /// Pages that the kernel has taken from standby for something else, and when that was read.
    pub repurposed_pages: Option<(Instant, u64)>,
}

/// Time of all processors, in a unit of the system's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessorCount {
    /// Not idle.
    pub busy: u64,
    /// That a hypervisor gave to others; none where nothing tells.
    pub steal: Option<u64>,
    /// In all.
    pub total: u64,
}
