//! Which claims of a design hold: one table, and a page for the customer.

use std::borrow::Cow;
use std::fmt::Write as _;

use report::document::{Banner, Block, Cell, Column, Document, Section, Table, TableRow, Tone};
use units::plural;
use verdict::Ruling;

use super::claim::{Claim, ClaimState, Remedy};
use super::trust;
use crate::design::{DesignEdit, UNSIZED, tried};
use crate::running::titled_html;

/// A design and the results of simulating its claims.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Title of the design.
    pub title: String,
    /// The customer, if the document names one.
    pub customer: String,
    /// Date as written in the document; may be empty.
    pub date: String,
    /// Who made it, or nothing.
    pub author: String,
    /// Description from the document; may be empty.
    pub description: String,
    /// The note on figures that were taken from another product; `None` if there are none.
    pub assumption: Option<String>,
    /// The design in a sentence: servers, copies, disks.
    pub design: String,
    /// Error bound of latencies, in percent of the true ones.
    pub uncertainty_percent: f64,
    /// Load of a disk by the sizing formulas, as a share of the requests that it can serve.
    pub disk_load: Option<f64>,
    /// Whether the speed of some servers is unknown, so that no claim includes their processors.
    pub has_unsized_processors: bool,
    /// Rules that the design violates, in sentences.
    pub violations: Vec<String>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The smallest change that makes all claims hold, if one is needed.
    pub remedy: Option<Remedy>,
    /// The changes for a design that fails or cannot be judged, the cheapest first, played until
    /// one is certain; the list of a prediction.
    pub edits: Vec<DesignEdit>,
}

impl Proof {
    /// The verdict: one claim that fails, or a rule that is violated, fails the design; one that
    /// cannot be judged leaves it undecided, as in a prediction.
    pub fn ruling(&self) -> Ruling {
        if !self.violations.is_empty() {
            return Ruling::Fail;
        }
        let rulings: Vec<Ruling> = self.claims.iter().map(Claim::ruling).collect();
        verdict::worst(&rulings)
    }

    /// The headline, with what a design that does not fail lacks, and its tone.
    pub(super) fn title_and_tone(&self) -> (Cow<'static, str>, Tone) {
        let ruling = self.ruling();
        let (headline, tone) = Self::headline(ruling);
        if !self.has_unsized_processors || ruling == Ruling::Fail {
            return (headline.into(), tone);
        }
        (format!("{headline}, {}", UNSIZED.to_uppercase()).into(), Tone::Warn)
    }

    const fn headline(ruling: Ruling) -> (&'static str, Tone) {
        match ruling {
            Ruling::Pass | Ruling::Warn => ("SIMULATED PASS", Tone::Pass),
            Ruling::Fail => ("SIMULATED FAIL", Tone::Fail),
            Ruling::CannotJudge => ("SIMULATED CANNOT JUDGE", Tone::Warn),
        }
    }

    /// The verdict for programs.
    pub(super) const fn verdict(ruling: Ruling) -> &'static str {
        match ruling {
            Ruling::Pass | Ruling::Warn => "simulated_pass",
            Ruling::Fail => "simulated_fail",
            Ruling::CannotJudge => "simulated_cannot_judge",
        }
    }
}

/// What a proof assumes, and what a prediction answers instead.
const ASSUMED: &str = "Users work on active copies, and passive ones only replay; the mean of a \
                       host is judged. `size --predict` asks another question: whether a set of \
                       disks without a failure carries every copy on it as an active one, each \
                       database judged by its own mean. Either may show the higher latency.";

/// What no claim includes if the speed of the servers is unknown.
const NO_PROCESSORS: &str = "No claim includes the processors: the speed of the servers is not \
                             given (`spec_rate` in [servers]), so that each claim is about disks, \
                             copies and quorum alone.";

/// The page for the customer.
pub fn proof_html(proof: &Proof) -> String {
    titled_html(&document(proof), &subject(proof), proof.assumption.as_deref())
}

/// The same as plain text in lines of at most `width` characters.
pub fn proof_text(proof: &Proof, width: usize) -> String {
    report::document_text(&document(proof), width)
}

