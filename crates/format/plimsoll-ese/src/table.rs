//! Tables, columns and indexes, as the catalog describes them.

use std::sync::Arc;

use ese::catalog::CatalogTable;
use ese::schema::{ColumnDefinition, ColumnType};

/// A table of a database. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) catalog: Arc<CatalogTable>,
}

impl Table {
    pub(crate) fn new(catalog: CatalogTable) -> Self {
        Self { catalog: Arc::new(catalog) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.catalog.definition.name
    }

    /// Its columns, inherited ones first.
    pub fn columns(&self) -> impl Iterator<Item = Column<'_>> {
        self.catalog.columns().map(|definition| Column { definition })
    }

    /// Its indexes, the primary one included.
    pub fn indexes(&self) -> impl Iterator<Item = Index<'_>> {
        let indexes = self.catalog.definition.indexes.iter();
        indexes.map(|index| Index {
            name: &index.name,
            is_primary: index.is_primary(),
            is_unique: index.is_unique(),
        })
    }

    /// Whether it is one of the engine's internal tables, such as the catalog.
    pub fn is_system(&self) -> bool {
        self.name().starts_with("MSys")
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column<'t> {
    definition: &'t ColumnDefinition,
}

impl<'t> Column<'t> {
    /// Its name.
    pub fn name(&self) -> &'t str {
        &self.definition.name
    }

    /// Its number: fixed columns from 1, variable ones from 128, tagged ones from 256.
    pub const fn id(&self) -> u16 {
        self.definition.id.0
    }

    /// Type of its values.
    pub const fn kind(&self) -> ColumnKind {
        ColumnKind::of(self.definition.column_type)
    }

    /// Whether a row may have several values of it.
    pub const fn is_multi_valued(&self) -> bool {
        self.definition.is_multi_valued()
    }
}

/// An index of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Index<'t> {
    /// Its name.
    pub name: &'t str,
    /// Whether the table is stored in its order.
    pub is_primary: bool,
    /// Whether no two rows have the same key.
    pub is_unique: bool,
}

/// Type of a column's values, by the engine's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the engine's own names of its types")]
pub enum ColumnKind {
    Bit,
    UnsignedByte,
    Short,
    UnsignedShort,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Currency,
    Single,
    Double,
    DateTime,
    Guid,
    Binary,
    LongBinary,
    Text,
    LongText,
    Streaming,
}

impl ColumnKind {
    const fn of(stored: ColumnType) -> Self {
        match stored {
            ColumnType::Bit => Self::Bit,
            ColumnType::UnsignedByte => Self::UnsignedByte,
            ColumnType::Short => Self::Short,
            ColumnType::UnsignedShort => Self::UnsignedShort,
            ColumnType::Long => Self::Long,
            ColumnType::UnsignedLong => Self::UnsignedLong,
            ColumnType::LongLong => Self::LongLong,
            ColumnType::UnsignedLongLong => Self::UnsignedLongLong,
            ColumnType::Currency => Self::Currency,
            ColumnType::Single => Self::Single,
            ColumnType::Double => Self::Double,
            ColumnType::DateTime => Self::DateTime,
            ColumnType::Guid => Self::Guid,
            ColumnType::Binary => Self::Binary,
            ColumnType::LongBinary => Self::LongBinary,
            ColumnType::Text => Self::Text,
            ColumnType::LongText => Self::LongText,
            ColumnType::Streaming => Self::Streaming,
        }
    }

    /// The engine's name of it, such as `LongText`.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}
