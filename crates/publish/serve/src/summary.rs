//! A run in one line: the data for lists, searches and metrics.

use std::collections::BTreeSet;

use record::{Phase, RunRecord, Series};
use report::{RunEntry, RunState};
use serde_json::Value;
use verdict::{ReadLatency, Ruling, SampledMean, Verdict};

/// How a verdict looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Good.
    Pass,
    /// Worth a look.
    #[default]
    Warn,
    /// Bad.
    Fail,
    /// None yet.
    Live,
}

impl Tone {
    const ALL: [Self; 4] = [Self::Pass, Self::Warn, Self::Fail, Self::Live];

    /// Its class in the style of the pages.
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Live => "live",
        }
    }

    /// The look of that class.
    pub(crate) fn of_class(class: &str) -> Self {
        Self::ALL.into_iter().find(|tone| tone.class() == class).unwrap_or_default()
    }
}

/// Identity of a volume across runs. Device names change at every boot; mount point, model and size
/// do not, unless the disk is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct VolumeIdentity {
    /// The machine that saw it.
    pub machine: String,
    /// Its mount point.
    pub mount: String,
    /// Model of the disk or array; empty if unknown.
    pub model: String,
    /// Size of the volume.
    pub size_bytes: u64,
}

/// The part of a run kept in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunLine {
    /// Its name; empty in records of earlier releases.
    pub name: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The user's own description.
    pub description: String,
    /// The machine that made the load.
    pub machine: String,
    /// The kind of test.
    pub test: String,
    /// Its start, if known.
    pub started_ns: Option<u64>,
    /// The same in ISO 8601.
    pub started: Option<String>,
    /// Its verdict, in a word or two.
    pub verdict: String,
    /// The same in machine-readable form; `None` before the end, and for one host of a
    /// deployment.
    pub outcome: Option<String>,
    /// The array, of a simulated run.
    pub simulated: Option<String>,
    /// The instrument, of an imported result.
    pub imported: Option<String>,
    /// Whether a crash or a power cut has ended it.
    pub is_cut_off: bool,
    /// How the verdict is coloured.
    pub tone: Tone,
    /// Identifies its work, so that a chart connects only runs of the same work.
    pub work: String,
    /// Target in transactional IOPS; `None` for as many as possible.
    pub asked_iops: Option<f64>,
    /// Achieved transactional IOPS.
    pub iops: Option<f64>,
    /// Rate at which a backup read all databases together.
    pub backup_mib_per_second: Option<f64>,
    /// Mean latency of database reads.
    pub read_ms: Option<f64>,
    /// Mean latency of log writes.
    pub log_write_ms: Option<f64>,
    /// Spread of the reads, by which later loads are compared with this one.
    pub sampled_reads: Option<SampledMean>,
    /// Distance of its worst latency from the limit, in percent of the limit.
    pub margin_percent: Option<f64>,
    /// Volumes of its databases and logs; empty if it was simulated or imported.
    pub volumes: Vec<VolumeIdentity>,
}

/// Summarises a run that has ended.
pub(crate) fn of(run: &RunRecord, verdict: &Verdict) -> RunLine {
    let tone = match verdict.outcome {
        Ruling::Pass if report::lacking(verdict).is_some() => Tone::Warn,
        Ruling::Pass => Tone::Pass,
        Ruling::Fail => Tone::Fail,
        Ruling::Warn | Ruling::CannotJudge => Tone::Warn,
    };
    let is_cut_off = report::is_cut_off(run);
    RunLine {
        verdict: if is_cut_off { "Cut off".to_owned() } else { report::verdict_name(run, verdict) },
        outcome: (!run.is_host_of_deployment())
            .then(|| report::verdict_of(run, verdict).to_owned()),
        // That of the latencies that were judged is not that of the worst one.
        margin_percent: report::margin_percent(verdict)
            .filter(|_| verdict.outcome != Ruling::CannotJudge),
        is_cut_off,
        tone,
        ..figures(run)
    }
}

