//! All forms of a report agree on every run: pass or fail, requirements, results and gaps.

use record::RunRecord;
use record::synthetic::drawn;
use serde_json::Value;
use verdict::{Limit, Ruling, Verdict, judge};

use super::{drifting, too_small};
use crate::mailboxes::Carried;
use crate::{
    ReportForm, SUITE_PARTS, SuiteTest, TEXT_WIDTH, html, json, meaning, next, render_suite,
    suite_summary_in, summary, text, verdict_name,
};

const DRAWS: u64 = 150;

/// A run and the texts about it.
struct Told {
    run: RunRecord,
    verdict: Verdict,
}

impl Told {
    fn of(run: RunRecord) -> Self {
        Self { verdict: judge(&run), run }
    }

    fn drawn(seed: u64) -> Self {
        Self::of(drawn(seed))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&json(&self.run, &self.verdict)).expect("JSON")
    }

    fn text(&self) -> String {
        text(&self.run, &self.verdict)
    }

    fn summary(&self) -> String {
        summary(&self.run, &self.verdict)
    }
}

#[test]
fn every_form_has_the_same_headline_and_exit_status() {
    let lacking = [too_small(), drifting()].map(Told::of);
    for told in (0..DRAWS).map(Told::drawn).chain(lacking) {
        let name = verdict_name(&told.run, &told.verdict);
        let capitals = name.to_uppercase();
        let (begin, json) = (format!("{capitals}  "), told.json());
        assert!(told.summary().starts_with(&begin), "{name}: {}", told.summary());
        assert!(told.text().lines().any(|line| line.starts_with(&begin)), "{name}");
        let page = html(&told.run, &told.verdict);
        assert!(page.contains(&format!("<p class=\"verdict\">{name}</p>")), "{name}");
        assert_eq!(json["headline"], name);
        assert_eq!(json["exit_code"], told.verdict.exit_code());
        let word = json["verdict"].as_str().expect("a word").replace("simulated_", "");
        let code = ["pass", "fail", "cannot_judge"].iter().position(|of| *of == word);
        assert_eq!(code, Some(usize::from(told.verdict.exit_code())), "{word}");
    }
}

#[test]
fn the_verdict_follows_from_the_findings() {
    for told in (0..DRAWS).map(Told::drawn) {
        let json = told.json();
        let findings = json["findings"].as_array().expect("findings").iter();
        let outcomes: Vec<&str> =
            findings.filter_map(|finding| finding["outcome"].as_str()).collect();
        let has = |outcome: &str| outcomes.contains(&outcome);
        let follows = match told.verdict.outcome {
            Ruling::Pass => !has("fail") && !has("cannot_judge"),
            Ruling::Fail => has("fail"),
            Ruling::CannotJudge => !has("fail") && has("cannot_judge"),
            Ruling::Warn => false,
        };
        assert!(follows, "{:?}: {outcomes:?}", told.verdict.outcome);
    }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a page, without the marks of commands.
fn text_of_page(page: &str) -> String {
    let mut text = String::new();
    for piece in page.split('<') {
        text.push_str(piece.split_once('>').map_or(piece, |(_, after)| after));
    }
    for (reference, letter) in
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        text = text.replace(reference, letter);
    }
    plain(&text)
}

#[test]
fn every_form_gives_the_same_meaning_and_next_steps() {
    for told in (0..DRAWS).map(Told::drawn) {
        let (text, summary, json) = (plain(&told.text()), plain(&told.summary()), told.json());
        let page = text_of_page(&html(&told.run, &told.verdict));
        let said = meaning::sentences(&told.run, &told.verdict);
        let steps = next::steps(&told.run, &told.verdict);
        assert!(said.len() > 1 || told.verdict.exit_code() == 0, "{said:?} has no reason");
        for sentence in said.iter().chain(&steps) {
            assert!(text.contains(&plain(sentence)), "{sentence} is not in\n{}", told.text());
            assert!(summary.contains(&plain(sentence)), "{sentence} is not in\n{}", told.summary());
            let unmarked = plain(sentence).replace('`', "");
            assert!(page.contains(&unmarked), "{unmarked} is not in\n{page}");
        }
        assert_eq!(json["meaning"], Value::from(said));
        assert_eq!(json["next_steps"], Value::from(steps));
    }
}

