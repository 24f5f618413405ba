//! The official workbook's values for drawn deployments: every key of every case.
//!
//! `oracle.jsonl` holds a third of the cases, chosen so that every kind of input occurs; all of
//! them are read from `../shared/reference` next to the repository if that folder exists. The first
//! line of a file gives the value of each key that a sizing may lack; each case lists the keys that
//! the workbook gets wrong.

#![expect(clippy::print_stderr, reason = "a test says what it skips")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::size;
use plan::Deployment;
use serde_json::Value as Json;
use sizing::{Sizing, Value};

/// The cases of the repository.
const OWN: &str = "tests/oracle.jsonl";

/// All cases, next to the repository.
const WHOLE: &str = "../../../../shared/reference/sizing-oracle.jsonl";

/// Values that the workbook gets wrong beyond those that the cases list, with the reason. Nothing
/// else may differ, and each of these must.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    ("A3-11", "cpu.util_site_failed_dc1", "fewer than no passive copies on a server"),
    ("A3-122", "cpu.util_site_failed_dc1", "fewer than no passive copies on a server"),
    ("P3-68", "cpu.util_one_failed_dc2", "fewer than no passive copies on a server"),
];

/// Cases of a file, after the line that explains them.
struct Oracle {
    about: Json,
    cases: Vec<Json>,
}

impl Oracle {
    /// The cases at `path`; `None` if there is no such file.
    fn read(path: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let about = lines.next().unwrap();
        Some(Self { about, cases: lines.collect() })
    }

    /// The value to assume for a key that a sizing lacks; `t*` matches each tier.
    fn absent_is(&self, key: &str) -> Option<&Json> {
        let (_, rest) = key.split_once('.')?;
        let tier = key.starts_with('t') && key[1..2].parse::<u32>().is_ok();
        let key = if tier { format!("t*.{rest}") } else { key.to_owned() };
        self.about["absent_is"].get(key)
    }

    /// The sizing's value for `key`, under another name that the file lists or its own; otherwise
    /// the value of a missing key.
    fn found(&self, sizing: &Sizing, key: &str) -> Option<Json> {
        let others = self.about["names"][key].as_array().into_iter().flatten();
        let mut names = others.filter_map(Json::as_str).chain([key]);
        let fact = names.find_map(|name| sizing.sheet.named(name));
        match fact.map(|fact| &fact.value) {
            Some(Value::Number(value)) => Some(Json::from(*value)),
            Some(Value::Decision(decision)) => Some(Json::from(decision.name())),
            None => self.absent_is(key).cloned(),
        }
    }

    /// Keys of a case that differ, with both values.
    fn differences(&self, case: &Json) -> Vec<(String, String)> {
        let text = case["deployment"].as_str().unwrap();
        let deployment = match Deployment::parse("case", text) {
            Ok(deployment) => deployment,
            Err(error) => return vec![("refused".to_owned(), error.to_string())],
        };
        let sizing = size(&deployment);
        let judged = |(key, _): &(&String, &Json)| case["exceptions"].get(*key).is_none();
        let expected = case["expected"].as_object().unwrap().iter();
        let differs = |(key, wanted): (&String, &Json)| {
            let found = self.found(&sizing, key);
            let same = found.as_ref().is_some_and(|found| self.agrees(found, wanted));
            (!same).then(|| (key.clone(), format!("{found:?}, wanted {wanted}")))
        };
        expected.filter(judged).filter_map(differs).collect()
    }

    fn agrees(&self, found: &Json, wanted: &Json) -> bool {
        let (Some(found), Some(wanted)) = (found.as_f64(), wanted.as_f64()) else {
            return found == wanted;
        };
        let tolerance = self.about["tolerance"].as_f64().unwrap();
        (found - wanted).abs() <= (tolerance * wanted.abs()).max(1e-9)
    }
}

/// The repository's own cases and, if the file with all of them exists, those.
fn oracles() -> Vec<(PathBuf, Oracle)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| {
        let path = root.join(path);
        let oracle = Oracle::read(&path);
        if oracle.is_none() {
            eprintln!("{} is absent, so its cases are not compared", path.display());
        }
        oracle.map(|oracle| (path, oracle))
    };
    [OWN, WHOLE].into_iter().filter_map(read).collect()
}

#[test]
fn every_value_of_every_case_is_the_workbooks() {
    for (path, oracle) in oracles() {
        let (mut by_key, mut excepted) = (BTreeMap::<_, Vec<String>>::new(), BTreeSet::new());
        for case in oracle.cases.iter().filter(|case| case.get("refused").is_none()) {
            let name = case["name"].as_str().unwrap();
            for (key, text) in oracle.differences(case) {
                if EXCEPTIONS.iter().any(|(case, other, _)| *case == name && *other == key) {
                    excepted.insert((name.to_owned(), key));
                } else {
                    by_key.entry(key).or_default().push(format!("{name}: {text}"));
                }
            }
        }
        let all = by_key.values().map(Vec::len).sum::<usize>();
        assert!(by_key.is_empty(), "{}: {all} values differ\n{by_key:#?}", path.display());
        assert_eq!(excepted.len(), EXCEPTIONS.len(), "{excepted:?}");
    }
}

#[test]
fn what_the_workbook_refuses_is_no_workable_design() {
    for (path, oracle) in oracles() {
        for case in oracle.cases.iter().filter(|case| case.get("refused").is_some()) {
            let deployment = Deployment::parse("case", case["deployment"].as_str().unwrap());
            let workable = deployment.is_ok_and(|deployment| size(&deployment).is_workable());
            assert!(!workable, "{}: {} {}", path.display(), case["name"], case["refused"]);
        }
    }
}
