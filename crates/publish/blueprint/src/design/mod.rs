//! A sizing as a page, as text, as JSON, and one number explained.
//!
//! It uses the same document type as a run's report, so that both look and link alike; only the
//! tables differ.

mod answer;
mod bill;
mod caveats;
mod columns;
mod edits;
mod explain;
mod growth;
mod json;
mod layout;
mod material;
mod origin;
mod page;
mod pictures;
mod predicted;
mod prices;
mod scenarios;
mod tables;

use plan::Deployment;
use plan::deployment::{Mode, SiteModel};
use report::document::{Banner, Document, Figure, Tone};
use sizing::{Key, ServerKind, Severity, ShownQuantity, Sizing};
use units::{counted, three_digits};

use answer::DesignAnswer;

pub(crate) use answer::UNSIZED;
pub(crate) use edits::tried;
pub use edits::{DesignEdit, SimulatedEdit, written_edits};
pub use explain::explain;
pub use json::failure_json;
pub(crate) use json::not_sized;
pub use page::sizing_html;
pub(crate) use pictures::{PicturePart, bars_svg};
pub use predicted::PredictedDesign;
pub use scenarios::{Candidate, ranked, scenarios, scenarios_json};

/// A deployment and its sizing.
#[derive(Clone, Copy, Debug)]
pub struct Sized<'a> {
    /// The deployment.
    pub deployment: &'a Deployment,
    /// The sizing.
    pub sizing: &'a Sizing,
    /// A simulation of its disks; `None` if there was none.
    pub predicted: Option<&'a PredictedDesign>,
    /// Why there is no simulation.
    pub unsimulated: Unsimulated<'a>,
}

/// Why a design was not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsimulated<'a> {
    /// It was not requested.
    NotRequested,
    /// It was not requested, and cannot be: no model knows its disks.
    UnknownDisks,
    /// It was requested and refused for this reason.
    Refused(&'a str),
}

impl Unsimulated<'_> {
    /// What a design that violates no rule still lacks.
    fn sentence(self) -> String {
        let said = "Latency and failures were not simulated";
        match self {
            Self::NotRequested => format!(
                "{said} (`size --predict`, `size --prove`): do that, and test the hardware, before \
                 you buy it."
            ),
            Self::UnknownDisks => format!(
                "{said}, since no model knows disks of this type: test the hardware before you buy \
                 it."
            ),
            Self::Refused(reason) => format!(
                "{said}: {reason}. Test the hardware before you buy it.",
                reason = reason.trim_end_matches('.')
            ),
        }
    }
}

impl<'a> Sized<'a> {
    /// A deployment that was sized and not simulated.
    pub const fn new(deployment: &'a Deployment, sizing: &'a Sizing) -> Self {
        Self { deployment, sizing, predicted: None, unsimulated: Unsimulated::NotRequested }
    }

    /// The combined answer of rules and simulation.
    fn answer(self) -> DesignAnswer {
        let is_refused = matches!(self.unsimulated, Unsimulated::Refused(_));
        let rules = (self.sizing.is_workable(), self.sizing.has_unsized_processors());
        DesignAnswer::new(rules, (self.predicted, is_refused))
    }

    /// The exit status of `size`: 0 pass, 1 fail, 2 if no rule is violated and the simulation is
    /// inconclusive or refused.
    pub fn exit_code(self) -> u8 {
        self.answer().exit_code()
    }
}

/// The same as plain text in lines of at most `width` characters, without the formulas.
pub fn sizing_text_within(sized: Sized<'_>, width: usize) -> String {
    let mut document = document(sized);
    document.banner.meaning.extend(for_the_terminal(sized));
    report::document_text(&document, width)
}

/// What a customer's page leaves out: the files of the simulation, and the exit status.
fn for_the_terminal(sized: Sized<'_>) -> impl Iterator<Item = String> {
    let report = sized.predicted.map(|of| format!("Whole report: {}", of.report));
    report.into_iter().chain([sized.answer().exit_status()])
}

/// Every number with its formula, as JSON.
pub fn sizing_json(sized: Sized<'_>) -> String {
    json::render(sized)
}

/// The document that page and text show.
pub(crate) fn document(sized: Sized<'_>) -> Document {
    let names = vec![sized.deployment.name.clone()];
    Document { banner: banner(sized), sections: tables::sections(sized), names }
}

/// A number with its unit for a table; a dash if it does not apply.
fn shown(sized: Sized<'_>, key: Key) -> String {
    let found = sized.sizing.number(key);
    found.map_or_else(|| "-".to_owned(), |value| ShownQuantity::of_number(key, value).written())
}

fn banner(sized: Sized<'_>) -> Banner {
    let deployment = sized.deployment;
    let mode = match deployment.mode {
        Mode::Compatible => "as the official workbook calculates, known mistakes included",
        Mode::Corrected => "known mistakes of the official workbook corrected",
    };
    let servers = shown(sized, Key::ServerAll);
    Banner {
        subject: deployment.name.clone(),
        started: started(sized, mode),
        verdict: sized.answer().headline(),
        tone: sized.answer().tone(),
        number_unit: if servers == "1" { "server" } else { "servers" }.into(),
        number: servers,
        number_metric: "servers-needed",
        meaning: meaning(sized),
        figures: figures(sized),
    }
}

