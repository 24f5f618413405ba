//! JSON Schema (draft 2020-12) of the documents that programs read and write: generated from the
//! serialised types and from the table of a plan's keys; events and deployments have no such type,
//! so their schemas are files that tests compare with real documents.

use std::path::Path;

use plan::{Holds, PlanKey, plan_keys};
use serde_json::{Map, Value, json};

/// A command-line word and the function that generates its schema.
type SchemaKind = (&'static str, fn() -> Value);

const KINDS: [SchemaKind; 8] = [
    ("plan", plan_schema),
    ("deployment", || parsed(include_str!("deployment.json"))),
    ("report", report::report_schema),
    ("set_report", report::suite_schema),
    ("imported_report", report::imported_schema),
    ("journal", record::journal_schema),
    ("events", || parsed(include_str!("events.json"))),
    ("answers", super::answers::schema),
];

/// The schema for `word`; `None` if it names a file.
pub(super) fn schema_of(word: &Path) -> Option<Value> {
    let found = KINDS.iter().find(|(kind, _)| word.as_os_str() == *kind);
    found.filter(|_| !word.exists()).map(|(_, schema)| schema())
}

/// Names of all schemas, separated by commas.
pub(super) fn names() -> String {
    KINDS.map(|(kind, _)| kind).join(", ")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("invariant: the schema is JSON, which a test reads")
}

/// Builds the schema of a plan, with its TOML represented as JSON.
fn plan_schema() -> Value {
    let mut top = Map::new();
    for key in plan_keys() {
        let value = value_schema(&key);
        match key.section {
            "" => _ = top.insert(key.name.to_owned(), value),
            section => section_of(&mut top, section, key.is_repeated)[key.name] = value,
        }
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A plan for `plimsoll prepare` and `plimsoll run`",
        "description": "The TOML document as JSON would hold it.",
        "type": "object",
        "properties": top,
        "additionalProperties": false,
    })
}

/// The properties of a section, which is created if missing.
fn section_of<'a>(top: &'a mut Map<String, Value>, name: &str, is_repeated: bool) -> &'a mut Value {
    let empty = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let whole = if is_repeated { json!({ "type": "array", "items": empty }) } else { empty };
    let section = top.entry(name).or_insert(whole);
    if is_repeated { &mut section["items"]["properties"] } else { &mut section["properties"] }
}

fn value_schema(key: &PlanKey) -> Value {
    let (holds, form) = match key.holds {
        Holds::Text => (json!("string"), ""),
        Holds::Texts | Holds::Numbers => (json!("array"), ""),
        Holds::Size => (json!("string"), "A size, such as 512MiB."),
        Holds::Span => (json!("string"), "A length of time, such as 90s."),
        Holds::Whole => (json!("integer"), ""),
        Holds::Number => (json!("number"), ""),
        Holds::Flag => (json!("boolean"), ""),
        Holds::WholeOrAuto => (json!(["integer", "string"]), "A number, or \"auto\"."),
    };
    let mut schema = json!({ "type": holds });
    let description = [form, &key.remarks].join(" ");
    if !description.trim().is_empty() {
        schema["description"] = description.trim().into();
    }
    let items = match key.holds {
        Holds::Texts => Some("string"),
        Holds::Numbers => Some("number"),
        _ => None,
    };
    if let Some(items) = items {
        schema["items"] = json!({ "type": items });
    }
    schema
}

#[cfg(test)]
mod tests;
