//! Prefetch hints for the processor, which cannot guess the path of a search.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "a prefetch takes a pointer, though it reads nothing that a program could see"
    )
)]

/// Prefetches the cache line of `bytes[at]` without waiting for it. Does nothing if there is no
/// such byte, and on processors other than `x86_64`.
#[inline]
pub(crate) fn fetch_ahead(bytes: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(byte) = bytes.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the pointer is to a byte of the slice, and the instruction changes nothing but
        // the contents of the processor's caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, at);
}