fn document(proof: &Proof) -> Document {
    let mut blocks = vec![claims(proof), legend()];
    if proof.claims.iter().any(|of| of.is_narrow) {
        blocks.push(Block::Note(narrowness(proof.uncertainty_percent)));
    }
    blocks.extend(proof.violations.iter().map(|of| Block::Note(format!("Forbidden: {of}"))));
    let mut sections = vec![Section { id: "claims", title: "What It Survives", blocks }];
    sections.extend(remedies(proof));
    sections.extend(disagreements(proof));
    sections.push(Section { id: "method", title: "Method", blocks: vec![method()] });
    Document { banner: banner(proof), sections, names: vec![subject(proof)] }
}

/// Explains the columns of the table of claims.
fn legend() -> Block {
    Block::Note(
        "Worst failure: the server, site or disk whose failure hurts most. Read ms: mean of the \
         host that suffers most, after the failure has settled. Slowest minute: the mean of the \
         slowest one, with caches still cold. Disks busy: share of its time that the busiest disk \
         works; the formulas count requests instead, as a share of those that a disk is rated \
         for. Redundant after: time from the failure until every database has all its copies; -: \
         nothing is missing. Reads are judged by the 20 ms that `plimsoll run` and Jetstress allow \
         on average; the slowest minute is not judged."
            .to_owned(),
    )
}

/// Explains `narrowly`.
fn narrowness(percent: f64) -> String {
    format!(
        "Inconclusive: the simulated latency holds or fails narrowly, so near its limit that the \
         true one, known within +-{percent:.0} %, may be on the other side; `size --predict` \
         judges by the same rule. Test this case on the hardware first."
    )
}

/// The change that helps, and the changes for each claim if several fail.
fn remedies(proof: &Proof) -> Option<Section> {
    let mut blocks: Vec<Block> =
        proof.remedy.iter().map(|of| Block::Note(remedy_words(of, proof))).collect();
    if proof.remedy.is_some() && failed(&proof.claims).count() > 1 {
        blocks.push(changes(proof));
    }
    blocks.extend(tried(&proof.edits, "prove"));
    (!blocks.is_empty()).then_some(Section { id: "remedy", title: "What to Change", blocks })
}

fn failed(claims: &[Claim]) -> impl Iterator<Item = &Claim> {
    claims.iter().filter(|of| of.ruling() == Ruling::Fail)
}

fn banner(proof: &Proof) -> Banner {
    let held = proof.claims.iter().filter(|of| of.ruling() == Ruling::Pass).count();
    let (verdict, tone) = proof.title_and_tone();
    let mut meaning: Vec<String> =
        proof.assumption.iter().map(|assumption| format!("{assumption}.")).collect();
    if proof.has_unsized_processors {
        meaning.push(NO_PROCESSORS.to_owned());
    }
    meaning.extend(breaking_words(&proof.claims));
    meaning.extend(outage_words(&proof.claims));
    meaning.extend(proof.remedy.as_ref().map(|of| remedy_words(of, proof)));
    meaning.extend(Some(proof.description.clone()).filter(|text| !text.is_empty()));
    meaning.extend([proof.design.clone(), ASSUMED.to_owned(), trust(proof.uncertainty_percent)]);
    Banner {
        subject: subject(proof),
        started: started(proof),
        verdict: verdict.into_owned(),
        tone,
        number: format!("{held} of {}", proof.claims.len()),
        number_unit: unit(&proof.claims),
        number_metric: "database-reads-latency",
        meaning,
        figures: Vec::new(),
    }
}

/// The design, and the customer if it names one.
fn subject(proof: &Proof) -> String {
    let customer =
        if proof.customer.is_empty() { String::new() } else { format!(", for {}", proof.customer) };
    format!("{}{customer}", proof.title)
}

/// Unit of the number in the headline, with the number of claims that cannot be judged.
fn unit(claims: &[Claim]) -> Cow<'static, str> {
    match claims.iter().filter(|of| of.ruling() == Ruling::CannotJudge).count() {
        0 => "claims hold".into(),
        doubtful => format!("claims hold, {doubtful} inconclusive").into(),
    }
}

