//! Tables as JSON.

use ese::catalog::{CatalogTable, TreePlace};
use ese::schema::{ColumnClass, ColumnDefinition, IndexDefinition};
use serde_json::{Value, json};

use super::words::{conditions, default, keys, type_name};

pub(super) fn table_json(table: &CatalogTable) -> Value {
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
    json!({
        "id": column.id.0,
        "name": column.name,
        "type": type_name(column.column_type),
        "type_number": column.column_type.number(),
        "max_bytes": column.max_bytes,
        "code_page": column.code_page,
        "flags": column.flags,
        "flag_names": column.flag_names(),
        "inherited": column.is_inherited,
        "record_offset": (column.id.class() == ColumnClass::Fixed).then_some(column.record_offset),
        "default": default(column),
    })
}

fn index_json(table: &CatalogTable, index: &IndexDefinition, place: TreePlace) -> Value {
    json!({
        "name": index.name,
        "object": place.object.0,
        "root": place.root.0,
        "flags": index.flags,
        "flag_names": index.flag_names(),
        "tuples": index.is_tuple,
        "locale": index.locale,
        "longest_key_bytes": index.longest_key_bytes,
        "keys": keys(table, index),
        "conditions": conditions(table, index),
    })
}
