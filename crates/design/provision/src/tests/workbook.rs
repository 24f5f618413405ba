//! Every value of every example in `tests/examples` is within its tolerance, except those listed.
//!
//! An example holds inputs under flat names, and the results that the official calculator, a
//! vendor's report or an article gives for them. The tests write the inputs as a user would write
//! the deployment, so parser and defaults are tested too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::layout::{Layout, Rules, play};
use crate::{simulate, size};
use plan::Deployment;
use serde_json::Value as Json;
use sizing::Value;

use crate::tests::{array, flat};

/// Values that no formula of the facts gives, with the reason. Nothing else may differ, and each of
/// these must.
const EXCEPTIONS: [(&str, &str, &str); 4] = [
    ("E3", "array.iops_in_24_h", "measured on the array, 136 % of its target"),
    ("E3", "array.iops_before_recovery", "measured on the array, 141 % of its target"),
    (
        "E3",
        "array.mailboxes_of_0.5_gb",
        "neither the 3,000 that have room nor the 1,900 that it measured",
    ),
    ("E3", "array.most_mailboxes_at_20_ms", "measured on the array with six threads"),
];

type Inputs = BTreeMap<String, Json>;

/// All examples, by name.
fn examples() -> BTreeMap<String, Json> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples");
    let entries = std::fs::read_dir(folder).unwrap();
    let example = |path: &Path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        (name, serde_json::from_str(&text).unwrap())
    };
    entries.map(|entry| example(&entry.unwrap().path())).collect()
}

/// The inputs of an example, which replace those of its base.
fn inputs(examples: &BTreeMap<String, Json>, name: &str) -> Inputs {
    let example = &examples[name];
    let base = example.get("base").and_then(Json::as_str);
    let mut all = base.map_or_else(BTreeMap::new, |base| inputs(examples, base));
    all.extend(own_inputs(example));
    all
}

fn own_inputs(of: &Json) -> impl Iterator<Item = (String, Json)> {
    of["inputs"].as_object().unwrap().clone().into_iter()
}

fn deployment(inputs: &Inputs) -> Deployment {
    let text = flat::deployment(inputs);
    Deployment::parse("example", &text).unwrap_or_else(|error| panic!("{error}\n\n{text}"))
}

/// Calculated values that differ from those of the example, by key.
fn differences(inputs: &Inputs, results: &Json, tolerance: f64) -> Vec<(String, String)> {
    let deployment = deployment(inputs);
    let sizing = size(&deployment);
    let array = array::values(inputs, &deployment, &sizing);
    let results = results.as_object().unwrap();
    let differs = |(key, wanted): (&String, &Json)| {
        let wanted = Wanted::of(wanted, tolerance);
        let text = match (array.get(key), sizing.sheet.named(key)) {
            (Some(value), _) => wanted.difference(&Value::Number(*value))?,
            (None, Some(fact)) => {
                let text = wanted.difference(&fact.value)?;
                format!("{text}\n    {}\n    {}", fact.formula, fact.numbers)
            }
            (None, None) => "absent".to_owned(),
        };
        Some((key.clone(), text))
    };
    results.iter().filter_map(differs).collect()
}

/// An expected value: bare, or with a tolerance.
struct Wanted<'j> {
    value: &'j Json,
    tolerance: f64,
    /// `up` or `down` if the source rounds the value to a whole number.
    rounded: Option<&'j str>,
}

impl<'j> Wanted<'j> {
    fn of(json: &'j Json, tolerance: f64) -> Self {
        Self {
            value: json.get("value").unwrap_or(json),
            tolerance: json["tolerance"].as_f64().unwrap_or(tolerance),
            rounded: json["rounded"].as_str(),
        }
    }

    fn difference(&self, found: &Value) -> Option<String> {
        let same = match (found, self.value) {
            (Value::Number(value), Json::Number(wanted)) => {
                let value = match self.rounded {
                    Some("up") => value.ceil(),
                    Some(_) => value.floor(),
                    None => *value,
                };
                let wanted = wanted.as_f64().unwrap();
                // The examples have six decimals.
                (value - wanted).abs() <= (self.tolerance * wanted.abs()).max(5.1e-7)
            }
            (Value::Decision(decision), Json::String(wanted)) => decision.name() == wanted,
            _ => false,
        };
        (!same).then(|| format!("{found:?}, wanted {}", self.value))
    }
}

