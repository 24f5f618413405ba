//! What programs rely on: every answer says what it is, and real ones fit the schemas that
//! `schema KIND` prints.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::peers::PythonReaders;

use crate::scene::Scene;

const DEPLOYMENT: &str = "[[tier]]\nmailboxes = 200\nmessages_per_day = 100\n\
    size_limit = \"1GiB\"\n[availability]\nservers_per_site = 2\ncopies = 2\n";

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect(text)
}

/// Holds an answer against the schema of its kind: members that must be there, and what they hold.
#[track_caller]
pub(crate) fn expect_described(schema: &Value, answer: &Value) {
    let mut kinds = schema["oneOf"].as_array().unwrap().iter();
    let kind = &answer["kind"];
    let own = kinds.find(|of| of["properties"]["kind"]["const"] == *kind).expect("no schema");
    assert_eq!(own["properties"]["schema"]["const"], answer["schema"], "{kind}");
    expect_members(own, answer);
}

#[track_caller]
fn expect_members<'a>(schema: &'a Value, value: &Value) {
    let required = |of: &'a Value| of["required"].as_array().into_iter().flatten();
    let mut names: Vec<&str> = required(schema).filter_map(Value::as_str).collect();
    if let Some(all) = schema["anyOf"].as_array() {
        let names_of = |of: &'a Value| required(of).filter_map(Value::as_str).collect::<Vec<_>>();
        let mut fitting = all.iter().map(names_of);
        let fits = fitting.find(|names| names.iter().all(|name| value.get(name).is_some()));
        names.extend(fits.unwrap_or_else(|| panic!("{value} fits none of {all:?}")));
    }
    for name in names {
        let member = value.get(name).unwrap_or_else(|| panic!("no {name} in {value}"));
        let property = &schema["properties"][name];
        let types = match &property["type"] {
            Value::Array(types) => types.clone(),
            Value::Null => continue,
            one => vec![one.clone()],
        };
        let holds = match member {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let is_held = types.iter().any(|of| of == holds || of == "number" && holds == "integer");
        assert!(is_held, "{name}: {holds} and not {types:?}");
        if let (Value::Array(all), true) = (member, property["items"].is_object()) {
            for one in all {
                expect_members(&property["items"], one);
            }
        }
    }
}

#[test]
fn every_answer_says_what_it_is() {
    let scene = Scene::prepared("kinds");
    scene.write("deployment.toml", DEPLOYMENT.as_bytes());
    fs::File::create(scene.path("disk.img")).unwrap().set_len(256 << 20).unwrap();
    scene.run(["run", "plan.toml", "-q", "-o", "out"]);
    let file = "Plimsoll001.edb";
    let schema = parsed(&scene.run(["schema", "answers"]).expect_code(0).out);
    for (words, kind) in [
        (vec!["check", file], "check"),
        (vec!["header", file], "header"),
        (vec!["space", file], "space"),
        (vec!["schema", file], "database_schema"),
        (vec!["verify", file], "verification"),
        (vec!["verify", file, file], "verification"),
        (vec!["dump", file, "--page", "4"], "page"),
        (vec!["prepare", "plan.toml"], "prepared"),
        (vec!["list"], "runs"),
        (vec!["compare", "out", "out"], "comparison"),
        (vec!["inspect", "."], "inspection"),
        (vec!["size", "deployment.toml"], "sizing"),
        (vec!["plan", "deployment.toml"], "provision"),
        (vec!["builds", "list", "SE"], "builds"),
        (vec!["format", "raw:disk.img"], "formatted"),
    ] {
        let ran = scene.run(words.iter().chain(&["--json"]));
        let answer = parsed(&ran.out);
        assert_eq!(answer["kind"], kind, "{words:?}: {}", ran.err);
        assert!(answer["schema"].is_u64(), "{words:?}");
        expect_described(&schema, &answer);
    }
    let report = parsed(&scene.run(["report", "out", "--format", "json"]).out);
    assert_eq!((&report["kind"], &report["schema"]), (&"report".into(), &2.into()));
    // 64 bits, which JavaScript would round.
    assert!(report["run"]["started_epoch_ns"].is_string(), "{}", report["run"]);
}

/// The kinds of answers that the source of the program names.
fn kinds_in_source(folder: &Path, kinds: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["dev", "tests", "target"].contains(&name) {
            kinds_in_source(&path, kinds);
        } else if path.extension().is_some_and(|of| of == "rs") && name != "tests.rs" {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod").next().unwrap();
            // A call, or the first two members of a report.
            for (mark, member) in [("answer(", ""), ("answer_json(", ""), ("SCHEMA,", "kind:")] {
                let rests = text.split(mark).skip(1);
                kinds.extend(rests.filter_map(|rest| quoted_kind(rest, member)));
            }
        }
    }
}

