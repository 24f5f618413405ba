//! Every value of every example in `examples/`, in compatible mode and within its tolerance.
//!
//! An example is what the official calculator made of inputs with its own, flat names. They are
//! written as the deployment that a user would write, so reader and defaults are tested too.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod flat;

use std::collections::BTreeMap;
use std::path::Path;

use plan::Deployment;
use serde_json::Value as Json;
use sizing::{Sizing, Value, size};

/// All examples, by name.
fn examples() -> BTreeMap<String, Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples");
    let entries = std::fs::read_dir(folder).unwrap();
    let example = |path: &Path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        (name, serde_json::from_str(&text).unwrap())
    };
    entries
        .map(|entry| example(&entry.unwrap().path()))
        .collect()
}

/// The inputs of an example over those of its base.
fn inputs(examples: &BTreeMap<String, Json>, name: &str) -> BTreeMap<String, Json> {
    let example = &examples[name];
    let base = example.get("base").and_then(Json::as_str);
    let mut all = base.map_or_else(BTreeMap::new, |base| inputs(examples, base));
    let own = example["inputs"].as_object().unwrap().clone();
    // What an example says about both sites goes for each, and what it says of one wins.
    all.extend(own);
    all
}

fn sized(inputs: &BTreeMap<String, Json>) -> Sizing {
    let text = flat::deployment(inputs);
    let deployment =
        Deployment::parse("example", &text).unwrap_or_else(|error| panic!("{error}\n\n{text}"));
    size(&deployment)
}

/// What is wrong with one result; none where it agrees.
fn difference(sizing: &Sizing, key: &str, wanted: &Json, tolerance: f64) -> Option<String> {
    let Some(fact) = sizing.sheet.fact(key) else {
        return Some(format!("{key}: absent, wanted {wanted}"));
    };
    let same = match (&fact.value, wanted) {
        (Value::Number(value), Json::Number(wanted)) => {
            let wanted = wanted.as_f64().unwrap();
            // The examples are written with six digits behind the point.
            (value - wanted).abs() <= (tolerance * wanted.abs()).max(5.1e-7)
        }
        (Value::Word(word), Json::String(wanted)) => word == wanted,
        _ => false,
    };
    (!same).then(|| {
        format!(
            "{key}: {:?}, wanted {wanted}\n    {}\n    {}",
            fact.value, fact.formula, fact.numbers
        )
    })
}

#[test]
fn every_value_of_every_example_is_the_workbooks() {
    let examples = examples();
    assert!(examples.len() >= 6);
    let mut wrong = Vec::new();
    for (name, example) in &examples {
        let sizing = sized(&inputs(&examples, name));
        let tolerance = example["tolerance"].as_f64().unwrap_or(1e-6);
        for (key, wanted) in example["results"].as_object().unwrap() {
            let found = difference(&sizing, key, wanted, tolerance);
            wrong.extend(found.map(|text| format!("{name} {text}")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
