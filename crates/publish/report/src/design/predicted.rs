//! Simulation results of a design, in the same document as those of the rules: a design that breaks
//! no rule may still be too slow, and a reader of the page has to see both.

use std::fmt::Write as _;

use record::{RunRecord, Series};
use serde_json::{Value as Json, json};
use verdict::{Ruling, Verdict};

use crate::document::{Block, Cell, Fact, Section, Tone};
use crate::format::three_digits;
use crate::json::outcome_name;
use crate::listed::{achieved_iops, mean_ms, verdict_name};
use crate::meaning;
use crate::sections::tone;

/// A change of `deployment.toml` that leaves less work for each disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DesignEdit {
    /// The section it belongs to, as the document names it: `storage`.
    pub section: String,
    /// The line: `several_databases_per_volume = false`.
    pub line: String,
    /// Its effect as sized, in words.
    pub effect: String,
    /// The simulation of the changed design; none if an edit before it passed already.
    pub simulated: Option<SimulatedEdit>,
}

/// What a simulation of an edited design says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedEdit {
    /// The verdict.
    pub outcome: Ruling,
    /// Mean latency of database reads in milliseconds, if there were any.
    pub read_ms: Option<f64>,
}

impl DesignEdit {
    /// How far it is proven beyond its sizes.
    fn proof(&self) -> String {
        let Some(SimulatedEdit { outcome, read_ms }) = self.simulated else {
            return "sized, not simulated".to_owned();
        };
        let outcome = match outcome {
            Ruling::Pass | Ruling::Warn => "simulated to pass",
            Ruling::Fail => "simulated to fail",
            Ruling::CannotJudge => "simulation inconclusive",
        };
        let reads = read_ms.map(|ms| format!(", {ms:.1} ms per database read"));
        format!("{outcome}{}", reads.unwrap_or_default())
    }
}

/// A simulated run of one set of disks of a design.
#[derive(Clone, Debug)]
pub struct PredictedDesign {
    /// The simulated run.
    pub run: RunRecord,
    /// The verdict.
    pub verdict: Verdict,
    /// The server whose disks they are.
    pub server: String,
    /// Databases on the set.
    pub databases: usize,
    /// Sets of disks that the server has, all alike.
    pub sets: u32,
    /// Path of the full report.
    pub report: String,
    /// Suggested edits, the cheapest first.
    pub edits: Vec<DesignEdit>,
}

/// Combined answer of rules and simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DesignAnswer {
    is_workable: bool,
    simulated: Option<Ruling>,
}

impl DesignAnswer {
    pub(super) fn new(is_workable: bool, predicted: Option<&PredictedDesign>) -> Self {
        Self { is_workable, simulated: predicted.map(|of| of.verdict.outcome) }
    }

    /// The headline.
    pub(super) const fn headline(self) -> &'static str {
        match (self.is_workable, self.simulated) {
            (true, None) => "Workable",
            (false, None) => "Not workable",
            (true, Some(Ruling::Pass | Ruling::Warn)) => "Workable, and simulated to pass",
            (true, Some(Ruling::Fail)) => "Within the rules, but simulated to fail",
            (true, Some(Ruling::CannotJudge)) => "Within the rules, simulation inconclusive",
            (false, Some(Ruling::Pass | Ruling::Warn)) => "Not workable, though simulated to pass",
            (false, Some(Ruling::Fail)) => "Not workable, and simulated to fail",
            (false, Some(Ruling::CannotJudge)) => "Not workable, simulation inconclusive",
        }
    }

    /// How the headline looks: as the worse of the two.
    pub(super) const fn tone(self) -> Tone {
        match (self.is_workable, self.simulated) {
            (false, _) | (_, Some(Ruling::Fail)) => Tone::Fail,
            (true, Some(Ruling::CannotJudge)) => Tone::Warn,
            (true, None | Some(Ruling::Pass | Ruling::Warn)) => Tone::Pass,
        }
    }

    /// The exit status and its reason; none without a simulation, where the headline says it all.
    pub(super) const fn exit_status(self) -> Option<&'static str> {
        let Some(simulated) = self.simulated else {
            return None;
        };
        Some(match (self.is_workable, simulated) {
            (true, Ruling::Pass | Ruling::Warn) => {
                "Exit status 0: no rule is violated, and the simulated disks carry the load."
            }
            (true, Ruling::Fail) => {
                "Exit status 1: no rule is violated, but the simulated disks exceed a limit."
            }
            (true, Ruling::CannotJudge) => {
                "Exit status 2: no rule is violated, but the simulation cannot be judged."
            }
            (false, _) => "Exit status 1: a rule is violated, whatever the simulation says.",
        })
    }
}

