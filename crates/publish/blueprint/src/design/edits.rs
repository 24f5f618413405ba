//! Edits of a deployment that reduce the load on each disk, and what simulations of them say: only
//! those that pass are a way out.

use std::cmp::Ordering;

use record::{RunRecord, Series};
use report::document::Block;
use report::{deciding_number, mean_ms, outcome_name};
use serde_json::{Value as Json, json};
use verdict::{Ruling, Verdict};

/// Longest line of a comment or of plain text, in characters.
const LINE_WIDTH: usize = 96;

/// A change of `deployment.toml` that reduces the load on each disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignEdit {
    /// The section it belongs to, as the document names it: `storage`.
    pub section: String,
    /// The line: `several_databases_per_volume = false`.
    pub line: String,
    /// Its effect as sized, in words.
    pub effect: String,
    /// What else it changes: cost, other numbers, findings that come or go; a sentence each.
    pub also: Vec<String>,
    /// Cost of the changed design, in the currency of the deployment; `None` without prices.
    pub cost: Option<f64>,
    /// The simulation of the changed design; `None` if there was none.
    pub simulated: Option<SimulatedEdit>,
}

/// The result of simulating an edited design.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedEdit {
    /// The verdict.
    pub outcome: Ruling,
    /// The deciding number and its limit, if a number decided; of a proof, the claim that decides.
    pub deciding: Option<String>,
    /// Mean latency of database reads in milliseconds, if there were any.
    pub read_ms: Option<f64>,
}

impl SimulatedEdit {
    /// The outcome of an edited design, from its simulated run and verdict.
    pub fn of(run: &RunRecord, verdict: &Verdict) -> Self {
        Self {
            outcome: verdict.outcome,
            deciding: deciding_number(verdict),
            read_ms: mean_ms(run, Series::DatabaseRead),
        }
    }

    /// The outcome, with the number that decided it.
    fn words(&self) -> String {
        let outcome = match self.outcome {
            Ruling::Pass | Ruling::Warn => "simulated to pass",
            Ruling::Fail => "simulated to fail",
            Ruling::CannotJudge => "simulation inconclusive",
        };
        let deciding = self.deciding.as_ref().map(|text| format!(": {text}"));
        format!("{outcome}{}", deciding.unwrap_or_default())
    }

    /// Orders results that are no pass: an inconclusive one before a failure, then by latency.
    fn nearer(&self, other: &Self) -> Ordering {
        let [one, two] = [self, other].map(|of| of.read_ms.unwrap_or(f64::INFINITY));
        let fails = [self, other].map(|of| of.outcome == Ruling::Fail);
        fails[0].cmp(&fails[1]).then(one.total_cmp(&two))
    }
}

impl DesignEdit {
    /// The lines to copy into the document, with their known effect as comments above.
    pub(crate) fn block(&self) -> String {
        let Self { section, line, effect, also, simulated, .. } = self;
        let mut comments = comment(effect);
        for text in also {
            comments += &comment(text);
        }
        comments.extend(simulated.iter().map(|of| comment(&of.words())));
        format!("{comments}[{section}]\n{line}\n")
    }

    /// Whether the changed design was simulated to pass.
    pub(crate) fn passes(&self) -> bool {
        let outcome = self.simulated.as_ref().map(|of| of.outcome);
        matches!(outcome, Some(Ruling::Pass | Ruling::Warn))
    }

    /// The edit in a sentence, with the result of its simulation.
    fn sentence(&self) -> Option<String> {
        let words = self.simulated.as_ref()?.words();
        Some(format!("[{}] {}, {words}", self.section, self.line))
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> Json {
        let simulated = self.simulated.as_ref();
        json!({
            "section": self.section,
            "line": self.line,
            "effect": self.effect,
            "also": self.also,
            "cost": self.cost,
            "simulated": simulated.map(|of| outcome_name(of.outcome)),
            "deciding": simulated.and_then(|of| of.deciding.as_ref()),
            "read_latency_ms": simulated.and_then(|of| of.read_ms),
        })
    }
}

/// A sentence as comment lines: verbatim text is not broken again.
fn comment(text: &str) -> String {
    broken(text, ["# ", "#  "])
}

/// A text as lines, broken between words; the first line and the others begin with `starts`.
fn broken(text: &str, [first, other]: [&str; 2]) -> String {
    let mut lines = first.to_owned();
    let mut length = first.chars().count();
    for (number, word) in text.split_whitespace().enumerate() {
        let more = word.chars().count();
        if number > 0 && length + 1 + more > LINE_WIDTH {
            lines.extend(["\n", other]);
            length = other.chars().count();
        } else if number > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += more;
    }
    lines + "\n"
}

/// What simulations of the edits say: the edits that pass as lines to copy, the cheapest first, and
/// the others in a sentence each. `again` is what to do after an edit. Empty if none was simulated.
pub(crate) fn tried(edits: &[DesignEdit], again: &str) -> Vec<Block> {
    let tried = edits.iter().filter(|edit| edit.simulated.is_some());
    let (passing, others): (Vec<_>, Vec<_>) = tried.partition(|edit| edit.passes());
    if passing.is_empty() {
        return none_passes(others);
    }
    let unpriced = if passing.iter().any(|edit| edit.section == "disks" && edit.cost.is_some()) {
        "; other disks come last, since [prices] does not have theirs"
    } else {
        ""
    };
    let lead = format!(
        "The same simulation passes with each of these changes, the cheapest first{unpriced}. Edit \
         the deployment, and {again} again."
    );
    let lines = passing.into_iter().map(|edit| Block::Verbatim(edit.block()));
    std::iter::once(Block::Note(lead)).chain(lines).chain(not_enough(others)).collect()
}

/// The same if no edit passes: the best of them first.
fn none_passes(mut others: Vec<&DesignEdit>) -> Vec<Block> {
    let count = others.len();
    others.sort_by(|one, two| match (&one.simulated, &two.simulated) {
        (Some(one), Some(two)) => one.nearer(two),
        _ => Ordering::Equal,
    });
    let mut others = others.into_iter();
    let Some(best) = others.next().and_then(DesignEdit::sentence) else {
        return Vec::new();
    };
    let lead = match count {
        1 => format!("The only change that was simulated does not pass: {best}."),
        count => format!("None of the {count} changes that were simulated passes. Best: {best}."),
    };
    std::iter::once(Block::Note(lead)).chain(not_enough(others)).collect()
}

fn not_enough<'a>(edits: impl IntoIterator<Item = &'a DesignEdit>) -> impl Iterator<Item = Block> {
    let sentences = edits.into_iter().filter_map(DesignEdit::sentence);
    sentences.map(|text| Block::Note(format!("Not enough: {text}.")))
}

/// The same as text.
pub fn written_edits(edits: &[DesignEdit], again: &str) -> String {
    let mut texts = Vec::new();
    for block in tried(edits, again) {
        match block {
            Block::Note(text) => texts.push(broken(&text, ["", ""])),
            Block::Verbatim(lines) => texts.push(lines),
            _ => {}
        }
    }
    texts.join("\n")
}
