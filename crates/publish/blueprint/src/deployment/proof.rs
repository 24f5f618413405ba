//! Which claims of a design hold: one table, and a page for the customer.

use std::borrow::Cow;
use std::fmt::Write as _;

use report::document::{Banner, Block, Cell, Column, Document, Section, Table, TableRow, Tone};
use serde_json::{Value, json};

use super::trust;

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
    /// The design in a sentence: servers, copies, disks.
    pub design: String,
    /// Error bound of latencies, in percent of the true ones.
    pub uncertainty_percent: f64,
    /// Load of a disk by the sizing formulas, as a share of the requests that it can serve.
    pub disk_load: Option<f64>,
    /// Rules that the design violates, in sentences.
    pub violations: Vec<String>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The smallest change that makes all claims hold, if one is needed.
    pub remedy: Option<Remedy>,
}

/// Something that the design claims to survive.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Name, such as `one server fails`.
    pub name: String,
    /// The worst case, such as `EX03`.
    pub worst: String,
    /// Cases that were played.
    pub cases: usize,
    /// Whether it holds.
    pub state: ClaimState,
    /// Whether it holds by the sizing formulas.
    pub formulas_hold: bool,
    /// Whether a latency is so near its limit that the true one may be on the other side.
    pub is_narrow: bool,
    /// Mean of database reads on the busiest host, in milliseconds.
    pub reads_ms: Option<f64>,
    /// The slowest minute: mean of database reads on its host, in milliseconds.
    pub worst_minute_ms: Option<f64>,
    /// Utilisation of its busiest disk, 0 to 1.
    pub disks_busy: f64,
    /// How far the worst limit is exceeded, as a share of it; `None` if all are kept.
    pub excess: Option<f64>,
    /// The limit that broke, or the remaining headroom, in a sentence.
    pub because: String,
    /// Why the sizing formulas disagree; `None` if they agree.
    pub disagreement: Option<String>,
    /// The smallest change that makes the claim hold, if it fails and such a change was found.
    pub remedy: Option<Remedy>,
    /// Time until everything is redundant again, in nanoseconds.
    pub redundant_after_ns: Option<u64>,
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// It does.
    Holds,
    /// A limit is broken, or databases are not active.
    Fails,
    /// Already fails in the arithmetic, by processors or quorum.
    FailsOnPaper,
}

/// A change that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// The edit of the document; `None` if no change tried helps.
    pub edit: Option<String>,
    /// What it takes, in a sentence.
    pub effect: String,
    /// Changes that were tried.
    pub tried: usize,
}

impl ClaimState {
    const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "FAILS",
            Self::FailsOnPaper => "FAILS on paper",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::FailsOnPaper => "fails_on_paper",
        }
    }
}

impl Claim {
    /// The component that fails in the worst case; `None` in normal operation.
    fn failure(&self) -> Option<&str> {
        Some(self.worst.as_str()).filter(|worst| *worst != "-")
    }
}

impl Proof {
    /// Whether every claim holds and the sizing violates no rule.
    pub fn holds(&self) -> bool {
        self.violations.is_empty() && self.claims.iter().all(|of| of.state == ClaimState::Holds)
    }
}

/// The page for the customer.
pub fn proof_html(proof: &Proof) -> String {
    report::document_html(&document(proof))
}

/// The same as plain text in lines of at most `width` characters.
pub fn proof_text(proof: &Proof, width: usize) -> String {
    report::document_text(&document(proof), width)
}

/// The answer `design_proof`.
pub fn proof_json(proof: &Proof) -> Value {
    let claims: Vec<Value> = proof.claims.iter().map(claim_json).collect();
    let remedy = proof.remedy.as_ref().map(remedy_json);
    report::answer(
        "design_proof",
        json!({
            "title": proof.title,
            "design": proof.design,
            "verdict": if proof.holds() { "simulated_pass" } else { "simulated_fail" },
            "uncertainty_percent": proof.uncertainty_percent,
            "formulas_disk_load_percent": proof.disk_load.map(|load| load * 100.0),
            "violations": proof.violations,
            "claims": claims,
            "remedy": remedy,
        }),
    )
}

fn remedy_json(of: &Remedy) -> Value {
    json!({ "edit": of.edit, "effect": of.effect, "tried": of.tried })
}

fn claim_json(of: &Claim) -> Value {
    json!({
        "claim": of.name,
        "worst_case": of.worst,
        "cases": of.cases,
        "state": of.state.name(),
        "formulas": if of.formulas_hold { "holds" } else { "fails" },
        "narrow": of.is_narrow,
        "reads_ms": of.reads_ms,
        "worst_minute_reads_ms": of.worst_minute_ms,
        "disks_busy_percent": of.disks_busy * 100.0,
        "excess_percent": of.excess.map(|excess| excess * 100.0),
        "because": of.because,
        "disagreement": of.disagreement,
        "remedy": of.remedy.as_ref().map(remedy_json),
        "redundant_after_ns": of.redundant_after_ns,
    })
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
    Document { banner: banner(proof), sections }
}

/// What the columns of the claims mean.
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

/// What `narrowly` means.
fn narrowness(percent: f64) -> String {
    format!(
        "Narrowly: the simulated latency is so near its limit that the true one, known within \
         +-{percent:.0} %, may be on the other side. Test this case on the hardware first."
    )
}

/// The change that helps, and the changes for each claim if several fail.
fn remedies(proof: &Proof) -> Option<Section> {
    let mut blocks = vec![Block::Note(remedy_words(proof.remedy.as_ref()?))];
    if proof.claims.iter().filter(|of| of.state != ClaimState::Holds).count() > 1 {
        blocks.push(changes(proof));
    }
    Some(Section { id: "remedy", title: "What to Change", blocks })
}

