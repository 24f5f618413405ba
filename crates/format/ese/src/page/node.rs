//! One node: key and data, the key possibly stored without the bytes it shares with tag 0.

use std::cmp::Ordering;

use crate::bytes::get_array;
use crate::flag_names::set_names;
use crate::page::parts::{compare_bytes, compare_parts};
use crate::page::{NODE_FLAG_NAMES, node_flags};

/// Sizes in a node are 13 bits; on large pages the three bits above hold the node's flags.
const SIZE_MASK: u16 = 0x1FFF;

/// Cost of omitting a shared prefix: a second size field. Only longer prefixes are omitted.
const COMPRESSION_COST_BYTES: usize = 2;

/// A node as stored on its page. Its key is `prefix` followed by `suffix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// See [`node_flags`].
    pub flags: u8,
    /// The bytes of the key that the node borrows from tag 0; empty if it is not compressed.
    pub prefix: &'a [u8],
    /// The bytes of the key that the node stores itself.
    pub suffix: &'a [u8],
    /// The bytes after the key.
    pub data: &'a [u8],
}

impl<'a> Node<'a> {
    /// Parses node bytes; `None` if sizes point outside the node or the prefix.
    #[inline]
    pub(crate) fn parse(flags: u8, bytes: &'a [u8], external_header: &'a [u8]) -> Option<Self> {
        let first = usize::from(u16::from_le_bytes(get_array(bytes, 0)?) & SIZE_MASK);
        let (prefix, key_at, suffix_bytes) = if flags & node_flags::COMPRESSED == 0 {
            (&external_header[..0], 2, first)
        } else {
            let suffix_bytes = u16::from_le_bytes(get_array(bytes, 2)?);
            (external_header.get(..first)?, 4, usize::from(suffix_bytes))
        };
        let (suffix, data) = bytes.get(key_at..)?.split_at_checked(suffix_bytes)?;
        Some(Self { flags, prefix, suffix, data })
    }

    /// Whether the node is deleted for new readers.
    pub const fn is_deleted(&self) -> bool {
        self.flags & node_flags::DELETED != 0
    }

    /// The names of its flags.
    pub fn flag_names(&self) -> Vec<&'static str> {
        set_names(self.flags.into(), &NODE_FLAG_NAMES)
    }

    /// Length of the key in bytes, prefix included.
    pub const fn key_bytes(&self) -> usize {
        self.prefix.len() + self.suffix.len()
    }

    /// Replaces the contents of `out` with the whole key.
    pub fn key_into(&self, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(self.prefix);
        out.extend_from_slice(self.suffix);
    }

    /// The whole key, in a new vector.
    pub fn key(&self) -> Vec<u8> {
        [self.prefix, self.suffix].concat()
    }

    /// Compares the node's key with `key`.
    #[inline]
    pub(crate) fn compare_key(&self, key: &[u8]) -> Ordering {
        if self.prefix.is_empty() {
            return compare_bytes(self.suffix, key);
        }
        match key.split_at_checked(self.prefix.len()) {
            Some((head, tail)) => {
                compare_bytes(self.prefix, head).then_with(|| compare_bytes(self.suffix, tail))
            }
            None => self.prefix.cmp(key),
        }
    }

    /// Compares the node's key with that of `other`, a node of the same page.
    #[inline]
    pub(crate) fn compare_key_of(&self, other: &Node<'_>) -> Ordering {
        // Both nodes borrow from the same tag 0, so prefixes of equal length are equal.
        if self.prefix.len() == other.prefix.len() {
            return compare_bytes(self.suffix, other.suffix);
        }
        compare_parts([self.prefix, self.suffix], [other.prefix, other.suffix])
    }

    /// Compares the node's key with `key` followed by `tail`, the two parts of a separator.
    #[inline]
    pub(crate) fn compare_joined(&self, key: &[u8], tail: &[u8]) -> Ordering {
        compare_parts([self.prefix, self.suffix], [key, tail])
    }

    /// Compares the node with `key`, then with `data` if the keys are equal.
    #[inline]
    pub fn compare_pair(&self, key: &[u8], data: &[u8]) -> Ordering {
        self.compare_key(key).then_with(|| self.data.cmp(data))
    }
}

/// Appends the node bytes of `key` and `data` to `out` and returns the matching node flags:
/// [`node_flags::COMPRESSED`] or none.
///
/// `prefix` is tag 0 of the destination page; pass an empty one for root pages, whose tag 0 is a
/// space header and whose nodes never compress.
pub fn encode_node(prefix: &[u8], key: &[u8], data: &[u8], out: &mut Vec<u8>) -> u8 {
    let shared = prefix.iter().zip(key).take_while(|(a, b)| a == b).count();
    if shared > COMPRESSION_COST_BYTES {
        out.extend_from_slice(&size_field(shared));
        out.extend_from_slice(&size_field(key.len() - shared));
        out.extend_from_slice(&key[shared..]);
        out.extend_from_slice(data);
        return node_flags::COMPRESSED;
    }
    out.extend_from_slice(&size_field(key.len()));
    out.extend_from_slice(key);
    out.extend_from_slice(data);
    0
}

fn size_field(bytes: usize) -> [u8; 2] {
    assert!(bytes <= usize::from(SIZE_MASK), "a key part of {bytes} bytes does not fit a node");
    u16::try_from(bytes).expect("invariant: checked against the mask above").to_le_bytes()
}
