//! Suggested edits of a deployment that reduce the load on each disk.

use record::{RunRecord, Series};
use report::{deciding_number, mean_ms, outcome_name};
use serde_json::{Value as Json, json};
use verdict::{Ruling, Verdict};

/// Longest comment line of an edit, in characters.
const COMMENT_WIDTH: usize = 96;

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
    /// The simulation of the changed design; `None` if an earlier edit already passed.
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
}

impl DesignEdit {
    /// The lines to copy into the document, with their known effect as comments above.
    pub(crate) fn block(&self) -> String {
        let Self { section, line, effect, also, .. } = self;
        let proof = self.proof();
        let mut comments = comment(effect);
        for text in also {
            comments += &comment(text);
        }
        comments += &comment(&proof);
        format!("{comments}[{section}]\n{line}\n")
    }

    /// Whether the changed design was simulated to pass.
    pub(crate) fn passes(&self) -> bool {
        let outcome = self.simulated.as_ref().map(|of| of.outcome);
        matches!(outcome, Some(Ruling::Pass | Ruling::Warn))
    }

    /// Whether the edit was simulated, and with which outcome.
    fn proof(&self) -> String {
        let Some(SimulatedEdit { outcome, deciding, .. }) = &self.simulated else {
            return "sized, not simulated".to_owned();
        };
        let outcome = match outcome {
            Ruling::Pass | Ruling::Warn => "simulated to pass",
            Ruling::Fail => "simulated to fail",
            Ruling::CannotJudge => "simulation inconclusive",
        };
        let deciding = deciding.as_ref().map(|text| format!(": {text}"));
        format!("{outcome}{}", deciding.unwrap_or_default())
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

/// A sentence as comment lines, broken between words: verbatim text is not broken again.
fn comment(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("invariant: there is always a line");
        if line.chars().count() + 1 + word.chars().count() > COMMENT_WIDTH && line != "#" {
            lines.push(format!("#  {word}"));
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

/// The edits as lines of a document, each with its effect; those known to pass come first.
pub fn written_edits(edits: &[DesignEdit]) -> String {
    let (passing, others): (Vec<_>, Vec<_>) = edits.iter().partition(|edit| edit.passes());
    passing.into_iter().chain(others).map(DesignEdit::block).collect::<Vec<_>>().join("\n")
}
