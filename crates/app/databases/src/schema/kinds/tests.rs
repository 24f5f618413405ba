//! Tests of `kinds`.

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
