//! Simulation results of a design, in the same document as those of the rules: a design that breaks
//! no rule may still be too slow, and a reader of the page has to see both.

use record::{RunRecord, Series};
use report::document::{Block, Cell, Fact, Section};
use report::{achieved_iops, deciding_number, mean_ms, meaning, tone, verdict_name};
use serde_json::{Value as Json, json};
use units::three_digits;
use verdict::{Ruling, Verdict};

use super::edits::{self, DesignEdit};

/// What a prediction assumes, and what a proof answers instead.
const ASSUMED: &str = "Every copy on them is taken for active, none of them has failed, and each \
                       database is judged by its own mean. `size --prove` asks another question: \
                       whether each host keeps its limits as the design runs, where passive \
                       copies only replay, and in each failure, with its rebuild or seeding. \
                       Either may show the higher latency.";

/// A simulated run of one set of disks of a design.
#[derive(Clone, Debug)]
pub struct PredictedDesign {
    /// The simulated run.
    pub run: RunRecord,
    /// The verdict.
    pub verdict: Verdict,
    /// The server that these disks belong to.
    pub server: String,
    /// Databases on the set.
    pub databases: usize,
    /// Number of identical disk sets in the server.
    pub sets: u32,
    /// Path of the full report.
    pub report: String,
    /// Edits that may help, the cheapest first.
    pub edits: Vec<DesignEdit>,
}

impl PredictedDesign {
    /// The simulated load next to the target; its parts in IOPS.
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

    /// One sentence for the top of the page, with the number that decided.
    pub(super) fn sentence(&self) -> String {
        let (verb, decided) = match self.verdict.outcome {
            Ruling::Pass | Ruling::Warn => ("carries", "Closest to its limit"),
            Ruling::Fail => ("reached", "Limit not kept"),
            Ruling::CannotJudge => ("reached", "Inconclusive"),
        };
        let sets = match self.sets {
            1 => "the set".to_owned(),
            sets => format!("one of the {sets} sets"),
        };
        let deciding = deciding_number(&self.verdict);
        format!(
            "Simulated: {sets} of disks of {} {verb} {}.{} {ASSUMED}",
            self.server,
            self.load(),
            deciding.map(|number| format!(" {decided}: {number}.")).unwrap_or_default(),
        )
    }

    /// The prediction as a part of the page.
    pub(super) fn section(&self) -> Section {
        let mut blocks = vec![Block::Facts(self.facts())];
        // The sizing counts mailboxes by I/O and space; a simulated run knows no space.
        let mailboxes = meaning::mailboxes(&self.run);
        let said = meaning::sentences(&self.run, &self.verdict).into_iter();
        blocks.extend(said.filter(|text| *text != mailboxes).map(Block::Note));
        blocks.extend(edits::tried(&self.edits, "predict"));
        Section { id: "prediction", title: "What a simulation of the disks says", blocks }
    }

    fn facts(&self) -> Vec<Fact> {
        let name = verdict_name(&self.run, &self.verdict);
        let verdict = Cell::plain(name).toned(tone(self.verdict.outcome));
        let databases = match self.databases {
            1 => "1 database".to_owned(),
            databases => format!("{databases} databases"),
        };
        let sets = match self.sets {
            1 => "its set".to_owned(),
            sets => format!("one of its {sets} sets"),
        };
        vec![
            Fact { label: "Verdict", metric: None, value: verdict },
            Fact::new(
                "Simulated",
                format!("{databases} of {}, all taken for active, on {sets} of disks", self.server),
            ),
            Fact::metric("Load", "achieved-transactional-iops", self.load()),
            Fact::new(
                "Decided by",
                deciding_number(&self.verdict).unwrap_or_else(|| "-".to_owned()),
            ),
            Fact::new("Database read, mean", self.latency(Series::DatabaseRead)),
            Fact::new("Log write, mean", self.latency(Series::LogWrite)),
        ]
    }

    /// The same for programs.
    pub(super) fn json(&self) -> Json {
        json!({
            "verdict": report::verdict_of(&self.run, &self.verdict),
            "server": self.server,
            "databases": self.databases,
            "sets": self.sets,
            "target_iops": self.run.start.settings.target_iops,
            "achieved_transactional_iops": achieved_iops(&self.run),
            "read_latency_ms": mean_ms(&self.run, Series::DatabaseRead),
            "log_write_latency_ms": mean_ms(&self.run, Series::LogWrite),
            "uncertainty_percent": self.run.simulated().map(|of| of.uncertainty_percent),
            "report": self.report,
            "deciding": deciding_number(&self.verdict),
            "edits": self.edits.iter().map(DesignEdit::json).collect::<Vec<_>>(),
        })
    }
}
