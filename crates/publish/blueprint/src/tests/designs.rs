//! All forms of a randomly drawn design agree: whether it is feasible, its targets, the figures of
//! its simulation, its gaps, and the changes to make.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use plan::Deployment;
use provision::size;
use record::Simulation;
use record::synthetic::drawn;
use report::achieved_iops;
use report::document::{Block, Document};
use serde_json::Value;
use sizing::{Key, Severity, ShownQuantity, Sizing};
use units::three_digits;
use units::{Prng, Seed};
use verdict::Ruling;

use super::sizing_text;
use crate::{
    Candidate, DesignEdit, PredictedDesign, SimulatedEdit, Sized, scenarios, scenarios_json,
    sizing_html, sizing_json,
};

const DRAWS: u64 = 120;

/// A drawn design in every form.
struct Shown {
    seed: u64,
    deployment: Deployment,
    sizing: Sizing,
    predicted: Option<PredictedDesign>,
    text: String,
    page: String,
    json: Value,
}

/// Drawn once for all tests.
static ALL: LazyLock<Vec<Shown>> = LazyLock::new(|| {
    let all: Vec<Shown> = (0..DRAWS).filter_map(Shown::drawn).collect();
    assert!(all.len() > 40, "only {} documents are sound", all.len());
    all
});

struct Draw(Prng);

impl Draw {
    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        let at = self.0.below(values.len() as u64);
        values[usize::try_from(at).expect("invariant: below the length")]
    }

    /// A deployment; about half of them break a rule.
    fn document(&mut self) -> String {
        let mut text = format!(
            "name = \"Drawn\"\nproduct = \"2013\"\nmode = \"{}\"\n[[tier]]\nmailboxes = {}\n\
             messages_per_day = {}\nsize_limit = \"{}\"\n[availability]\nservers_per_site = {}\n\
             copies = {}\n",
            self.of(&["corrected", "compatible"]),
            self.of(&[150, 2_000, 5_000, 24_000, 90_000]),
            self.of(&[50, 120, 400]),
            self.of(&["500MiB", "2GiB", "10GiB", "40GiB"]),
            self.of(&[1, 2, 4, 8, 17]),
            self.of(&[1, 2, 3]),
        );
        let parts = [
            ["", "[second_site]\nmodel = \"active/active\"\ncopies = 1\n"],
            ["", "[servers]\nspec_rate = 540\n"],
            ["", "[transport]\nsafety_net = \"40d\"\n"],
            ["", "[storage]\nbuild = \"jbod\"\n"],
            ["", "[disks]\nsystem = { size = \"1.2TB\" }\n"],
            ["", "[replication]\nlink_mbps = 10\n"],
        ];
        for part in parts {
            text += self.of(&part);
        }
        text
    }
}

/// The simulation of a design, of any outcome.
fn prediction(seed: u64) -> PredictedDesign {
    let mut run = drawn(seed);
    let array = Simulation { array: "shelf".to_owned(), ..Simulation::default() };
    run.start.simulated.get_or_insert(Box::new(array));
    let verdict = verdict::judge(&run);
    let is_pass = verdict.outcome == Ruling::Pass;
    let edit = DesignEdit {
        section: "storage".to_owned(),
        line: "several_databases_per_volume = false".to_owned(),
        effect: "load of a disk 33 % instead of 98 %".to_owned(),
        also: vec!["cost CHF 78,000 instead of 72,809".to_owned()],
        cost: Some(78_000.0),
        simulated: Some(SimulatedEdit::of(&run, &verdict)),
    };
    let lighter = DesignEdit { line: "usable_io = 70".to_owned(), simulated: None, ..edit.clone() };
    PredictedDesign {
        run,
        verdict,
        server: "EX01".to_owned(),
        databases: 3,
        sets: 7,
        report: "predicted/report.html".to_owned(),
        edits: if is_pass { Vec::new() } else { vec![edit, lighter] },
    }
}

impl Shown {
    /// The design of a seed; `None` if its document contradicts itself.
    fn drawn(seed: u64) -> Option<Self> {
        let mut draw = Draw(Prng::new(Seed(seed)));
        let deployment = Deployment::parse("d.toml", &draw.document()).ok()?;
        let sizing = size(&deployment);
        let predicted = (!seed.is_multiple_of(3)).then(|| prediction(seed));
        let sized = Sized { predicted: predicted.as_ref(), ..Sized::new(&deployment, &sizing) };
        let (text, page) = (sizing_text(sized), sizing_html(sized, &[]));
        let json = serde_json::from_str(&sizing_json(sized)).expect("JSON");
        Some(Self { seed, deployment, sizing, predicted, text, page, json })
    }

