//! The schema of a journal's lines, generated from the types that are written.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::Event;

/// JSON Schema (draft 2020-12) of one line of a journal.
pub fn journal_schema() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Event>();
    let chain = json!({
        "description": "SHA-256 of the line before's and of the bytes of this line up to it.",
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
    });
    schema.insert("properties".to_owned(), json!({ "chain": chain }));
    schema.insert("title".to_owned(), "A line of a Plimsoll journal".into());
    schema.into()
}
