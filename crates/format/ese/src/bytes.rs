//! Little-endian fields at fixed offsets, so that the layout modules read like their tables.

/// The two bytes at `offset`.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, offset))
}

/// The four bytes at `offset`.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, offset))
}

/// The eight bytes at `offset`.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, offset))
}

/// The `N` bytes at `offset`, which must exist.
#[inline]
pub(crate) fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    *bytes[offset..].first_chunk().expect("invariant: a field lies within its structure")
}

/// The `N` bytes at `offset`, if they all exist.
#[inline]
pub(crate) fn get_array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// Stores `field` at `offset`.
#[inline]
pub(crate) fn put(bytes: &mut [u8], offset: usize, field: &[u8]) {
    bytes[offset..offset + field.len()].copy_from_slice(field);
}