/// Customer and date, the product, the assumption about its figures, and the mode.
fn started(sized: Sized<'_>, mode: &str) -> String {
    let deployment = sized.deployment;
    let origin = &deployment.origin;
    let product = match &deployment.product.assumed {
        Some(assumed) => {
            format!("{} with figures of {} (ASSUMPTION)", deployment.product.name, assumed.from)
        }
        None => deployment.product.name.clone(),
    };
    let mut parts = vec![origin.customer.as_str(), origin.date.as_str(), product.as_str(), mode];
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// What a design without the speed of its servers lacks.
pub(crate) const UNJUDGED_PROCESSORS: &str = "No rule judges the processors: the speed of the \
    servers is not given (`spec_rate` in [servers]), so that they may be too slow for this load.";

fn meaning(sized: Sized<'_>) -> Vec<String> {
    let deployment = sized.deployment;
    let databases = match shown(sized, Key::DatabaseAll) {
        one if one == "1" => "one database".to_owned(),
        databases => format!("{databases} databases"),
    };
    let mut sentences = vec![format!(
        "{} in {databases} with {} of each.",
        counted(&shown(sized, Key::MailboxesTotal), "mailbox"),
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
        0 if sized.predicted.is_some() => sentences.push("No rule is violated.".to_owned()),
        0 => {
            sentences.push(format!("No rule is violated. {}", sized.unsimulated.sentence()));
        }
        1 => sentences.push("One rule is violated: see Findings.".to_owned()),
        count => sentences.push(format!("{count} rules are violated: see Findings.")),
    }
    if let (false, Unsimulated::Refused(reason)) = (sized.sizing.is_workable(), sized.unsimulated) {
        let reason = reason.trim_end_matches('.');
        sentences.push(format!("Latency and failures were not simulated: {reason}."));
    }
    if sized.sizing.has_unsized_processors() {
        sentences.push(UNJUDGED_PROCESSORS.to_owned());
    }
    sentences.extend(deployment.product.assumption().map(|assumption| format!("{assumption}.")));
    sentences.extend(sized.predicted.map(PredictedDesign::sentence));
    sentences
}

fn figures(sized: Sized<'_>) -> Vec<Figure> {
    let mailboxes = counted(&shown(sized, Key::DatabaseMailboxes), "mailbox");
    let mailboxes = format!("of {mailboxes}");
    // The decisive share, which scenarios show too: that of the played failures, if there are any.
    let used = Key::ProcessorUtilWorst;
    let used = sized.sizing.number(used).map(|share| ShownQuantity::of_number(used, share));
    let used = used.map_or_else(
        || "processors not sized: no spec_rate".to_owned(),
        |used| format!("{} of the processors at the worst", used.written()),
    );
    let build = builds(sized);
    let (memory, why) = bought_memory(sized);
    let ssds = sized.sizing.number(Key::MetaCacheSsdsAll);
    let ssds = ssds.map(|ssds| format!(", and {} SSDs", three_digits(ssds)));
    let kinds = format!("beside system disks, {build}{}", ssds.unwrap_or_default());
    vec![
        figure("Databases", "databases-needed", shown(sized, Key::DatabaseAll), mailboxes),
        figure("Disks", "disks-needed", shown(sized, Key::DiskAll), kinds),
        figure("Memory", "memory-per-server", memory, format!("per server{why}")),
        figure(
            "Active at worst",
            "active-databases",
            shown(sized, Key::ServerWorstActiveDbs(ServerKind::First)),
            format!("databases per server; {used}"),
        ),
    ]
}

/// Memory of a server as the bill counts it, and why it is more than the load needs; empty if it is
/// not.
fn bought_memory(sized: Sized<'_>) -> (String, String) {
    let [bought, needed] = [Key::MemoryBoughtGb, Key::MemoryRamGb].map(|of| of(ServerKind::First));
    let is_minimum = sized.sizing.number(bought) > sized.sizing.number(needed);
    let why = if is_minimum {
        format!(", the least that the vendor supports; the load needs {}", shown(sized, needed))
    } else {
        String::new()
    };
    (shown(sized, bought), why)
}

/// How disks are built, in each site if they differ.
fn builds(sized: Sized<'_>) -> String {
    let built = sized.sizing.architecture;
    let (here, there) = (built.first.name(), built.second.name());
    if sized.deployment.second_site.is_some() && here != there {
        return format!("{here} in the first site, {there} in the second");
    }
    here.to_owned()
}

const fn figure(
    label: &'static str,
    metric: &'static str,
    value: String,
    remark: String,
) -> Figure {
    Figure { label, metric, value, remark, tone: Tone::Plain }
}
