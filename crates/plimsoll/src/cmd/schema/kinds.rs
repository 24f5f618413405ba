//! JSON Schema (draft 2020-12) of what programs read and write: generated from the types that are
//! written and from the table of a plan's keys; those of events and deployments, which no type
//! stands for, are files that tests hold to real ones.

use std::path::Path;

use plan::{Holds, PlanKey, plan_keys};
use serde_json::{Map, Value, json};

/// A word of the command line and what makes its schema.
type Kind = (&'static str, fn() -> Value);

const KINDS: [Kind; 8] = [
    ("plan", plan_schema),
    ("deployment", || parsed(include_str!("deployment.json"))),
    ("report", report::report_schema),
    ("set_report", report::suite_schema),
    ("imported_report", report::imported_schema),
    ("journal", record::journal_schema),
    ("events", || parsed(include_str!("events.json"))),
    ("answers", super::answers::schema),
];

/// The schema that `word` asks for; none where it names a file.
pub(super) fn schema_of(word: &Path) -> Option<Value> {
    let found = KINDS.iter().find(|(kind, _)| word.as_os_str() == *kind);
    found.filter(|_| !word.exists()).map(|(_, schema)| schema())
}

/// The words that ask for a schema.
pub(super) fn names() -> String {
    KINDS.map(|(kind, _)| kind).join(", ")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("invariant: the schema is JSON, which a test reads")
}

/// The schema of a plan, as JSON would hold its TOML.
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

/// The properties of a section, which is made where it is missing.
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
mod tests {
    use std::path::Path;

    use plan::Deployment;

    use super::{KINDS, schema_of};

    #[test]
    fn every_kind_has_a_schema_and_a_file_comes_first() {
        for (kind, _) in KINDS {
            let schema = schema_of(Path::new(kind)).unwrap();
            let draft = schema["$schema"].as_str().unwrap();
            assert!(draft.contains("2020-12"), "{kind}: {draft}");
        }
        assert_eq!(schema_of(Path::new("fish")), None);
        assert_eq!(schema_of(Path::new("./plan")), None);
    }

    #[test]
    fn each_kind_of_report_has_the_members_that_are_written() {
        let set = schema_of(Path::new("set_report")).unwrap();
        for member in ["schema", "kind", "verdict", "exit_code", "meaning", "tests"] {
            assert!(set["properties"][member].is_object(), "{member}");
        }
        let test = set["$defs"]["JsonTest"]["properties"]["report"].to_string();
        assert!(test.contains("#/$defs/JsonReport"), "{test}");
        let imported = schema_of(Path::new("imported_report")).unwrap();
        let properties = &imported["properties"];
        assert!(properties["imported"].is_object() && properties["run"].is_object());
        assert!(imported["$defs"]["ImportedResult"]["properties"]["instances"].is_object());
    }

    #[test]
    fn the_schema_of_a_plan_knows_sections_and_lists() {
        let schema = schema_of(Path::new("plan")).unwrap();
        let properties = &schema["properties"];
        assert_eq!(properties["databases"]["properties"]["size"]["type"], "string");
        assert_eq!(properties["database"]["items"]["properties"]["folder"]["type"], "string");
        assert_eq!(properties["workload"]["properties"]["threads"]["type"][0], "integer");
    }

    #[test]
    fn the_schema_of_a_deployment_knows_every_key_of_the_example() {
        let schema = schema_of(Path::new("deployment")).unwrap().to_string();
        for line in Deployment::example().lines() {
            let line = line.trim_start_matches("# ");
            let Some((key, _)) = line.split_once(" = ") else { continue };
            let is_key = key.chars().all(|symbol| symbol.is_ascii_lowercase() || symbol == '_');
            let is_known = schema.contains(&format!("\"{key}\""));
            assert!(!is_key || is_known || key.ends_with("per_message"), "{key}");
        }
    }
}
