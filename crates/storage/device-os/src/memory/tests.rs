use std::alloc::{GlobalAlloc as _, Layout};
use std::collections::BTreeMap;

use units::{Prng, Seed};

use super::{ALIGNMENT, BufferMemory, CLASSES, LARGEST_SMALL, Server, piece_bytes, server_of};

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGNMENT).expect("a layout of blocks")
}

/// A piece of memory under test, filled with one value.
struct Piece<'a> {
    memory: &'a BufferMemory,
    at: *mut u8,
    layout: Layout,
}

impl<'a> Piece<'a> {
    fn zeroed(memory: &'a BufferMemory, bytes: usize) -> Self {
        let layout = layout(bytes);
        // SAFETY: the layout's size is not zero.
        let at = unsafe { memory.alloc_zeroed(layout) };
        assert!(!at.is_null());
        Self { memory, at, layout }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: this piece owns its memory until it is dropped, and the content has been written.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.layout.size()) }
    }

    fn resize(&mut self, bytes: usize) {
        // SAFETY: the memory came from the same allocator with this layout; the size is not zero.
        self.at = unsafe { self.memory.realloc(self.at, self.layout, bytes) };
        assert!(!self.at.is_null());
        self.layout = layout(bytes);
    }

    fn first(&self) -> usize {
        self.at.addr()
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        // SAFETY: the memory came from the same allocator with this layout, and nothing uses it.
        unsafe { self.memory.dealloc(self.at, self.layout) };
    }
}

#[test]
fn buffers_small_and_large_memory_have_servers_of_their_own() {
    let of_blocks = |blocks: usize| server_of(layout(blocks * ALIGNMENT));
    assert_eq!([1, 2, 3, 4, 5, 8].map(of_blocks), [0, 1, 2, 2, 3, 3].map(Server::Buffers));
    let largest = piece_bytes(CLASSES - 1);
    assert_eq!(server_of(layout(largest)), Server::Buffers(CLASSES - 1));
    assert_eq!(server_of(layout(largest + ALIGNMENT)), Server::System);
    assert_eq!(server_of(plain(LARGEST_SMALL)), Server::Small);
    assert_eq!(server_of(plain(LARGEST_SMALL + 1)), Server::System);
    assert_eq!(server_of(plain(ALIGNMENT)), Server::System);
}

fn plain(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 16).expect("a layout")
}

#[test]
fn memory_keeps_its_content_from_one_server_to_the_next() {
    let memory = BufferMemory::new();
    let sizes = [64, LARGEST_SMALL, 9_000, 40_000, LARGEST_SMALL + 1, LARGEST_SMALL - 1, 16];
    // SAFETY: no size is zero; each layout is that of the memory's present size, whose bytes have
    // been written.
    unsafe {
        let mut at = memory.alloc_zeroed(plain(sizes[0]));
        assert!(std::slice::from_raw_parts(at, sizes[0]).iter().all(|&byte| byte == 0));
        at.write_bytes(7, sizes[0]);
        for step in sizes.windows(2) {
            at = memory.realloc(at, plain(step[0]), step[1]);
            let kept = std::slice::from_raw_parts(at, step[0].min(step[1]));
            assert!(kept.iter().all(|&byte| byte == 7), "{step:?}");
            at.write_bytes(7, step[1]);
        }
        memory.dealloc(at, plain(sizes[sizes.len() - 1]));
    }
}

#[test]
fn pieces_come_zeroed_aligned_and_apart_whatever_was_freed_before() {
    let memory = BufferMemory::new();
    let mut prng = Prng::new(Seed(11));
    let mut held: BTreeMap<u8, Piece<'_>> = BTreeMap::new();
    for _ in 0..4_000 {
        let value = 1 + u8::try_from(prng.below(200)).expect("small");
        // Up to two classes beyond the largest that this allocator serves.
        let blocks = 1 + usize::try_from(prng.below(300)).expect("small");
        if let Some(mut piece) = held.remove(&value) {
            assert!(piece.bytes().iter().all(|&byte| byte == value), "{value}");
            if prng.below(4) == 0 {
                let kept = piece.layout.size().min(blocks * ALIGNMENT);
                piece.resize(blocks * ALIGNMENT);
                assert!(piece.bytes()[..kept].iter().all(|&byte| byte == value));
                piece.bytes().fill(value);
                held.insert(value, piece);
            }
        } else {
            let mut piece = Piece::zeroed(&memory, blocks * ALIGNMENT);
            assert_eq!(piece.first() % ALIGNMENT, 0);
            assert!(piece.bytes().iter().all(|&byte| byte == 0));
            piece.bytes().fill(value);
            held.insert(value, piece);
        }
    }
    assert!(held.len() > 50, "too few at once: {}", held.len());
    for (value, mut piece) in held {
        assert!(piece.bytes().iter().all(|&byte| byte == value), "{value}");
    }
}

#[test]
fn a_freed_piece_serves_the_next_buffer_of_its_class() {
    let memory = BufferMemory::new();
    let first = Piece::zeroed(&memory, 5 * ALIGNMENT).first();
    assert_eq!(Piece::zeroed(&memory, 8 * ALIGNMENT).first(), first);
    assert_ne!(Piece::zeroed(&memory, 4 * ALIGNMENT).first(), first);
}
