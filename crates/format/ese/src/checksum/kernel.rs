//! The implementations of a block's sums, by name, so that tests and benchmarks can reach each of
//! them.

use crate::checksum::{Parities, simd, tree};

/// An implementation of the sums of a block. All of them give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Word by word: the definition.
    Words,
    /// The tree of XORs with the target's baseline instructions (on x86-64: SSE2).
    Portable,
    /// The tree with AVX2.
    Avx2,
    /// The tree with AVX-512.
    Avx512,
}

impl Kernel {
    /// All of them, slowest first.
    pub const ALL: [Self; 4] = [Self::Words, Self::Portable, Self::Avx2, Self::Avx512];

    /// The name, for benchmarks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The kernel used to check pages. On machines without AVX2 it falls back to the portable tree.
    pub const fn best() -> Self {
        Self::Avx2
    }

    /// The sums of a block of 4 or 8 KiB; `None` if the machine lacks the instructions.
    pub fn try_parities(self, block: &[u8]) -> Option<Parities> {
        match self {
            Self::Words => Some(Parities::by_words(block)),
            Self::Portable => Some(tree::parities(block)),
            Self::Avx2 => simd::avx2(block),
            Self::Avx512 => simd::avx512(block),
        }
    }

    /// The sums of a block of 4 or 8 KiB, by the portable tree if the machine lacks the
    /// instructions.
    #[inline]
    pub(crate) fn parities(self, block: &[u8]) -> Parities {
        self.try_parities(block).unwrap_or_else(|| tree::parities(block))
    }
}