/// A gap is in the headline if the run passed; a run that did not pass supports no mailbox.
#[test]
fn what_is_lacking_is_said_everywhere_or_nowhere() {
    let mut lacking = 0;
    for told in (0..4 * DRAWS).map(Told::drawn).chain([Told::of(too_small())]) {
        let has_passed = told.verdict.exit_code() == 0;
        let name = verdict_name(&told.run, &told.verdict);
        let said = meaning::sentences(&told.run, &told.verdict).join(" ");
        if has_passed {
            assert_eq!(said.contains("not enough"), name.contains("too small"), "{name}: {said}");
            let is_low = told.verdict.lacks_load();
            assert!(!is_low || name.contains("below plan") || name.contains("too small"), "{name}");
            lacking += usize::from(said.contains("not enough"));
        }
        let json = told.json();
        let carried = &json["mailboxes_carried"];
        let measured = &json["mailboxes_at_measured_load"];
        if has_passed {
            let room = json["mailboxes_with_room"].as_f64().unwrap_or(f64::INFINITY);
            let least = measured.as_f64().map(|by_io| by_io.min(room));
            assert_eq!(carried.as_f64(), least, "the smaller of both bounds");
        } else {
            assert!(carried.is_null(), "{carried}");
        }
        if let Some(measured) = measured.as_f64() {
            assert!((measured - Carried::of(&told.run).by_io).abs() < f64::EPSILON);
        }
    }
    assert!(lacking > 3, "{lacking}");
}

/// Tests of one set as they are drawn, their verdicts beside them.
fn drawn_set(seed: u64) -> Vec<Told> {
    let mut tests = Vec::new();
    for (number, (_, kind)) in (0..).zip(SUITE_PARTS) {
        let mut run = drawn(4 * seed + number);
        run.start.test = kind;
        tests.push(Told::of(run));
    }
    tests
}

#[test]
fn every_form_of_a_set_has_one_headline_and_exit_status() {
    for told in (0..DRAWS / 3).map(drawn_set) {
        let mut tests = Vec::new();
        for (test, (folder, kind)) in told.iter().zip(SUITE_PARTS) {
            let measured = Ok((&test.run, &test.verdict));
            tests.push(SuiteTest { kind, folder: folder.to_owned(), measured });
        }
        let json: Value =
            serde_json::from_str(&render_suite(ReportForm::Json, &tests)).expect("JSON");
        let name = json["headline"].as_str().expect("a headline");
        let begin = format!("{}  ", name.to_uppercase());
        let summary = suite_summary_in(&tests, "set");
        assert!(summary.starts_with(&begin), "{name}: {summary}");
        let text = render_suite(ReportForm::Text { width: TEXT_WIDTH }, &tests);
        assert!(text.lines().any(|line| line.starts_with(&begin)), "{name}: {text}");
        let page = render_suite(ReportForm::Page, &tests);
        assert!(page.contains(&format!("<p class=\"verdict\">{name}</p>")), "{name}");
        let worst = told.iter().map(|test| test.verdict.outcome);
        let has = |code| worst.clone().any(|of| of.exit_code() == code);
        let expected = if has(1) { 1 } else { 2 * u8::from(has(2)) };
        assert_eq!(json["exit_code"], expected, "{name}");
        let lacks_room = told.iter().any(|test| test.verdict.lacks_room());
        assert!(!lacks_room || name.ends_with("too small"), "{name}");
        for test in &told {
            let name = verdict_name(&test.run, &test.verdict);
            assert!(page.contains(&name), "{name} of a test");
        }
    }
}

/// Parses a number as a report prints it.
fn parsed(text: &str) -> f64 {
    let digits: String = text
        .chars()
        .take_while(|c| !c.is_whitespace() && *c != '/')
        .filter(|c| *c != ',')
        .collect();
    digits.parse().expect("a number")
}

/// After rounding, a number and its limit must still compare as the outcome requires.
#[test]
fn printed_numbers_lie_on_the_side_of_their_outcome() {
    for seed in 0..4 * DRAWS {
        for finding in judge(&drawn(seed)).findings {
            let (Some(measured), Some(limit)) = (finding.measured, finding.limit) else { continue };
            if finding.deciding_evidence().is_some() {
                continue;
            }
            let shown = meaning::quantity_beside(measured, limit, finding.unit);
            let beside = meaning::limit_beside(measured, limit, finding.unit);
            let keeps = match limit {
                Limit::AtMost(_) => parsed(&shown) <= parsed(&beside),
                Limit::AtLeast(_) => parsed(&shown) >= parsed(&beside),
            };
            let is_pass = finding.outcome == Ruling::Pass;
            assert_eq!(keeps, is_pass, "{seed}: {shown} beside {beside}: {finding:?}");
        }
    }
}