    fn sized(&self) -> Sized<'_> {
        let plain = Sized::new(&self.deployment, &self.sizing);
        Sized { predicted: self.predicted.as_ref(), ..plain }
    }

    fn document(&self) -> Document {
        crate::design::document(self.sized())
    }

    /// Text and page with single spaces between words; the page without its escapes and code
    /// elements.
    fn forms(&self) -> [String; 2] {
        let page = self.page.replace("<code>", "`").replace("</code>", "`").replace("&#39;", "'");
        let page = page.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        [plain(&self.text), plain(&page.replace("&amp;", "&"))]
    }

    fn outcome(&self) -> Option<Ruling> {
        self.predicted.as_ref().map(|of| of.verdict.outcome)
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Violations make a design unworkable; the simulation shows whether it carries its load. Every
/// form says both, even the exit status.
#[test]
fn every_form_agrees_on_workable_and_on_the_exit_status() {
    let mut seen = BTreeSet::new();
    for shown in ALL.iter() {
        let seed = shown.seed;
        let findings = &shown.sizing.findings;
        let is_workable = findings.iter().all(|of| of.severity != Severity::Violation);
        let headline = shown.json["headline"].as_str().expect("a headline").to_owned();
        assert_eq!(shown.json["workable"], is_workable, "{seed}");
        assert_eq!(headline.starts_with("Not workable"), !is_workable, "{seed}: {headline}");
        let first =
            shown.text.lines().find(|line| line.contains("WORKABLE") || line.contains("RULES"));
        let begin = format!("{}  ", headline.to_uppercase());
        assert!(first.is_some_and(|line| line.starts_with(&begin)), "{seed}: {}", shown.text);
        assert!(shown.page.contains(&format!("<p class=\"verdict\">{headline}</p>")), "{seed}");
        let code = match (is_workable, shown.outcome()) {
            (false, _) | (true, Some(Ruling::Fail)) => 1,
            (true, Some(Ruling::CannotJudge)) => 2,
            _ => 0,
        };
        assert_eq!(shown.json["exit_code"], code, "{seed}: {headline}");
        assert_eq!(shown.sized().exit_code(), code, "{seed}: {headline}");
        let [text, page] = shown.forms();
        for form in [&text, &page] {
            assert_eq!(form.contains("No rule is violated."), is_workable, "{seed}: {form}");
            assert!(!form.contains("space was not checked"), "{seed}: {form}");
        }
        assert!(text.contains(&format!("Exit status {code}: ")), "{seed}: {text}");
        assert!(!page.contains("Exit status") && !page.contains("report.html"), "{seed}: {page}");
        seen.insert(headline);
    }
    assert!(seen.len() >= 7, "{seen:?}");
}

/// Findings have one order and one wording: worst first.
#[test]
fn every_form_has_the_same_findings_in_the_same_order() {
    for shown in ALL.iter() {
        let listed = shown.json["findings"].as_array().expect("findings").clone();
        let weight = |of: &Value| match of["severity"].as_str() {
            Some("violation") => 2,
            Some("warning") => 1,
            _ => 0,
        };
        assert!(listed.is_sorted_by(|one, two| weight(one) >= weight(two)), "{listed:?}");
        let document = shown.document();
        let section = document.sections.iter().find(|section| section.id == "findings");
        let rows = match section.and_then(|section| section.blocks.first()) {
            Some(Block::Table(table)) => &table.rows[..],
            _ => &[],
        };
        let of_rows: Vec<[&str; 3]> =
            rows.iter().map(|row| [0, 2, 3].map(|cell| &*row.cells[cell].text)).collect();
        let of_json: Vec<[&str; 3]> = listed
            .iter()
            .map(|of| ["severity", "text", "remedy"].map(|name| of[name].as_str().expect("text")))
            .collect();
        assert_eq!(of_rows, of_json, "{}", shown.seed);
        for [_, text, remedy] in of_json {
            let page = &shown.forms()[1];
            assert!(page.contains(&plain(text)) && page.contains(&plain(remedy)), "{text}");
        }
    }
}

/// Numbers with a unit in a text: `1,798 GiB`, `85.3 %`.
fn quantities(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let unit = |word: &str| {
        let word = word.trim_end_matches([',', ';', ':', '.', ')']);
        ["GB", "TB", "GiB", "TiB", "%", "Mb/s"].into_iter().find(|unit| *unit == word)
    };
    words
        .windows(2)
        .filter(|pair| pair[0].starts_with(|first: char| first.is_ascii_digit()))
        .filter_map(|pair| unit(pair[1]).map(|unit| format!("{} {unit}", pair[0])))
        .collect()
}

/// Limits of rules and sizes of disks on sale appear in no table.
fn is_known(quantity: &str, text: &str) -> bool {
    ["80 %", "5 %", "10 %"].contains(&quantity) || text.contains(&format!("{quantity} disks"))
}

/// A finding and a table must not round a quantity differently, or use different units.
#[test]
fn a_quantity_of_a_finding_reads_as_in_the_tables() {
    let mut count = 0;
    for shown in ALL.iter() {
        let facts = shown.sizing.sheet.facts().iter();
        let written: BTreeSet<String> = facts.map(|of| ShownQuantity::of(of).written()).collect();
        for finding in &shown.sizing.findings {
            for text in [&*finding.text, &*finding.remedy] {
                for quantity in quantities(text).into_iter().filter(|of| !is_known(of, text)) {
                    assert!(written.contains(&quantity), "{}: {quantity}: {text}", shown.seed);
                    count += 1;
                }
            }
        }
        if let Some(least) = shown.sizing.number(Key::DiskSystemLeastGb) {
            let least = ShownQuantity::of_number(Key::DiskSystemLeastGb, least).written();
            let bill = format!("{least} or more");
            assert!(plain(&shown.page).contains(&bill), "{bill}");
        }
    }
    assert!(count > 50, "{count}");
}

/// The mailboxes in the headline are those of the document, in every form.
#[test]
fn every_form_names_what_was_asked_for() {
    for shown in ALL.iter() {
        let key = Key::MailboxesTotal;
        let mailboxes = shown.json["values"][&*key.name()]["value"].as_f64().expect("a number");
        let given: f64 = shown.deployment.tiers.iter().map(|of| of.mailboxes).sum();
        assert!((mailboxes - given).abs() < 1e-6, "{}: {mailboxes}, {given}", shown.seed);
        let said = format!("{} mailboxes in ", ShownQuantity::of_number(key, mailboxes).written());
        for form in shown.forms() {
            assert!(form.contains(&said), "{}: {said}", shown.seed);
        }
        let candidate = Candidate::of(Vec::new(), Ok(shown.deployment.clone()));
        let ranked = [candidate];
        let json = scenarios_json(&ranked);
        assert_eq!(json["ranked"][0]["workable"], shown.json["workable"], "{}", shown.seed);
        let row = scenarios(&ranked).lines().nth(1).expect("a row").trim_start().to_owned();
        assert_eq!(row.starts_with('-'), shown.json["workable"] == false, "{row}");
    }
}

/// The simulation's result, the deciding number and the next steps are the same in every form.
#[test]
fn every_form_names_what_was_reached_and_what_to_change() {
    let mut lacking = 0;
    for shown in ALL.iter() {
        let (Some(predicted), json) = (&shown.predicted, &shown.json["prediction"]) else {
            continue;
        };
        let seed = shown.seed;
        let has_passed = matches!(predicted.verdict.outcome, Ruling::Pass | Ruling::Warn);
        let reached = achieved_iops(&predicted.run).map(three_digits);
        let asked = predicted.run.start.settings.target_iops.map(three_digits);
        let verb = if has_passed { "carries" } else { "reached" };
        let load = match (reached.unwrap_or_else(|| "-".to_owned()), asked) {
            (reached, Some(asked)) => format!("EX01 {verb} {reached} of {asked} IOPS."),
            (reached, None) => format!("EX01 {verb} {reached} IOPS."),
        };
        let headline = shown.json["headline"].as_str().expect("a headline");
        let lacks = report::lacking(&predicted.verdict);
        assert!(lacks.is_none_or(|lacks| headline.contains(lacks)), "{seed}: {headline}");
        lacking += usize::from(lacks.is_some());
        for form in shown.forms() {
            assert!(form.contains(&load), "{seed}: {load}");
            let deciding = json["deciding"].as_str();
            assert!(deciding.is_none_or(|of| form.contains(of)), "{seed}: {deciding:?}");
        }
        assert_eq!(json["edits"].as_array().map(Vec::len), Some(predicted.edits.len()));
        assert_eq!(predicted.edits.is_empty(), has_passed, "{seed}");
        for edit in json["edits"].as_array().into_iter().flatten() {
            // None passes, and one was not simulated.
            let named = format!("[storage] {}, simul", edit["line"].as_str().expect("a line"));
            for form in shown.forms() {
                assert_eq!(form.contains(&named), edit["simulated"].is_string(), "{seed}: {named}");
            }
        }
    }
    assert!(lacking > 0);
}
