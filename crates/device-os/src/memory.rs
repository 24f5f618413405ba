//! Memory for buffers in huge pages: an ordinary buffer of 32 KiB lies on eight scattered pages of
//! memory, and a request for it is eight pieces for the kernel and for the storage behind it.
#![expect(unsafe_code, reason = "an allocator; each block has its argument")]

mod class;

use std::alloc::{GlobalAlloc, Layout};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mimalloc::MiMalloc;

use class::Class;

/// What marks the memory of a [`device::Buffer`]: nothing else asks for this alignment.
const ALIGNMENT: usize = device::ALIGNMENT;

/// One for each power of two blocks. What is larger than the last comes from mimalloc, which
/// maps it for itself.
const CLASSES: usize = 9;

/// An allocator for a program that does unbuffered I/O: the memory of buffers is cut from huge
/// pages where the system has them, all other memory is mimalloc's.
///
/// A freed buffer's memory serves the next buffer of about that size and is not given back.
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

/// The class that serves `layout`, or `None` where the system does.
const fn class_of(layout: Layout) -> Option<usize> {
    if layout.align() != ALIGNMENT || layout.size() > piece_bytes(CLASSES - 1) {
        return None;
    }
    let blocks = layout.size().div_ceil(ALIGNMENT);
    Some(blocks.next_power_of_two().trailing_zeros() as usize)
}

const fn piece_bytes(class: usize) -> usize {
    ALIGNMENT << class
}

// SAFETY: a piece is in one place at a time: in the rest of a region, in the list of freed pieces
// or with its owner. It is as large as its class, which `class_of` takes from the layout in the
// same way when it comes and when it goes, and aligned as regions are made of whole pieces.
unsafe impl GlobalAlloc for BufferMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match class_of(layout) {
            Some(class) => self.classes()[class].take(piece_bytes(class)),
            // SAFETY: the caller's promises are passed on.
            None => unsafe { MiMalloc.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if class_of(layout).is_none() {
            // SAFETY: the caller's promises are passed on.
            return unsafe { MiMalloc.alloc_zeroed(layout) };
        }
        // SAFETY: the caller's promises are passed on.
        let piece = unsafe { self.alloc(layout) };
        if !piece.is_null() {
            // SAFETY: the piece has at least the layout's size and has no other owner.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        match class_of(layout) {
            // SAFETY: the caller got the memory with this layout, so from this class.
            Some(class) => unsafe { self.classes()[class].give(memory) },
            // SAFETY: the caller's promises are passed on.
            None => unsafe { MiMalloc.dealloc(memory, layout) },
        }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() != ALIGNMENT {
            // SAFETY: the caller's promises are passed on; the alignment stays, so mimalloc
            // serves the new size as it served the old one.
            return unsafe { MiMalloc.realloc(memory, layout, new_size) };
        }
        // SAFETY: the caller promises that the new size fits the alignment and is not zero; the
        // two memories are different, and the shorter length lies inside both.
        unsafe {
            let new_layout = Layout::from_size_align_unchecked(new_size, ALIGNMENT);
            let new = self.alloc(new_layout);
            if !new.is_null() {
                ptr::copy_nonoverlapping(memory, new, layout.size().min(new_size));
                self.dealloc(memory, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests;
