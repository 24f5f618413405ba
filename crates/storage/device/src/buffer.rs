//! Memory that unbuffered I/O accepts: aligned, zeroed, a whole number of sectors.

use std::fmt;
use std::sync::Arc;

/// Alignment of every buffer, in bytes, and of requests that do not need a finer one. 4 KiB
/// satisfies every disk on the market.
pub const ALIGNMENT: usize = 4096;

/// Granularity of offsets and lengths, in bytes, if [`crate::Caps::sector`] allows it.
pub const SECTOR: usize = 512;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(4096))]
struct AlignedBlock([u8; ALIGNMENT]);

/// Owned bytes, aligned to [`ALIGNMENT`]. A request owns its buffer until it completes.
#[derive(Clone)]
pub struct Buffer {
    memory: Memory,
    length: usize,
}

/// Ownership of a buffer's bytes.
#[derive(Clone)]
enum Memory {
    Own(Box<[AlignedBlock]>),
    /// Shared with others, now or earlier. The bytes are boxed separately: inside the `Arc`, the
    /// reference count would cost a whole aligned block.
    Shared(Arc<Box<[AlignedBlock]>>),
}

impl Memory {
    fn blocks(&self) -> &[AlignedBlock] {
        match self {
            Self::Own(blocks) => blocks,
            Self::Shared(blocks) => blocks,
        }
    }

    /// The bytes for modification, from here on not shared with any other buffer.
    fn blocks_mut(&mut self) -> &mut [AlignedBlock] {
        let own = match std::mem::replace(self, Self::Own(Box::default())) {
            Self::Own(blocks) => blocks,
            Self::Shared(shared) => Arc::try_unwrap(shared).unwrap_or_else(|held| (*held).clone()),
        };
        *self = Self::Own(own);
        let Self::Own(blocks) = self else {
            unreachable!("invariant: it was made its own just now")
        };
        blocks
    }
}

impl Buffer {
    /// A zeroed buffer of `length` bytes, a multiple of [`SECTOR`].
    pub fn zeroed(length: usize) -> Self {
        assert!(length.is_multiple_of(SECTOR), "a buffer is a whole number of sectors");
        let blocks = bytemuck::zeroed_slice_box(length.div_ceil(ALIGNMENT));
        Self { memory: Memory::Own(blocks), length }
    }

    /// A buffer with copies of `parts`, each a multiple of [`ALIGNMENT`] long and `length` bytes in
    /// total. Bytes that are overwritten at once are not zeroed first.
    pub fn joined<'a>(length: usize, parts: impl Iterator<Item = &'a Self>) -> Self {
        let mut blocks = Vec::with_capacity(length / ALIGNMENT);
        for part in parts {
            assert!(part.length.is_multiple_of(ALIGNMENT), "parts are whole blocks");
            blocks.extend_from_slice(part.memory.blocks());
        }
        assert_eq!(blocks.len() * ALIGNMENT, length, "the parts have the length of the whole");
        Self { memory: Memory::Own(blocks.into_boxed_slice()), length }
    }

    /// Another buffer that shares the same bytes. The first change of either copies them.
    #[must_use = "an unused share makes the next change a copy"]
    pub fn share(&mut self) -> Self {
        if let Memory::Own(blocks) = &mut self.memory {
            self.memory = Memory::Shared(Arc::new(std::mem::take(blocks)));
        }
        self.clone()
    }

    /// A buffer that holds a copy of `bytes`, whose length is a multiple of [`SECTOR`].
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(self.memory.blocks())[..self.length]
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(self.memory.blocks_mut())[..self.length]
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIGNMENT, Buffer};

    #[test]
    fn buffers_are_aligned_and_zeroed() {
        let buffer = Buffer::zeroed(3 * ALIGNMENT);
        assert_eq!(buffer.as_ptr().addr() % ALIGNMENT, 0);
        assert_eq!(buffer.len(), 3 * ALIGNMENT);
        assert!(buffer.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn parts_are_joined_in_order() {
        let parts = [Buffer::copy_of(&[1; ALIGNMENT]), Buffer::copy_of(&[2; 2 * ALIGNMENT])];
        let whole = Buffer::joined(3 * ALIGNMENT, parts.iter());
        assert_eq!(whole.as_ptr().addr() % ALIGNMENT, 0);
        assert_eq!(whole[..], [&parts[0][..], &parts[1][..]].concat()[..]);
    }

    #[test]
    fn what_is_shared_is_copied_by_the_first_change() {
        let mut page = Buffer::copy_of(&[1; ALIGNMENT]);
        let written = page.share();
        assert_eq!(page.as_ptr(), written.as_ptr());
        page[0] = 2;
        assert_eq!((page[0], written[0], page[1]), (2, 1, 1));
        let mut last = written;
        let place = last.as_ptr();
        last[0] = 3;
        assert_eq!(last.as_ptr(), place, "no other buffer holds it any more");
    }

    #[test]
    fn a_buffer_may_end_inside_a_block() {
        let mut buffer = Buffer::copy_of(&[7; ALIGNMENT + 512]);
        buffer[ALIGNMENT + 511] = 9;
        let copy = buffer.clone();
        assert_eq!((copy.len(), copy[ALIGNMENT + 511]), (ALIGNMENT + 512, 9));
    }
}