/// The claims that include a time without service: part of the answer even if all hold.
fn outage_words(claims: &[Claim]) -> Option<String> {
    let with = claims.iter().filter_map(|of| Some((of, of.outage.as_ref()?)));
    // A claim that fails by its interruption has said so.
    let with = with.filter(|(claim, outage)| claim.because != outage.words());
    let words: Vec<String> =
        with.map(|(claim, outage)| format!("{}: {}", claim.name, outage.words())).collect();
    (!words.is_empty()).then(|| format!("Without service for a while: {}.", words.join(". ")))
}

/// Author and date, above the title.
fn started(proof: &Proof) -> String {
    let mut text = "in virtual time".to_owned();
    for (before, part) in [("", &proof.date), ("by ", &proof.author)] {
        if !part.is_empty() {
            let _ = write!(text, ", {before}{part}");
        }
    }
    text
}

/// Excess of a failed claim over its limit; infinite if it fails on paper or breaks no limit.
fn severity(of: &Claim) -> f64 {
    of.excess.filter(|_| of.state == ClaimState::Fails).unwrap_or(f64::INFINITY)
}

fn clearer<'a>(one: &'a Claim, other: &'a Claim) -> &'a Claim {
    if severity(other) > severity(one) { other } else { one }
}

/// The failure that breaks the design most clearly, and the others; `None` if all claims hold.
fn breaking_words(claims: &[Claim]) -> Option<String> {
    let failed: Vec<&Claim> = failed(claims).collect();
    let worst = failed.iter().copied().reduce(clearer)?;
    let failure = match worst.failure() {
        Some(failure) => format!("{}, worst if it is {failure}", worst.name),
        None => worst.name.clone(),
    };
    let (others, normal): (Vec<&Claim>, Vec<&Claim>) =
        failed.into_iter().filter(|of| *of != worst).partition(|of| of.failure().is_some());
    let mut words = String::new();
    for of in normal {
        let _ = write!(words, "Fails even in {}: {}. ", of.name, of.because);
    }
    let _ = write!(words, "Breaks it: {failure}. Then {}.", worst.because);
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|of| of.name.as_str()).collect();
        let _ = write!(words, " Also failing: {}.", names.join(", "));
    }
    Some(words)
}

fn remedy_words(of: &Remedy, proof: &Proof) -> String {
    let mut tried = plural(of.tried as u64, "change");
    if of.tried > proof.edits.len() {
        tried.push_str(", slower seeding and fewer mailboxes included,");
    }
    match &of.edit {
        Some(edit) if !of.is_certain => format!(
            "With none of {tried} every claim holds for certain. Smallest change with which \
             none fails: {edit} ({}); some then hold narrowly, so test that on the hardware.",
            of.effect
        ),
        Some(edit) => {
            format!("Smallest change with which every claim holds: {edit} ({}).", of.effect)
        }
        None if of.tried == 0 => format!("No change of the disks helps: {}.", of.effect),
        None => format!("With none of {tried} every claim holds: {}.", of.effect),
    }
}

/// The smallest change for each claim that fails.
fn changes(proof: &Proof) -> Block {
    let failed = failed(&proof.claims);
    Block::Table(Table {
        caption: "The smallest change for each failing claim by itself",
        columns: vec![Column::text("Claim"), Column::text("Change"), Column::text("Effect")],
        rows: failed.map(|of| change_row(of, proof)).collect(),
    })
}

fn change_row(of: &Claim, proof: &Proof) -> TableRow {
    let (edit, effect) = match &of.remedy {
        Some(Remedy { edit, effect, is_certain: false, .. }) => {
            (edit.clone(), format!("{effect}; it then holds narrowly"))
        }
        Some(Remedy { edit, effect, .. }) => (edit.clone(), effect.clone()),
        None if proof.remedy.as_ref().is_none_or(|of| of.tried == 0) => {
            (None, "no change of the disks was played: none would help".to_owned())
        }
        None => (None, "none of the changes that were played".to_owned()),
    };
    TableRow::body(vec![Cell::plain(of.name.clone()), Cell::or_none(edit), Cell::plain(effect)])
}

