//! Puts I/O buffers in huge pages: an ordinary 32 KiB buffer is spread over eight scattered pages,
//! so a request for it has eight segments for the kernel and for the storage below.
#![expect(unsafe_code, reason = "an allocator; each block has its argument")]

mod class;

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mimalloc::MiMalloc;

use class::Class;

/// Identifies the memory of a [`device::Buffer`]: nothing else uses this alignment.
const ALIGNMENT: usize = device::ALIGNMENT;

/// Number of buffer classes: one for each power of two, counted in blocks. A larger buffer comes
/// from the system, which maps it separately.
const CLASSES: usize = 9;

/// Largest allocation that mimalloc serves, in bytes. Mimalloc cycles through all free pieces of a
/// size, while the system's allocator reuses the piece freed last. Long values are assembled
/// several times per operation; with mimalloc each time would use memory that has left the
/// processor's cache. Musl's allocator is the exception: all threads share its lock, and it maps
/// and unmaps each allocation of 128 KiB and more, so a static program did half as many
/// transactions.
const LARGEST_SMALL: usize = if cfg!(target_env = "musl") { usize::MAX } else { 2 << 10 };

/// An allocator for a program that does unbuffered I/O: buffers are cut from huge pages if the
/// system has them, small allocations come from mimalloc, all others from the system.
///
/// A freed buffer's memory is kept for the next buffer of about that size and is not returned to
/// the system.
#[derive(Debug)]
pub struct BufferMemory {
    classes: Mutex<[Class; CLASSES]>,
}

impl BufferMemory {
    /// An allocator that holds nothing yet.
    pub const fn new() -> Self {
        Self { classes: Mutex::new([const { Class::new() }; CLASSES]) }
    }

    fn classes(&self) -> MutexGuard<'_, [Class; CLASSES]> {
        // Nothing panics under the lock; an allocator must not panic over it either.
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for BufferMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// The allocator that serves a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    /// The class of buffers with this number.
    Buffers(usize),
    /// Mimalloc.
    Small,
    /// The system.
    System,
}

const fn server_of(layout: Layout) -> Server {
    if layout.align() == ALIGNMENT && layout.size() <= piece_bytes(CLASSES - 1) {
        let blocks = layout.size().div_ceil(ALIGNMENT);
        return Server::Buffers(blocks.next_power_of_two().trailing_zeros() as usize);
    }
    if layout.size() <= LARGEST_SMALL { Server::Small } else { Server::System }
}

const fn piece_bytes(class: usize) -> usize {
    ALIGNMENT << class
}

// SAFETY: a piece is in one place at a time: in the rest of a region, in the list of freed pieces
// or with its owner. It is as large as its class, and aligned because regions consist of whole
// pieces. `server_of` derives class and server from the layout in the same way on allocation and on
// release.
unsafe impl GlobalAlloc for BufferMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match server_of(layout) {
            Server::Buffers(class) => self.classes()[class].take(piece_bytes(class)),
            // SAFETY: the caller's promises are passed on.
            Server::Small => unsafe { MiMalloc.alloc(layout) },
            // SAFETY: the caller's promises are passed on.
            Server::System => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are passed on.
        let piece = match server_of(layout) {
            Server::Small => return unsafe { MiMalloc.alloc_zeroed(layout) },
            Server::System => return unsafe { System.alloc_zeroed(layout) },
            Server::Buffers(_) => unsafe { self.alloc(layout) },
        };
        if !piece.is_null() {
            // SAFETY: the piece has at least the layout's size and has no other owner.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match server_of(layout) {
            // SAFETY: the caller got the memory with this layout, so from this class.
            Server::Buffers(class) => unsafe { self.classes()[class].give(memory) },
            // SAFETY: the caller's promises are passed on.
            Server::Small => unsafe { MiMalloc.dealloc(memory, layout) },
            // SAFETY: the caller's promises are passed on.
            Server::System => unsafe { System.dealloc(memory, layout) },
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size fits the alignment and is not zero.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (server_of(layout), server_of(new_layout)) {
            // SAFETY: the caller's promises are passed on, to the server of both sizes.
            (Server::Small, Server::Small) => unsafe { MiMalloc.realloc(memory, layout, new_size) },
            // SAFETY: the same.
            (Server::System, Server::System) => unsafe { System.realloc(memory, layout, new_size) },
            // SAFETY: the two allocations do not overlap, and the shorter length fits in both.
            _ => unsafe {
                let new = self.alloc(new_layout);
                if !new.is_null() {
                    ptr::copy_nonoverlapping(memory, new, layout.size().min(new_size));
                    self.dealloc(memory, layout);
                }
                new
            },
        }
    }
}

#[cfg(test)]
mod tests;
