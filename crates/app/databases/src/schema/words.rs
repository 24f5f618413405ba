//! The words for kinds, flags and keys of columns and indexes.

use ese::catalog::CatalogTable;
use ese::schema::{
    ColumnClass, ColumnDefinition, ColumnType, IndexDefinition, column_flags, index_flags,
};

use crate::dump::names;

pub(super) const COLUMN_FLAGS: [(u32, &str); 13] = [
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

pub(super) const INDEX_FLAGS: [(u32, &str); 17] = [
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

/// Kind of the column, its flags and its default.
pub(super) fn words(column: &ColumnDefinition) -> String {
    let class = match column.id.class() {
        ColumnClass::Fixed => "fixed",
        ColumnClass::Variable => "variable",
        ColumnClass::Tagged => "tagged",
    };
    let mut words = vec![class.to_owned()];
    words.push(names(column.flags, &COLUMN_FLAGS));
    if column.is_inherited {
        words.push("inherited".to_owned());
    }
    words.extend(default(column).map(|default| format!("={default}")));
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

pub(super) fn default(column: &ColumnDefinition) -> Option<String> {
    let has_default = column.flags & column_flags::DEFAULT != 0 && !column.default.is_empty();
    has_default.then(|| ese::value::Value::decode(column, &column.default).to_string())
}

pub(super) fn index_words(index: &IndexDefinition) -> String {
    let mut words = vec![names(index.flags, &INDEX_FLAGS)];
    if index.is_tuple {
        words.push("tuples".to_owned());
    }
    words.push(index.locale.clone());
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// The name of a column that an index names by its number.
fn column_name(table: &CatalogTable, id: ese::schema::ColumnId, is_inherited: bool) -> String {
    let mut columns = table.columns();
    let named = columns.find(|column| column.id == id && column.is_inherited == is_inherited);
    let named = named.or_else(|| table.columns().find(|column| column.id == id));
    named.map_or_else(|| format!("column {id}"), |column| column.name.clone())
}

/// The key segments, each with its direction.
pub(super) fn keys(table: &CatalogTable, index: &IndexDefinition) -> Vec<String> {
    index
        .segments
        .iter()
        .map(|segment| {
            let sign = if segment.is_descending { '-' } else { '+' };
            let name = column_name(table, segment.column, segment.is_inherited);
            format!("{sign}{name}")
        })
        .collect()
}

pub(super) fn conditions(table: &CatalogTable, index: &IndexDefinition) -> Vec<String> {
    index
        .conditions
        .iter()
        .map(|condition| {
            let name = column_name(table, condition.column, condition.is_inherited);
            let what = if condition.is_null { "is" } else { "is not" };
            format!("{name} {what} null")
        })
        .collect()
}

pub(super) const fn type_name(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Bit => "bit",
        ColumnType::UnsignedByte => "unsigned byte",
        ColumnType::Short => "short",
        ColumnType::Long => "long",
        ColumnType::Currency => "currency",
        ColumnType::Single => "single",
        ColumnType::Double => "double",
        ColumnType::DateTime => "date and time",
        ColumnType::Binary => "binary",
        ColumnType::Text => "text",
        ColumnType::LongBinary => "long binary",
        ColumnType::LongText => "long text",
        ColumnType::Streaming => "streaming",
        ColumnType::UnsignedLong => "unsigned long",
        ColumnType::LongLong => "long long",
        ColumnType::Guid => "GUID",
        ColumnType::UnsignedShort => "unsigned short",
        ColumnType::UnsignedLongLong => "unsigned long long",
    }
}
