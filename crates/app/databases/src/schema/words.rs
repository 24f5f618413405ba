//! The words for kinds, flags and keys of columns and indexes.

use ese::catalog::CatalogTable;
use ese::schema::{ColumnClass, ColumnDefinition, ColumnType, IndexDefinition};

/// Kind of the column, its flags and its default.
pub(super) fn words(column: &ColumnDefinition) -> String {
    let class = match column.id.class() {
        ColumnClass::Fixed => "fixed",
        ColumnClass::Variable => "variable",
        ColumnClass::Tagged => "tagged",
    };
    let mut words = vec![class.to_owned()];
    words.push(column.flag_names().join(" "));
    if column.is_inherited {
        words.push("inherited".to_owned());
    }
    words.extend(default(column).map(|default| format!("={default}")));
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

pub(super) fn default(column: &ColumnDefinition) -> Option<String> {
    let bytes = column.promised_default()?;
    Some(ese::value::Value::decode(column, bytes).to_string())
}

pub(super) fn index_words(index: &IndexDefinition) -> String {
    let mut words = vec![index.flag_names().join(" ")];
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
