//! Buffers of answered reads, kept for later reads. New memory must be zeroed, and a read then
//! overwrites all of it: for a cached page that was a twentieth of the cost of the whole answer.

use std::cell::RefCell;

use device::Buffer;

/// Maximum number of bytes kept, in addition to the memory of requests in progress.
const MOST_BYTES: usize = 2 << 20;

/// Buffers of one length, that of the last reads, with arbitrary content.
#[derive(Debug, Default)]
pub(super) struct SpareBuffers {
    kept: RefCell<Vec<Buffer>>,
}

impl SpareBuffers {
    /// A buffer of `length` bytes for a read, which fills it whole.
    pub(super) fn take(&self, length: usize) -> Buffer {
        let mut kept = self.kept.borrow_mut();
        match kept.pop() {
            Some(buffer) if buffer.len() == length => buffer,
            _ => {
                kept.clear();
                Buffer::zeroed(length)
            }
        }
    }

    /// Keeps a buffer that nothing reads any more, if there is room.
    pub(super) fn give_back(&self, buffer: Buffer) {
        let mut kept = self.kept.borrow_mut();
        if kept.first().is_some_and(|first| first.len() != buffer.len()) {
            kept.clear();
        }
        if (kept.len() + 1) * buffer.len() <= MOST_BYTES {
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use device::Buffer;

    use super::{MOST_BYTES, SpareBuffers};

    #[test]
    fn a_buffer_serves_reads_of_its_length_alone() {
        let spare = SpareBuffers::default();
        spare.give_back(Buffer::copy_of(&[7; 4_096]));
        assert_eq!(spare.take(512).len(), 512);
        assert!(spare.take(4_096).iter().all(|&byte| byte == 0), "a new one");
        spare.give_back(Buffer::copy_of(&[7; 4_096]));
        assert_eq!(spare.take(4_096)[0], 7, "the one that was given back");
    }

    #[test]
    fn no_more_is_kept_than_the_limit() {
        let spare = SpareBuffers::default();
        for _ in 0..4 {
            spare.give_back(Buffer::zeroed(MOST_BYTES / 2));
        }
        assert_eq!(spare.kept.borrow().len(), 2);
        spare.give_back(Buffer::zeroed(2 * MOST_BYTES));
        assert!(spare.kept.borrow().is_empty());
    }
}
