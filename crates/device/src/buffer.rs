//! Memory that unbuffered I/O accepts: aligned, zeroed, a whole number of blocks.

use std::fmt;

/// Alignment and granularity of every buffer, in bytes. 4 KiB satisfies every disk sold.
pub const ALIGNMENT: usize = 4096;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(4096))]
struct AlignedBlock([u8; ALIGNMENT]);

/// Owned bytes, aligned to [`ALIGNMENT`]. A request owns its buffer until it completes.
pub struct Buffer {
    blocks: Box<[AlignedBlock]>,
}

impl Buffer {
    /// A zeroed buffer of `length` bytes, a multiple of [`ALIGNMENT`].
    pub fn zeroed(length: usize) -> Self {
        assert!(
            length.is_multiple_of(ALIGNMENT),
            "a buffer is a whole number of blocks"
        );
        Self {
            blocks: bytemuck::zeroed_slice_box(length / ALIGNMENT),
        }
    }

    /// A buffer that holds a copy of `bytes`, whose length is a multiple of [`ALIGNMENT`].
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.blocks)
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.blocks)
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        Self {
            blocks: self.blocks.clone(),
        }
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
}
