//! Pieces of one size: cut from a region one after the other, used again once they are freed.

use std::alloc::{GlobalAlloc as _, Layout, System};
use std::ptr;

use crate::system;

/// A huge page of `x86_64`, and of `aarch64` with ordinary pages of 4 KiB.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Memory requested from the system at a time, a whole number of pieces of any class. It costs
/// address space only until it is touched; in much smaller regions a large cache would need more
/// mappings than Linux gives a process.
const REGION_BYTES: usize = 32 << 20;

/// The pieces of one size.
#[derive(Debug)]
pub(super) struct Class {
    /// The piece freed last, which points to the one freed before it.
    freed: *mut Freed,
    /// The unused rest of the region.
    fresh: *mut u8,
    fresh_bytes: usize,
}

#[derive(Debug)]
struct Freed {
    next: *mut Freed,
}

// SAFETY: the memory behind the pointers belongs to the class alone and is not tied to any thread.
unsafe impl Send for Class {}

impl Class {
    /// A class that holds nothing yet.
    pub(super) const fn new() -> Self {
        Self { freed: ptr::null_mut(), fresh: ptr::null_mut(), fresh_bytes: 0 }
    }

    /// A piece of `bytes`, always the same for a class, with arbitrary content; null if memory is
    /// short.
    pub(super) fn take(&mut self, bytes: usize) -> *mut u8 {
        if !self.freed.is_null() {
            let piece = self.freed;
            // SAFETY: `give` wrote a `Freed` there, and the piece has not been given out since.
            self.freed = unsafe { (*piece).next };
            return piece.cast();
        }
        if self.fresh_bytes == 0 && !self.add_region() {
            return ptr::null_mut();
        }
        let piece = self.fresh;
        self.fresh_bytes -= bytes;
        // SAFETY: a region is a whole number of pieces, so this is inside it or at its end.
        self.fresh = unsafe { piece.add(bytes) };
        piece
    }

    fn add_region(&mut self) -> bool {
        let Ok(layout) = Layout::from_size_align(REGION_BYTES, HUGE_PAGE_BYTES) else {
            return false;
        };
        // SAFETY: the layout's size is not zero.
        let region = unsafe { System.alloc(layout) };
        if region.is_null() {
            return false;
        }
        system::prefer_huge_pages(region, REGION_BYTES);
        (self.fresh, self.fresh_bytes) = (region, REGION_BYTES);
        true
    }

    /// Takes back a piece.
    ///
    /// # Safety
    /// It came from [`Self::take`] of this class, and is no longer in use.
    #[expect(clippy::cast_ptr_alignment, reason = "a piece is aligned to a block")]
    pub(super) unsafe fn give(&mut self, piece: *mut u8) {
        let piece = piece.cast::<Freed>();
        // SAFETY: a piece is at least as aligned and as large as a block, and the caller promises
        // that it is unused.
        unsafe { piece.write(Freed { next: self.freed }) };
        self.freed = piece;
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, HUGE_PAGE_BYTES};

    const PAGE_BYTES: usize = 32 << 10;

    #[test]
    fn sixty_four_pages_of_32_kib_lie_in_one_huge_page() {
        let mut class = Class::new();
        let huge_page = |piece: *mut u8| piece.addr() / HUGE_PAGE_BYTES;
        let huge_pages = [(); 64].map(|()| huge_page(class.take(PAGE_BYTES)));
        assert!(huge_pages.iter().all(|page| *page == huge_pages[0]));
        assert_ne!(huge_page(class.take(PAGE_BYTES)), huge_pages[0]);
    }

    /// The kernel is the reference: it lists the advice that it accepted for each mapping.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_was_asked_for_huge_pages() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return; // A kernel built without them takes no advice.
        }
        let piece = Class::new().take(PAGE_BYTES).addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("smaps can be read");
        let holds_piece = |line: &&str| begins_with_range_of(line, piece).unwrap_or(false);
        let mut of_piece = maps.lines().skip_while(|line| !holds_piece(line));
        let flags = of_piece.find(|line| line.starts_with("VmFlags:"));
        let flags = flags.expect("a mapping holds the piece");
        assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
    }

    /// Whether a line of smaps begins a mapping that holds `address`; `None` for other lines.
    #[cfg(target_os = "linux")]
    fn begins_with_range_of(line: &str, address: usize) -> Option<bool> {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        let [from, to] = [from, to].map(|text| usize::from_str_radix(text, 16).ok());
        Some((from?..to?).contains(&address))
    }
}