/// Summarises a live run.
pub(crate) fn of_live(run: &RunRecord) -> RunLine {
    RunLine { verdict: "Live".to_owned(), tone: Tone::Live, ..figures(run) }
}

fn figures(run: &RunRecord) -> RunLine {
    let start = &run.start;
    RunLine {
        name: start.name.clone(),
        tags: start.tags.clone(),
        description: start.description.clone(),
        machine: start.machine.name.clone(),
        test: start.test.name().to_owned(),
        started_ns: report::started_ns(run),
        started: report::started_iso(run),
        simulated: run.simulated().map(|simulation| simulation.array.clone()),
        imported: run.imported().map(|imported| imported.instrument.clone()),
        work: verdict::work_of(run),
        asked_iops: run.target_iops(),
        iops: report::achieved_iops(run),
        backup_mib_per_second: report::backup_mib_per_second(run),
        read_ms: report::mean_ms(run, Series::DatabaseRead),
        log_write_ms: report::mean_ms(run, Series::LogWrite),
        sampled_reads: ReadLatency::of(run).and_then(|reads| reads.sampled),
        volumes: volumes(run),
        ..RunLine::default()
    }
}

/// The volumes of a run that was measured, each once.
fn volumes(run: &RunRecord) -> Vec<VolumeIdentity> {
    if run.simulated().is_some() || run.imported().is_some() {
        return Vec::new();
    }
    let facts = run.start.databases.iter().flat_map(|of| [&of.volume, &of.log_volume]);
    let volumes: BTreeSet<VolumeIdentity> = facts
        .filter(|facts| !facts.mount.is_empty())
        .map(|facts| VolumeIdentity {
            machine: run.start.machine.name.clone(),
            mount: facts.mount.clone(),
            model: facts.model.clone(),
            size_bytes: facts.size_bytes,
        })
        .collect();
    Vec::from_iter(volumes)
}

impl RunLine {
    /// Whether every word of `query` occurs in the text shown by the list, ignoring case.
    pub(crate) fn matches(&self, id: &str, query: &str) -> bool {
        let shown = [id, &self.name, &self.description, &self.machine, &self.test, &self.verdict];
        let started = self.started.as_deref().unwrap_or_default();
        let text = format!("{} {} {started}", shown.join(" "), self.tags.join(" ")).to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }

    /// The same JSON as in `list --json`.
    pub(crate) fn json(&self, id: &str, is_live: bool, written_ns: Option<u64>) -> Value {
        let state = match (is_live, self.is_cut_off) {
            (true, _) => RunState::Live,
            (false, true) => RunState::CutOff,
            (false, false) => RunState::Ended,
        };
        let entry = RunEntry {
            name: &self.name,
            tags: &self.tags,
            description: &self.description,
            machine: &self.machine,
            test: &self.test,
            started: self.started.as_deref(),
            verdict: self.outcome.as_deref(),
            headline: (!is_live).then_some(&*self.verdict),
            is_replaced: false,
            simulated: self.simulated.as_deref(),
            imported: self.imported.as_deref(),
            target_iops: self.asked_iops,
            iops: self.iops,
            backup_mib_per_second: self.backup_mib_per_second,
            read_ms: self.read_ms,
            log_write_ms: self.log_write_ms,
        };
        entry.json(id, state, written_ns)
    }
}

/// Whether a phase runs under load, so that its rates and latencies are meaningful.
pub(crate) const fn is_load(phase: Phase) -> bool {
    matches!(phase, Phase::Warm | Phase::Tune | Phase::Measure)
}

#[cfg(test)]
mod tests {
    use super::RunLine;

    #[test]
    fn every_word_of_a_search_must_be_somewhere() {
        let run = RunLine {
            name: "Array A".to_owned(),
            tags: vec!["rack-3".to_owned()],
            verdict: "Fail".to_owned(),
            ..RunLine::default()
        };
        assert!(run.matches("runs/one", ""));
        assert!(run.matches("runs/one", "array RACK-3 fail"));
        assert!(run.matches("runs/one", "runs/"));
        assert!(!run.matches("runs/one", "array rack-4"));
    }
}
