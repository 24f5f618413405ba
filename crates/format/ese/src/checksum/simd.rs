//! The tree of XORs, compiled for instruction sets that the build does not take for granted.
#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calling a function compiled for an instruction set needs the promise that the \
                  machine has it; each call stands behind the test for it"
    )
)]

use crate::checksum::Parities;
#[cfg(target_arch = "x86_64")]
use crate::checksum::tree;

/// The tree with 256-bit registers, if the machine has them.
#[cfg(target_arch = "x86_64")]
pub(super) fn avx2(block: &[u8]) -> Option<Parities> {
    #[target_feature(enable = "avx2,popcnt")]
    fn compiled(block: &[u8]) -> Parities {
        tree::parities(block)
    }
    let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt");
    // SAFETY: `compiled` is ordinary safe code; its only requirement is the instruction sets named
    // in its attribute, and the line above has found both on this machine.
    has.then(|| unsafe { compiled(block) })
}

/// The tree with 512-bit registers, if the machine has them.
#[cfg(target_arch = "x86_64")]
pub(super) fn avx512(block: &[u8]) -> Option<Parities> {
    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    fn compiled(block: &[u8]) -> Parities {
        tree::parities(block)
    }
    let has = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("popcnt");
    // SAFETY: `compiled` is ordinary safe code; its only requirement is the instruction sets named
    // in its attribute, and the lines above have found all of them on this machine.
    has.then(|| unsafe { compiled(block) })
}

/// Other processors have no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn avx2(_: &[u8]) -> Option<Parities> {
    None
}

/// Other processors have no such registers.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn avx512(_: &[u8]) -> Option<Parities> {
    None
}