fn disagreement_row(of: &Claim) -> Option<TableRow> {
    let why = of.disagreement.clone()?;
    Some(TableRow::body(vec![
        Cell::plain(of.name.clone()),
        Cell::plain(of.result()),
        Cell::plain(why),
    ]))
}

/// Claims on which the formulas of the sizing disagree, and why.
fn disagreements(proof: &Proof) -> Option<Section> {
    let rows: Vec<TableRow> = proof.claims.iter().filter_map(disagreement_row).collect();
    let columns = vec![Column::text("Claim"), Column::text("Played"), Column::text("Why")];
    let caption = "Claims about which the formulas and the simulation disagree";
    let table = Block::Table(Table { caption, columns, rows });
    let is_needed = proof.claims.iter().any(|of| of.disagreement.is_some());
    is_needed.then(|| Section {
        id: "formulas",
        title: "Where the Sizing's Formulas Disagree",
        blocks: vec![table],
    })
}

fn claims(proof: &Proof) -> Block {
    Block::Table(Table {
        caption: "Every failure that the design claims to survive, each played",
        columns: vec![
            Column::text("Claim"),
            Column::text("Result"),
            Column::text("Worst failure"),
            Column::metric("Read ms", "database-reads-latency"),
            Column::numbers("Slowest minute ms"),
            Column::numbers("Disks busy %"),
            Column::numbers("Over limit %"),
            Column::numbers("Redundant after"),
            Column::text("Because"),
        ],
        rows: proof.claims.iter().map(claim_row).collect(),
    })
}

fn claim_row(of: &Claim) -> TableRow {
    let tone = match (of.ruling(), &of.outage) {
        (Ruling::Fail, _) => Tone::Fail,
        (Ruling::Pass | Ruling::Warn, None) => Tone::Pass,
        _ => Tone::Warn,
    };
    TableRow::body(vec![
        Cell::plain(of.name.clone()),
        Cell::plain(of.result()).toned(tone),
        Cell::plain(of.worst.clone()),
        Cell::or_none(of.reads_ms.map(|ms| format!("{ms:.1}"))),
        Cell::or_none(of.worst_minute_ms.map(|ms| format!("{ms:.1}"))),
        Cell::plain(format!("{:.0}", of.disks_busy * 100.0)),
        Cell::or_none(of.excess.map(excess_percent)),
        redundant_cell(of),
        Cell::plain(of.reason()),
    ])
}

/// How far a limit is exceeded, in percent; never 0, since it is broken.
pub(super) fn excess_percent(excess: f64) -> String {
    match excess * 100.0 {
        percent if percent < 0.05 => "below 0.1".to_owned(),
        percent if percent < 1.0 => format!("{percent:.1}"),
        percent => format!("{percent:.0}"),
    }
}

/// A server or site that stays lost leaves its copies missing to the end.
fn redundant_cell(of: &Claim) -> Cell {
    match (of.redundant_after_ns, of.failure()) {
        (Some(after), _) => Cell::plain(report::format::duration(after)),
        (None, Some(_)) if of.name.contains("disk") => {
            Cell::plain("later than simulated".to_owned())
        }
        (None, Some(_)) => Cell::plain("not before it returns".to_owned()),
        (None, None) => Cell::none(),
    }
}

fn method() -> Block {
    Block::Note(
        "Every server, its disks and its copies are simulated in normal operation and in each \
         failure: users work on active copies, passive ones replay, background maintenance reads \
         both at the product's own pace, a failed disk is rebuilt or its copies are seeded again. \
         A claim holds if every database stays active and every host keeps its limits once the \
         failure has settled and the caches of copies that took over are warm; the slowest minute \
         shows the time before. A time without service fails a claim if it is longer than the \
         `longest_outage` of the deployment. Nothing was measured on hardware: test what you buy."
            .to_owned(),
    )
}