/// The kind that `text` begins with, in quotes and after the name of its member.
fn quoted_kind(text: &str, member: &str) -> Option<String> {
    let text = text.trim_start().strip_prefix(member)?.trim_start();
    let (kind, _) = text.strip_prefix('"')?.split_once('"')?;
    let is_word = kind.chars().all(|symbol| symbol.is_ascii_lowercase() || symbol == '_');
    (is_word && !kind.is_empty()).then(|| kind.to_owned())
}

#[test]
fn every_kind_of_answer_in_the_source_has_a_schema_and_a_row_in_the_document() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut kinds = BTreeSet::new();
    kinds_in_source(&root.join("crates"), &mut kinds);
    assert!(kinds.remove("report"), "it has a schema by itself: {kinds:?}");
    let scene = Scene::new("kinds-in-source");
    let schema = parsed(&scene.run(["schema", "answers"]).expect_code(0).out);
    let described = schema["oneOf"].as_array().unwrap().iter();
    let described = described.map(|of| of["properties"]["kind"]["const"].as_str().unwrap());
    // An error is written by the same code as events.
    let described: BTreeSet<String> =
        described.filter(|kind| *kind != "error").map(str::to_owned).collect();
    assert_eq!(kinds, described);
    let document = fs::read_to_string(root.join("docs/json.md")).unwrap();
    for kind in kinds {
        assert!(document.contains(&format!("`{kind}`")), "{kind} is not in docs/json.md");
    }
}

#[test]
fn schemas_are_printed_and_a_file_of_that_name_comes_first() {
    let scene = Scene::prepared("schemas");
    for kind in ["plan", "deployment", "report", "journal", "events", "answers"] {
        let printed = parsed(&scene.run(["schema", kind]).expect_code(0).out);
        assert!(printed["title"].is_string(), "{kind}: {printed}");
    }
    scene.run(["schema", "plan", "Messages"]).expect_code(64);
    fs::rename(scene.path("Plimsoll001.edb"), scene.path("plan")).unwrap();
    scene.run(["schema", "plan"]).expect_code(0).expect_out(&["table Messages"]);
    scene.run(["schema", "fish"]).expect_refusal(&["fish"]);
}

/// Holds documents against the schema of a kind.
#[track_caller]
fn expect_valid((scene, readers): (&Scene, &PythonReaders), kind: &str, documents: &[&str]) {
    let schema = scene.path(format!("{kind}.schema.json"));
    fs::write(&schema, &scene.run(["schema", kind]).out).unwrap();
    let documents: Vec<PathBuf> = documents.iter().map(|name| scene.path(name)).collect();
    readers.validate(&schema, &documents).unwrap();
}

#[test]
fn real_documents_fit_their_schemas_and_others_do_not() {
    let Some(readers) = PythonReaders::from_environment("the test of schemas") else {
        return;
    };
    let scene = Scene::prepared("valid");
    let run = scene.run(["run", "plan.toml", "--json", "-o", "load"]);
    scene.write("events.jsonl", run.err.as_bytes());
    scene.write("watched.jsonl", scene.run(["watch", "load", "--json"]).out.as_bytes());
    let refused = scene.run(["check", "absent.edb", "--json"]);
    scene.write("errors.jsonl", refused.err.as_bytes());
    scene.run(["run", "plan.toml", "-q", "--test", "backup", "-o", "backup"]);
    let array = ["simulate", "plan.toml", "--array", "nvme", "--duration", "2s", "-q"];
    scene.run(array.iter().chain(&["-o", "simulated"]));
    scene.write("example.toml", scene.run(["plan"]).out.as_bytes());
    scene.write("sized.toml", scene.run(["size", "--example"]).out.as_bytes());
    let journals = ["load", "backup", "simulated"].map(|run| format!("{run}/record.jsonl"));
    let reports = ["load", "backup", "simulated"].map(|run| format!("{run}/report.json"));
    let seen = (&scene, &readers);
    expect_valid(seen, "events", &["events.jsonl", "watched.jsonl", "errors.jsonl"]);
    expect_valid(seen, "journal", &journals.each_ref().map(String::as_str));
    expect_valid(seen, "report", &reports.each_ref().map(String::as_str));
    expect_valid(seen, "plan", &["plan.toml", "example.toml"]);
    expect_valid(seen, "deployment", &["sized.toml"]);
    scene.write("wrong.toml", b"[databases]\nsizes = 3\n");
    let schema = scene.path("plan.schema.json");
    let wrong = readers.validate(&schema, &[scene.path("wrong.toml")]).unwrap_err();
    assert!(wrong.message.contains("sizes"), "{wrong}");
}
