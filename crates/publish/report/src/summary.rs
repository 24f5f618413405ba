//! The last lines of a run: short enough for one glance at a terminal.

use std::fmt::Write as _;

use record::RunRecord;
use verdict::Verdict;

use crate::document::Banner;

/// The verdict, the numbers, their meaning, and the next steps.
pub(crate) fn render(run: &RunRecord, verdict: &Verdict, steps: &[String]) -> String {
    let mut text = banner(&crate::document(run, verdict).banner);
    for step in steps {
        let _ = writeln!(text, "Next: {step}");
    }
    text
}

/// The verdict, the numbers and their meaning.
pub(crate) fn banner(banner: &Banner) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}  {} {}",
        banner.verdict.to_uppercase(),
        banner.number,
        banner.number_unit
    );
    for figure in &banner.figures {
        let _ = writeln!(text, "  {}", figure.line());
    }
    text.push('\n');
    for sentence in &banner.meaning {
        let _ = writeln!(text, "{sentence}");
    }
    text
}
