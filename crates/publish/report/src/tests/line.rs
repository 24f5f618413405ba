//! The report of a search for the load line, against files in `golden`.

use record::RunRecord;
use verdict::{Estimate, LoadStep, Trend};

use super::golden::check;
use super::passing;
use crate::{LineReport, line_html, line_json, line_text};

/// A mean with an uncertainty of one fiftieth.
fn near(mean: f64) -> Estimate {
    Estimate { mean, half_width: Some(mean / 50.0) }
}

/// A load with this target and rate, with reads of `read_ms` and log writes of a quarter of that.
fn step(asked_iops: Option<f64>, iops: f64, read_ms: f64, holds: Option<bool>) -> LoadStep {
    LoadStep {
        asked_iops,
        sessions: 8,
        iops: near(iops),
        read_ms: near(read_ms),
        log_write_ms: Estimate { mean: read_ms / 4.0, half_width: None },
        trend: Some(Trend::Steady),
        holds,
        is_damaged: false,
        objections: if holds == Some(true) { Vec::new() } else { vec!["read-latency-average"] },
        readings: vec![("read-latency-average", read_ms, 20.0)],
    }
}

/// A search that found a line, and included a load with a falling rate and an inconclusive one.
fn steps() -> Vec<LoadStep> {
    vec![
        step(None, 1_000.0, 16.0, Some(true)),
        step(Some(500.0), 502.0, 6.0, Some(true)),
        LoadStep {
            trend: Some(Trend::Drifting(-0.08)),
            ..step(Some(750.0), 753.0, 9.5, Some(true))
        },
        LoadStep { objections: vec!["other-programs"], ..step(Some(900.0), 880.0, 21.0, None) },
        step(Some(900.0), 903.0, 14.0, Some(true)),
        LoadStep { trend: None, ..step(Some(1_000.0), 995.0, 26.0, Some(false)) },
    ]
}

/// The glossary entries that the page of a line links to.
pub(super) fn metrics() -> Vec<&'static str> {
    with_line(&steps(), |line| crate::line::document(line).metrics())
}

fn with_line<T>(steps: &[LoadStep], use_it: impl FnOnce(&LineReport<'_>) -> T) -> T {
    let mut run: RunRecord = passing();
    run.start.name = "array-a </title>".to_owned();
    use_it(&LineReport { run: &run, steps, required_iops: Some(800.0), is_complete: true })
}

/// The page without its styles and scripts, which the repository already contains once.
fn content(page: &str) -> String {
    without("script", &without("style", page))
}

fn without(element: &str, page: &str) -> String {
    let begin = format!("<{element}");
    let mut pieces = page.split(&begin);
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, rest) = piece.split_once(&format!("</{element}>")).expect("an element ends");
        kept.push_str(rest);
    }
    kept
}

#[test]
fn a_line_is_told_as_before_as_page_text_and_json() {
    let (page, text, json) =
        with_line(&steps(), |line| (line_html(line), line_text(line), line_json(line)));
    check("line.html", include_str!("../../golden/line.html"), &content(&page));
    check("line.txt", include_str!("../../golden/line.txt"), &text);
    check("line.json", include_str!("../../golden/line.json"), &json);
}

#[test]
fn a_page_of_a_line_explains_its_terms_and_loads_nothing() {
    let page = with_line(&steps(), line_html);
    for term in ["load-line", "asked-load", "steady-load", "held-load", "confidence-interval"] {
        for place in [format!("href=\"#g-{term}\""), format!("id=\"g-{term}\"")] {
            assert!(page.contains(&place), "{place}");
        }
    }
    assert!(!page.contains("array-a </title>") && !page.contains("src=\"http"));
}

#[test]
fn a_free_load_above_the_line_is_explained() {
    let mut two = steps();
    two.truncate(2);
    let text = with_line(&two, line_text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("LOAD 502 IOPS"), "{text}");
    assert!(text.contains("The free load, 1,000 IOPS, also kept every rule"), "{text}");
    let alone = with_line(&two[..1], line_text);
    assert!(!alone.contains("The free load"), "it is the line: {alone}");
}

#[test]
fn a_search_without_a_load_that_holds_has_no_line() {
    let none =
        vec![step(None, 300.0, 40.0, Some(false)), step(Some(150.0), 149.0, 30.0, Some(false))];
    let text = with_line(&none, line_text);
    assert!(text.contains("NO LOAD LINE") && text.contains("No load was seen"), "{text}");
}
