//! `schema`: what the tables of a database are made of: columns, indexes, and where they lie.

use ese::catalog::{CatalogTable, TreePlace};
use ese::schema::{
    ColumnClass, ColumnDefinition, ColumnType, IndexDefinition, column_flags, index_flags,
};
use serde_json::{Value, json};

use super::dump::names;
use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::SchemaFlags;
use crate::opened::Opened;

const COLUMN_FLAGS: [(u32, &str); 13] = [
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

const INDEX_FLAGS: [(u32, &str); 17] = [
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

/// Prints the named table, or all of them.
pub(crate) fn run(flags: &SchemaFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let opened = Opened::open(&flags.file)?;
    let tables: Vec<&CatalogTable> = match &flags.table {
        None => opened.reader.tables().iter().collect(),
        Some(name) => vec![opened.table(name)?],
    };
    if flags.json {
        let tables: Vec<Value> = tables.into_iter().map(table_json).collect();
        console.answer_json(&json!({ "tables": tables }))?;
    } else {
        for table in tables {
            print(table, console)?;
        }
    }
    Ok(opened.outcome())
}

fn print(table: &CatalogTable, console: &mut Console) -> Result<(), CommandError> {
    let place = table.place;
    console.answer(format_args!("table {}", table.definition.name))?;
    console.answer(format_args!(
        "  object {}, root page {}, density {} %, first pages {}, flags {:#x}",
        place.object, place.root, table.density_percent, table.initial_pages, table.flags
    ))?;
    if let Some(place) = table.long_values {
        let (object, root) = (place.object, place.root);
        console.answer(format_args!(
            "  long values: object {object}, root page {root}"
        ))?;
    }
    if let Some(template) = &table.template {
        console.answer(format_args!("  inherits the columns of {template}"))?;
    }
    for column in table.columns() {
        let size = match column.max_bytes {
            0 => "-".to_owned(),
            bytes => bytes.to_string(),
        };
        let kind = type_name(column.column_type);
        let words = words(column);
        console.answer(format_args!(
            "  {:>5}  {kind:<18} {size:>5}  {}  {words}",
            column.id.0, column.name
        ))?;
    }
    for (index, place) in table.definition.indexes.iter().zip(&table.index_places) {
        print_index(table, index, *place, console)?;
    }
    console.answer("")
}

fn print_index(
    table: &CatalogTable,
    index: &IndexDefinition,
    place: TreePlace,
    console: &mut Console,
) -> Result<(), CommandError> {
    let (object, root) = (place.object, place.root);
    console.answer(format_args!(
        "  index {}: object {object}, root page {root}, keys of at most {} bytes",
        index.name, index.longest_key_bytes
    ))?;
    console.answer(format_args!("         {}", keys(table, index).join(" ")))?;
    console.answer(format_args!("         {}", index_words(index)))?;
    for condition in conditions(table, index) {
        console.answer(format_args!("         only rows where {condition}"))?;
    }
    Ok(())
}

/// What kind of column it is, its flags and its default.
fn words(column: &ColumnDefinition) -> String {
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

fn default(column: &ColumnDefinition) -> Option<String> {
    let has_default = column.flags & column_flags::DEFAULT != 0 && !column.default.is_empty();
    has_default.then(|| ese::value::Value::decode(column, &column.default).to_string())
}

fn index_words(index: &IndexDefinition) -> String {
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
fn keys(table: &CatalogTable, index: &IndexDefinition) -> Vec<String> {
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

fn conditions(table: &CatalogTable, index: &IndexDefinition) -> Vec<String> {
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

const fn type_name(kind: ColumnType) -> &'static str {
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

fn table_json(table: &CatalogTable) -> Value {
    let indexes = table.definition.indexes.iter().zip(&table.index_places);
    json!({
        "name": table.definition.name,
        "object": table.place.object.0,
        "root": table.place.root.0,
        "flags": table.flags,
        "density_percent": table.density_percent,
        "initial_pages": table.initial_pages,
        "template": table.template,
        "long_values": table.long_values.map(place_json),
        "long_value_chunk_bytes": table.long_value_chunk,
        "columns": table.columns().map(column_json).collect::<Vec<_>>(),
        "indexes": indexes
            .map(|(index, place)| index_json(table, index, *place))
            .collect::<Vec<_>>(),
    })
}

fn place_json(place: TreePlace) -> Value {
    json!({ "object": place.object.0, "root": place.root.0 })
}

fn column_json(column: &ColumnDefinition) -> Value {
    let flags = names(column.flags, &COLUMN_FLAGS);
    json!({
        "id": column.id.0,
        "name": column.name,
        "type": type_name(column.column_type),
        "type_number": column.column_type.number(),
        "max_bytes": column.max_bytes,
        "code_page": column.code_page,
        "flags": column.flags,
        "flag_names": flags.split_whitespace().collect::<Vec<_>>(),
        "inherited": column.is_inherited,
        "record_offset": (column.id.class() == ColumnClass::Fixed).then_some(column.record_offset),
        "default": default(column),
    })
}

fn index_json(table: &CatalogTable, index: &IndexDefinition, place: TreePlace) -> Value {
    let flags = names(index.flags, &INDEX_FLAGS);
    json!({
        "name": index.name,
        "object": place.object.0,
        "root": place.root.0,
        "flags": index.flags,
        "flag_names": flags.split_whitespace().collect::<Vec<_>>(),
        "tuples": index.is_tuple,
        "locale": index.locale,
        "longest_key_bytes": index.longest_key_bytes,
        "keys": keys(table, index),
        "conditions": conditions(table, index),
    })
}