#[test]
fn every_value_of_every_example_is_the_sources() {
    let examples = examples();
    assert!(examples.len() >= 9);
    let mut wrong = BTreeMap::new();
    for (name, example) in &examples {
        let tolerance = example["tolerance"].as_f64().unwrap_or(1e-6);
        let all = inputs(&examples, name);
        let mut found = differences(&all, &example["results"], tolerance);
        for variant in example["variants"].as_array().into_iter().flatten() {
            let mut all = all.clone();
            all.extend(own_inputs(variant));
            found.extend(differences(&all, &variant["results"], tolerance));
        }
        let named = |(key, text)| ((name.clone(), key), text);
        wrong.extend(found.into_iter().map(named));
    }
    let excepted: BTreeSet<_> =
        EXCEPTIONS.iter().map(|(name, key, _)| ((*name).to_owned(), (*key).to_owned())).collect();
    let found: BTreeSet<_> = wrong.keys().cloned().collect();
    assert!(
        found == excepted,
        "these differ, apart from the exceptions: {:#?}\nthese no longer do: {:?}",
        wrong.iter().filter(|(key, _)| !excepted.contains(*key)).collect::<Vec<_>>(),
        excepted.difference(&found).collect::<Vec<_>>()
    );
}

/// The deployments in `examples/deployments` are those that are compared with their sources here.
#[test]
fn the_examples_for_users_are_the_same_deployments() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/deployments");
    let examples = examples();
    for name in examples.keys() {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let mut written = Deployment::parse(name, &text).unwrap();
        let wanted = deployment(&inputs(&examples, name));
        written.name.clone_from(&wanted.name);
        assert_eq!(without_lines(&written), without_lines(&wanted), "{name}");
    }
}

/// A deployment as text, without the line numbers of the figures in its document.
fn without_lines(deployment: &Deployment) -> String {
    let text = format!("{deployment:?}");
    let parts = text.split("given in line ");
    parts.map(|part| part.trim_start_matches(|of: char| of.is_ascii_digit())).collect()
}

/// `docs/sizing.md` lists every exception that the tests make.
#[test]
fn the_documents_name_every_exception() {
    let text = include_str!("../../../../../docs/sizing.md");
    for (name, key, reason) in EXCEPTIONS {
        let row = format!("| {name} | `{key}` | {reason} |");
        assert!(text.contains(&row), "docs/sizing.md lacks {row}");
    }
}

/// The copy maps exported with two of the examples, the volumes of a server, and the failures
/// counted on the map.
#[test]
fn every_layout_of_an_example_is_the_exported_one() {
    let examples = examples();
    let mut seen = 0;
    for (name, example) in &examples {
        let Some(wanted) = example["layout"].as_object() else {
            continue;
        };
        seen += 1;
        let deployment = deployment(&inputs(&examples, name));
        let sizing = size(&deployment);
        let layout = simulate(&deployment, &sizing).unwrap().layout;
        let period = words(&wanted["period"]);
        for (at, row) in rows(&layout).iter().enumerate() {
            assert_eq!(row, period[at % period.len()], "{name}, database {}", at + 1);
        }
        assert_eq!(volumes(&layout), words(&wanted["volumes_of_server_1"]));
        if let Some(wanted) = wanted.get("failures") {
            failures(&layout, wanted);
        }
    }
    assert_eq!(seen, 2);
}

fn words(list: &Json) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|word| word.as_str().unwrap()).collect()
}

/// Servers counted from 1 in order of preference.
fn rows(layout: &Layout) -> Vec<String> {
    let row = |copies: &Vec<crate::layout::Copy>| {
        let digits = copies.iter().map(|copy| (copy.server + 1).to_string());
        digits.collect()
    };
    layout.databases.iter().map(row).collect()
}

/// Databases of the first server by volume, counted from 1.
fn volumes(layout: &Layout) -> Vec<String> {
    let volume = |held: &Vec<usize>| {
        let numbers = held.iter().map(|database| (database + 1).to_string());
        numbers.collect::<Vec<_>>().join(",")
    };
    layout.volumes(0).iter().map(volume).collect()
}

/// Compares the fewest and most active databases of a survivor, and the lost databases.
fn failures(layout: &Layout, wanted: &Json) {
    let modes = play(layout, Rules { activate_lagged: true, witness: None });
    for (failure, numbers) in wanted.as_object().unwrap() {
        let mode = modes.iter().find(|mode| mode.failure.to_string() == *failure).unwrap();
        let (least, most) = mode.active().unwrap();
        let fewest = numbers[0].as_u64().unwrap_or(least as u64);
        let wanted = (fewest, &numbers[1], &numbers[2]);
        assert_eq!((least as u64, &most.into(), &mode.lost.into()), wanted, "{failure}");
    }
}
