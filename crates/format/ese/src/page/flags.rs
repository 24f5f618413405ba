//! The flag bits of pages and nodes, under the names the format's own documents use.

/// Flags in the page header (byte 36).
pub mod page_flags {
    /// The root of a tree.
    pub const ROOT: u32 = 0x1;
    /// A leaf: nodes hold data.
    pub const LEAF: u32 = 0x2;
    /// A branch page whose children are leaves.
    pub const PARENT_OF_LEAF: u32 = 0x4;
    /// The page holds nothing and has no owner.
    pub const EMPTY: u32 = 0x8;
    /// A repair tool has rebuilt the page.
    pub(crate) const REPAIRED: u32 = 0x10;
    /// Part of a space tree (owned or available extents).
    pub const SPACE_TREE: u32 = 0x20;
    /// Part of a secondary index.
    pub const INDEX: u32 = 0x40;
    /// Part of a long-value tree.
    pub const LONG_VALUE: u32 = 0x80;
    /// The flags common to all pages of a tree.
    pub(crate) const KIND: u32 = SPACE_TREE | INDEX | LONG_VALUE;
    /// Keys may repeat; nodes are ordered by key, then data.
    pub const NON_UNIQUE: u32 = 0x400;
    /// The record format in use since 1996; always set.
    pub(crate) const NEW_RECORD_FORMAT: u32 = 0x800;
    /// The checksum is XOR with error-correcting code; always set in new pages.
    pub(crate) const NEW_CHECKSUM: u32 = 0x2000;
    /// Deleted bytes have been overwritten.
    pub(crate) const SCRUBBED: u32 = 0x4000;
    /// The two bits that rotate 1, 2, 3, 1 with every write.
    pub const FLUSH_TYPE: u32 = 0x1_8000;
    /// Initialised ahead of use.
    pub const PREINITIALISED: u32 = 0x2_0000;
    /// Root of a tree that is being deleted.
    pub const FDP_DELETE: u32 = 0x4_0000;
    /// The flags carried by every page written today.
    pub const ALWAYS: u32 = NEW_RECORD_FORMAT | NEW_CHECKSUM;
}

/// Flags of a node.
pub mod node_flags {
    /// A transaction may need older versions of the node.
    pub const VERSIONED: u8 = 1;
    /// Deleted for new readers, not yet removed.
    pub const DELETED: u8 = 2;
    /// The key leaves out bytes that it shares with the page's tag 0.
    pub const COMPRESSED: u8 = 4;
    /// All of them.
    pub(crate) const ALL: u8 = VERSIONED | DELETED | COMPRESSED;
}

/// The names of page flags, in the order in which they are shown.
pub(super) const PAGE_FLAG_NAMES: [(u32, &str); 14] = [
    (page_flags::ROOT, "root"),
    (page_flags::LEAF, "leaf"),
    (page_flags::PARENT_OF_LEAF, "parent-of-leaf"),
    (page_flags::EMPTY, "empty"),
    (page_flags::REPAIRED, "repaired"),
    (page_flags::SPACE_TREE, "space-tree"),
    (page_flags::INDEX, "index"),
    (page_flags::LONG_VALUE, "long-value"),
    (page_flags::NON_UNIQUE, "non-unique"),
    (page_flags::NEW_RECORD_FORMAT, "new-record-format"),
    (page_flags::NEW_CHECKSUM, "new-checksum"),
    (page_flags::SCRUBBED, "scrubbed"),
    (page_flags::PREINITIALISED, "preinitialised"),
    (page_flags::FDP_DELETE, "being-deleted"),
];

/// The names of node flags, in the order in which they are shown.
pub(super) const NODE_FLAG_NAMES: [(u32, &str); 3] = [
    (node_flags::VERSIONED as u32, "versioned"),
    (node_flags::DELETED as u32, "deleted"),
    (node_flags::COMPRESSED as u32, "compressed"),
];