impl PredictedDesign {
    /// The simulated load beside the target; its parts in IOPS.
    fn load(&self) -> String {
        let carried = achieved_iops(&self.run).map_or_else(|| "-".to_owned(), three_digits);
        match self.run.start.settings.target_iops {
            Some(target) => format!("{carried} of {} IOPS", three_digits(target)),
            None => format!("{carried} IOPS"),
        }
    }

    fn latency(&self, series: Series) -> String {
        mean_ms(&self.run, series).map_or_else(|| "-".to_owned(), |ms| format!("{ms:.1} ms"))
    }

    /// One sentence for the top of the page.
    pub(super) fn sentence(&self) -> String {
        format!(
            "Simulated: one of the {} sets of disks of {} carries {}, with {} per database read \
             and {} per log write.",
            self.sets,
            self.server,
            self.load(),
            self.latency(Series::DatabaseRead),
            self.latency(Series::LogWrite),
        )
    }

    /// The prediction as a part of the page.
    pub(super) fn section(&self) -> Section {
        let mut blocks = vec![Block::Facts(self.facts())];
        let said = meaning::sentences(&self.run, &self.verdict).into_iter();
        blocks.extend(said.map(Block::Note));
        if !self.edits.is_empty() {
            let lead = "What would leave less work for each disk: edit the deployment, and \
                        predict again.";
            blocks.push(Block::Note(lead.to_owned()));
            blocks.push(Block::Verbatim(written(&self.edits)));
        }
        Section { id: "prediction", title: "What a simulation of the disks says", blocks }
    }

    fn facts(&self) -> Vec<Fact> {
        let name = verdict_name(&self.run, &self.verdict);
        let verdict = Cell::plain(name).toned(tone(self.verdict.outcome));
        let databases = match self.databases {
            1 => "1 database".to_owned(),
            databases => format!("{databases} databases"),
        };
        vec![
            Fact { label: "Verdict", metric: None, value: verdict },
            Fact::new(
                "Simulated",
                format!(
                    "{databases} of {}, all active, on one of its {} sets of disks",
                    self.server, self.sets
                ),
            ),
            Fact::metric("Load", "achieved-transactional-iops", self.load()),
            Fact::new("Database read, mean", self.latency(Series::DatabaseRead)),
            Fact::new("Log write, mean", self.latency(Series::LogWrite)),
            Fact::new("Whole report", &*self.report),
        ]
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Json {
        json!({
            "verdict": crate::verdict_of(&self.run, &self.verdict),
            "server": self.server,
            "databases": self.databases,
            "sets": self.sets,
            "target_iops": self.run.start.settings.target_iops,
            "achieved_transactional_iops": achieved_iops(&self.run),
            "read_latency_ms": mean_ms(&self.run, Series::DatabaseRead),
            "log_write_latency_ms": mean_ms(&self.run, Series::LogWrite),
            "uncertainty_percent": self.run.simulated().map(|of| of.uncertainty_percent),
            "report": self.report,
            "edits": self.edits.iter().map(|edit| json!({
                "section": edit.section,
                "line": edit.line,
                "effect": edit.effect,
                "simulated": edit.simulated.map(|of| outcome_name(of.outcome)),
                "read_latency_ms": edit.simulated.and_then(|of| of.read_ms),
            })).collect::<Vec<_>>(),
        })
    }
}

/// Edits as the lines of a document, each with its effect.
pub fn written(edits: &[DesignEdit]) -> String {
    let mut text = String::new();
    for edit in edits {
        let gap = if text.is_empty() { "" } else { "\n" };
        let DesignEdit { section, line, effect, .. } = edit;
        let proof = edit.proof();
        let _ = writeln!(text, "{gap}# {effect}\n# {proof}\n[{section}]\n{line}");
    }
    text
}
