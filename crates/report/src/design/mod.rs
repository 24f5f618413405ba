//! A sizing as a page, as text, as JSON, and one number explained.
//!
//! The same document as a run's report, so that both look and link alike; only the tables differ.

mod columns;
mod explain;
mod growth;
mod json;
mod layout;
mod material;
mod pictures;
mod scenarios;
mod tables;

use plan::Deployment;
use plan::deployment::{Mode, SiteModel};
use sizing::{FailureMode, Key, ProcessorKey, ServerKind, Severity, Sizing};

use crate::document::{Banner, Document, Figure, Tone};
use crate::format::{number, three_digits};
use crate::{html, text};

pub use explain::explain;
pub use json::failure_json;
pub(crate) use pictures::{PicturePart, bars_svg};
pub use scenarios::{Candidate, ranked, scenarios, scenarios_json};

/// A deployment and what it comes to.
#[derive(Clone, Copy, Debug)]
pub struct Sized<'a> {
    /// The deployment.
    pub deployment: &'a Deployment,
    /// What it comes to.
    pub sizing: &'a Sizing,
}

/// How the page differs from others: keys and formulas are behind a switch, and a printed page is
/// short.
const STYLE: &str = include_str!("style.css");

/// The switch, above everything.
const SWITCH: &str = "<label class=\"keys\"><input type=\"checkbox\" id=\"keys\"> Show the key of \
                      each number, and every formula</label>\n";

/// One self-contained HTML page, every number with its formula; of a sweep with the table of all
/// `candidates`, which are none where there was no sweep.
pub fn sizing_html(sized: Sized<'_>, candidates: &[Candidate]) -> String {
    let mut document = document(sized);
    document.sections.extend(scenarios::section(candidates));
    document.sections.push(tables::trace(sized));
    let page = html::page(&document);
    let page = page.replacen("</style>", &format!("{STYLE}</style>"), 1);
    page.replacen("<main>\n", &format!("<main>\n{SWITCH}"), 1)
}

/// The same as plain text, without the formulas.
pub fn sizing_text(sized: Sized<'_>) -> String {
    text::render(&document(sized))
}

/// Every number with its formula for programs.
pub fn sizing_json(sized: Sized<'_>) -> String {
    json::render(sized)
}

/// The document that page and text show.
pub(crate) fn document(sized: Sized<'_>) -> Document {
    Document { banner: banner(sized), sections: tables::sections(sized) }
}

/// A number as a table shows it; a dash where it does not apply.
fn shown(sized: Sized<'_>, key: Key) -> String {
    let found = sized.sizing.number(key);
    found.map_or_else(|| "-".to_owned(), three_digits)
}

fn banner(sized: Sized<'_>) -> Banner {
    let deployment = sized.deployment;
    let workable = sized.sizing.is_workable();
    let mode = match deployment.mode {
        Mode::Compatible => "as the official workbook calculates, known mistakes included",
        Mode::Corrected => "known mistakes of the official workbook corrected",
    };
    Banner {
        subject: deployment.name.clone(),
        started: format!("{}, {mode}", deployment.product.name),
        verdict: if workable { "Workable" } else { "Not workable" }.to_owned(),
        tone: if workable { Tone::Pass } else { Tone::Fail },
        number: shown(sized, Key::ServerAll),
        number_unit: "servers",
        number_metric: "servers-needed",
        meaning: meaning(sized),
        figures: figures(sized),
    }
}

fn meaning(sized: Sized<'_>) -> Vec<String> {
    let deployment = sized.deployment;
    let mut sentences = vec![format!(
        "{} mailboxes in {} databases with {} of each.",
        shown(sized, Key::MailboxesTotal),
        shown(sized, Key::DatabaseAll),
        match deployment.total_copies() {
            1 => "one copy".to_owned(),
            copies => format!("{copies} copies"),
        },
    )];
    sentences.push(match deployment.site_model() {
        None => "One site.".to_owned(),
        Some(SiteModel::ActivePassive) => "Two sites, of which the second waits.".to_owned(),
        Some(_) => "Two sites, both of which serve users.".to_owned(),
    });
    let violations = sized.sizing.findings.iter();
    let violations = violations.filter(|finding| finding.severity == Severity::Violation);
    match violations.count() {
        0 => sentences.push("Nothing forbids to build it; measure it before you buy.".to_owned()),
        1 => sentences.push("One finding forbids to build it.".to_owned()),
        count => sentences.push(format!("{count} findings forbid to build it.")),
    }
    sentences
}

fn figures(sized: Sized<'_>) -> Vec<Figure> {
    let mailboxes = format!("of {} mailboxes", shown(sized, Key::DatabaseMailboxes));
    let used = sized.sizing.number(Key::Processor(
        ProcessorKey::Util,
        FailureMode::Worst,
        ServerKind::First,
    ));
    let used = used.map_or_else(
        || "processors not sized: no spec_rate".to_owned(),
        |used| format!("{} % of the processors at the worst", number(used * 100.0, 1)),
    );
    let build = sized.sizing.architecture.first.name();
    let ssds = sized.sizing.number(Key::MetaCacheSsdsAll);
    let ssds = ssds.map(|ssds| format!(", and {} SSDs", three_digits(ssds)));
    let in_all = format!("in all, {build}{}", ssds.unwrap_or_default());
    vec![
        figure("Databases", "databases-needed", shown(sized, Key::DatabaseAll), mailboxes),
        figure("Disks", "disks-needed", shown(sized, Key::DiskAll), in_all),
        figure(
            "Memory",
            "memory-per-server",
            format!("{} GB", shown(sized, Key::MemoryRamGb(ServerKind::First))),
            "per server".to_owned(),
        ),
        figure(
            "Active at worst",
            "active-databases",
            shown(sized, Key::ServerWorstActiveDbs(ServerKind::First)),
            format!("databases per server; {used}"),
        ),
    ]
}

const fn figure(
    label: &'static str,
    metric: &'static str,
    value: String,
    remark: String,
) -> Figure {
    Figure { label, metric, value, remark, tone: Tone::Plain }
}
