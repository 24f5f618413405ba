//! The flag bits of columns and indexes in the catalog, and their names.

/// Column flags of the catalog.
pub(crate) mod column_flags {
    /// Null is refused.
    pub(crate) const NOT_NULL: u32 = 0x1;
    /// The engine raises it with every change of the row.
    pub(crate) const VERSION: u32 = 0x2;
    /// The engine numbers rows with it.
    pub(crate) const AUTO_INCREMENT: u32 = 0x4;
    /// Rows may have several values.
    pub(crate) const MULTI_VALUED: u32 = 0x8;
    /// It has a default value.
    pub(crate) const DEFAULT: u32 = 0x10;
    /// Transactions add to it without waiting for each other.
    pub(crate) const ESCROW_UPDATE: u32 = 0x20;
    /// The application is called when it reaches zero.
    pub(crate) const FINALIZE: u32 = 0x40;
    /// The application supplies its default value.
    pub(crate) const USER_DEFINED_DEFAULT: u32 = 0x80;
    /// Column of a template table; tables that inherit it may use the number for another column.
    pub(crate) const TEMPLATE: u32 = 0x100;
    /// The row is deleted when it reaches zero.
    pub(crate) const DELETE_ON_ZERO: u32 = 0x200;
    /// Once part of the primary index and kept for its place in keys.
    pub(crate) const PRIMARY_PLACEHOLDER: u32 = 0x800;
    /// Its values may be compressed.
    pub(crate) const COMPRESSED: u32 = 0x1000;
    /// Its values are encrypted.
    pub(crate) const ENCRYPTED: u32 = 0x2000;
}

/// Index flags of the catalog.
pub(crate) mod index_flags {
    /// Keys do not repeat.
    pub(crate) const UNIQUE: u32 = 0x1;
    /// Rows are indexed even if all segments are null.
    pub(crate) const ALLOW_ALL_NULLS: u32 = 0x2;
    /// Rows are indexed even if the first segment is null.
    pub(crate) const ALLOW_FIRST_NULL: u32 = 0x4;
    /// Rows are indexed even if some segments are null.
    pub(crate) const ALLOW_SOME_NULLS: u32 = 0x8;
    /// Null segments are refused.
    pub(crate) const NO_NULL_SEGMENT: u32 = 0x10;
    /// The table itself.
    pub(crate) const PRIMARY: u32 = 0x20;
    /// It has its own locale.
    pub(crate) const LOCALE_SET: u32 = 0x40;
    /// A segment may have several values.
    pub(crate) const MULTI_VALUED: u32 = 0x80;
    /// Of a template table.
    pub(crate) const TEMPLATE: u32 = 0x100;
    /// Inherited from a template table.
    pub(crate) const DERIVED: u32 = 0x200;
    /// It holds Unicode text in the order of a locale.
    pub(crate) const LOCALIZED_TEXT: u32 = 0x400;
    /// Nulls come last.
    pub(crate) const NULLS_HIGH: u32 = 0x800;
    /// All combinations of its segments' multiple values are indexed.
    pub(crate) const CROSS_PRODUCT: u32 = 0x2000;
    /// Keys that would be truncated are refused.
    pub(crate) const NO_TRUNCATION: u32 = 0x4000;
    /// Multiple values of several segments are paired by position.
    pub(crate) const NESTED_TABLE: u32 = 0x8000;
    /// Key segments are stored in four bytes each.
    pub(crate) const EXTENDED_COLUMN_IDS: u32 = 0x1_0000;
    /// GUIDs are compared from their first group on.
    pub(crate) const DOT_NET_GUID: u32 = 0x2_0000;

    /// Flags of a primary index of this project, as measured in real files.
    pub(crate) const ORDINARY_PRIMARY: u32 = 0x1_002F;
    /// Flags of a secondary index with repeating keys, as measured in real files.
    pub(crate) const ORDINARY_SECONDARY: u32 = 0x1_000E;
}

/// The names of column flags, in the order in which they are shown.
pub(super) const COLUMN_FLAG_NAMES: [(u32, &str); 13] = [
    (column_flags::NOT_NULL, "not-null"),
    (column_flags::VERSION, "version"),
    (column_flags::AUTO_INCREMENT, "auto-increment"),
    (column_flags::MULTI_VALUED, "multi-valued"),
    (column_flags::DEFAULT, "default"),
    (column_flags::ESCROW_UPDATE, "escrow-update"),
    (column_flags::FINALIZE, "finalize"),
    (column_flags::USER_DEFINED_DEFAULT, "user-defined-default"),
    (column_flags::TEMPLATE, "template"),
    (column_flags::DELETE_ON_ZERO, "delete-on-zero"),
    (column_flags::PRIMARY_PLACEHOLDER, "primary-placeholder"),
    (column_flags::COMPRESSED, "compressed"),
    (column_flags::ENCRYPTED, "encrypted"),
];

/// The names of index flags, in the order in which they are shown.
pub(super) const INDEX_FLAG_NAMES: [(u32, &str); 17] = [
    (index_flags::PRIMARY, "primary"),
    (index_flags::UNIQUE, "unique"),
    (index_flags::ALLOW_ALL_NULLS, "allow-all-nulls"),
    (index_flags::ALLOW_FIRST_NULL, "allow-first-null"),
    (index_flags::ALLOW_SOME_NULLS, "allow-some-nulls"),
    (index_flags::NO_NULL_SEGMENT, "no-null-segment"),
    (index_flags::LOCALE_SET, "locale-set"),
    (index_flags::MULTI_VALUED, "multi-valued"),
    (index_flags::TEMPLATE, "template"),
    (index_flags::DERIVED, "derived"),
    (index_flags::LOCALIZED_TEXT, "localized-text"),
    (index_flags::NULLS_HIGH, "nulls-high"),
    (index_flags::CROSS_PRODUCT, "cross-product"),
    (index_flags::NO_TRUNCATION, "no-truncation"),
    (index_flags::NESTED_TABLE, "nested-table"),
    (index_flags::EXTENDED_COLUMN_IDS, "long-segments"),
    (index_flags::DOT_NET_GUID, "dot-net-guid"),
];