fn banner(proof: &Proof) -> Banner {
    let held = proof.claims.iter().filter(|of| of.state == ClaimState::Holds).count();
    let holds = proof.holds();
    let mut meaning = Vec::new();
    meaning.extend(breaking_words(&proof.claims));
    meaning.extend(proof.remedy.as_ref().map(remedy_words));
    meaning.extend(Some(proof.description.clone()).filter(|text| !text.is_empty()));
    meaning.extend([proof.design.clone(), trust(proof.uncertainty_percent)]);
    let customer =
        if proof.customer.is_empty() { String::new() } else { format!(", for {}", proof.customer) };
    Banner {
        subject: format!("{}{customer}", proof.title),
        started: started(proof),
        verdict: if holds { "SIMULATED PASS" } else { "SIMULATED FAIL" }.to_owned(),
        tone: if holds { Tone::Pass } else { Tone::Fail },
        number: format!("{held} of {}", proof.claims.len()),
        number_unit: unit(&proof.claims),
        number_metric: "database-reads-latency",
        meaning,
        figures: Vec::new(),
    }
}

/// What the number in the headline counts, and how many of these claims are in doubt.
fn unit(claims: &[Claim]) -> Cow<'static, str> {
    let narrow = claims.iter().filter(|of| of.state == ClaimState::Holds && of.is_narrow).count();
    match narrow {
        0 => "claims hold".into(),
        _ => format!("claims hold, {narrow} of them narrowly").into(),
    }
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

/// How clearly a claim fails: failures without a measure first, narrow ones last.
fn severity(of: &Claim) -> (bool, f64) {
    let measured = of.excess.filter(|_| of.state == ClaimState::Fails);
    (!of.is_narrow, measured.unwrap_or(f64::INFINITY))
}

fn clearer<'a>(one: &'a Claim, other: &'a Claim) -> &'a Claim {
    if severity(other) > severity(one) { other } else { one }
}

/// The failure that breaks the design most clearly, and the others; `None` if all claims hold.
fn breaking_words(claims: &[Claim]) -> Option<String> {
    let failed: Vec<&Claim> = claims.iter().filter(|of| of.state != ClaimState::Holds).collect();
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

fn remedy_words(of: &Remedy) -> String {
    match &of.edit {
        Some(edit) => {
            format!("Smallest change with which every claim holds: {edit} ({}).", of.effect)
        }
        None if of.tried == 0 => format!("No change of the disks helps: {}.", of.effect),
        None => format!("With none of {} changes every claim holds: {}.", of.tried, of.effect),
    }
}

/// The smallest change for each claim that fails.
fn changes(proof: &Proof) -> Block {
    let failed = proof.claims.iter().filter(|of| of.state != ClaimState::Holds);
    Block::Table(Table {
        caption: "The smallest change for each failing claim by itself",
        columns: vec![Column::text("Claim"), Column::text("Change"), Column::text("Effect")],
        rows: failed.map(change_row).collect(),
    })
}

fn change_row(of: &Claim) -> TableRow {
    let (edit, effect) = match &of.remedy {
        Some(Remedy { edit, effect, .. }) => (edit.clone(), effect.clone()),
        None => (None, "none of the changes that were played".to_owned()),
    };
    TableRow::body(vec![Cell::plain(of.name.clone()), Cell::or_none(edit), Cell::plain(effect)])
}

/// Claims on which the formulas of the sizing disagree, and why.
fn disagreements(proof: &Proof) -> Option<Section> {
    let told = |of: &Claim| {
        let why = of.disagreement.clone()?;
        Some(TableRow::body(vec![
            Cell::plain(of.name.clone()),
            Cell::plain(result_words(of)),
            Cell::plain(why),
        ]))
    };
    let rows: Vec<TableRow> = proof.claims.iter().filter_map(told).collect();
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

fn result_words(of: &Claim) -> String {
    let word = of.state.word();
    if of.is_narrow { format!("{word} narrowly") } else { word.to_owned() }
}

fn claim_row(of: &Claim) -> TableRow {
    let tone = match (of.state, of.is_narrow) {
        (ClaimState::Holds, false) => Tone::Pass,
        (_, true) => Tone::Warn,
        _ => Tone::Fail,
    };
    TableRow::body(vec![
        Cell::plain(of.name.clone()),
        Cell::plain(result_words(of)).toned(tone),
        Cell::plain(of.worst.clone()),
        Cell::or_none(of.reads_ms.map(|ms| format!("{ms:.1}"))),
        Cell::or_none(of.worst_minute_ms.map(|ms| format!("{ms:.1}"))),
        Cell::plain(format!("{:.0}", of.disks_busy * 100.0)),
        Cell::or_none(of.excess.map(excess_percent)),
        redundant_cell(of),
        Cell::plain(of.because.clone()),
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
            Cell::plain("after the simulated time".to_owned())
        }
        (None, Some(_)) => Cell::plain("not before it returns".to_owned()),
        (None, None) => Cell::none(),
    }
}

fn method() -> Block {
    Block::Note(
        "Every server, its disks and its copies are simulated in normal operation and in each \
         failure: users work on active copies, passive ones replay, a failed disk is rebuilt or \
         its copies are seeded again. A claim holds if every database stays active and every host \
         keeps its limits once the failure has settled and the caches of copies that took over are \
         warm; the slowest minute shows the time before. A prediction of one set of disks (`size \
         --predict`) is stricter: it takes all copies for active. Nothing was measured on \
         hardware: test what you buy."
            .to_owned(),
    )
}
