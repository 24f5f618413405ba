//! Renders records and findings as a page, as text, as JSON, and as the closing lines of a run.
//!
//! Page and text are two renderings of one [`document::Document`], so they cannot differ in
//! content. Nothing here touches a disk or a clock: the same record always gives the same bytes.

pub mod chart;
mod comparison;
mod contract;
mod deciding;
pub mod document;
mod fleet;
mod form;
pub mod format;
mod glossary;
mod html;
mod imported;
mod intervals;
mod json;
mod line;
mod listed;
mod mailboxes;
mod margin;
pub mod meaning;
mod next;
mod passes;
mod result_xml;
mod sections;
pub mod simulated;
mod storage;
mod suite;
mod summary;
mod text;
mod trend;

use record::RunRecord;
use verdict::Verdict;

#[cfg(test)]
pub(crate) use comparison::comparison_text;
pub use comparison::{MOST_RUNS, comparison_names, render_comparison};
pub use contract::answer;
pub use deciding::deciding_number;
pub use fleet::{
    ComparedHost, FleetSheet, FleetSheetHost, FleetSheetPeriod, fleet_csv, fleet_html,
    render_fleets,
};
pub use form::ReportForm;
pub use format::started;
pub use html::{CROSSHAIR, STYLE, block_html, escape, glossary_html, served as served_page};
pub use imported::imported_schema;
pub use json::{outcome_name, report_schema, verdict_of};
pub use line::{LineReport, line_html, line_json, line_text};
pub use listed::{
    RunEntry, RunState, TOO_SMALL, achieved_iops, backup_mib_per_second, is_cut_off, lacking,
    mean_ms, set_headline, started_iso, started_ns, verdict_name,
};
pub use margin::margin_percent;
pub use next::{
    BestOfSweep, Interruption, OnArrays, SimulatedDeployment, deployment_steps, sweep_steps,
    time_for_verdict,
};
pub use result_xml::result_xml;
pub use sections::summary::subject;
pub use sections::tone;
pub use storage::{StorageLook, StorageTally, storage_html, storage_json, worst_first};
pub use suite::{
    NamedSet, REPLACED, SUITE_PARTS, SuiteTest, Unmeasured, render_suite, render_suites,
    split_replaced, suite_of, suite_outcome, suite_schema, suite_summary_in, suite_xml,
};
pub use text::TEXT_WIDTH;
pub use trend::{TrendPoint, trend_html};

/// The report before rendering, for papers that embed it.
pub fn document(run: &RunRecord, verdict: &Verdict) -> document::Document {
    match run.imported() {
        Some(imported) => imported::document(run, verdict, imported),
        None => sections::document(run, verdict),
    }
}

/// Renders any document as an HTML page in the style of reports.
pub fn document_html(document: &document::Document) -> String {
    html::page(document)
}

/// Renders any document as plain text in lines of at most `width` characters.
pub fn document_text(document: &document::Document, width: usize) -> String {
    text::render_within(document, width)
}

/// The report of a run in `folder`, a path quoted for a shell, as plain text in lines of at most
/// `width` characters: its next steps name the folder.
pub fn text_in(run: &RunRecord, verdict: &Verdict, folder: &str, width: usize) -> String {
    let mut document = document(run, verdict);
    sections::name_folder(&mut document, (run, verdict), folder);
    text::render_within(&document, width)
}

/// One self-contained HTML page: light and dark, printable; its only script reads out chart values.
pub fn html(run: &RunRecord, verdict: &Verdict) -> String {
    html::page(&document(run, verdict))
}

/// The report as plain text, at most 100 columns wide except for foreign text.
pub fn text(run: &RunRecord, verdict: &Verdict) -> String {
    text::render(&document(run, verdict))
}

/// The report as JSON for programs; `docs/report-json.md` describes every member.
pub fn json(run: &RunRecord, verdict: &Verdict) -> String {
    match run.imported() {
        Some(imported) => imported::json(run, verdict, imported),
        None => json::render(run, verdict),
    }
}

/// Every interval as comma-separated values: one line per database and kind of request.
pub fn csv(run: &RunRecord) -> String {
    intervals::csv(run)
}

/// The last lines of a run on a terminal: the verdict, its meaning, and the next step.
pub fn summary(run: &RunRecord, verdict: &Verdict) -> String {
    summary::render(run, verdict, &next::steps(run, verdict))
}

/// The last lines of a run in `folder`, a path quoted for a shell: the next step names the folder.
pub fn summary_in(run: &RunRecord, verdict: &Verdict, folder: &str) -> String {
    summary::render(run, verdict, &next::steps_in(run, verdict, folder))
}

#[cfg(test)]
mod tests;
