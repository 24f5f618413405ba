//! Simulated runs of one plan on arrays that differ, ranked: which of them carries the load, and
//! which carries the most.

use std::cmp::Reverse;
use std::fmt::Write as _;

use record::{RunRecord, Series};
use serde_json::{Value as Json, json};
use verdict::{Estimate, Ruling, Verdict, estimate_of_runs};

use crate::design::PicturePart;
use crate::document::{
    Banner, Block, Cell, Column, Document, Picture, Section, Table, TableRow, Tone,
};
use crate::format::{number, plural, three_digits};
use crate::listed::{achieved_iops, mean_ms, tone_of, verdict_name};
use crate::sections::{summary, tone};
use crate::{html, json, meaning, simulated, text};

/// Bytes of text for which there is room beside a bar.
const LONGEST_LABEL: usize = 22;

/// A simulated run of one of the arrays, with one seed.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Changes to the array: keys and values.
    pub changes: Vec<(String, String)>,
    /// The simulated run.
    pub run: RunRecord,
    /// The verdict.
    pub verdict: Verdict,
    /// Name of its folder.
    pub folder: String,
}

impl Prediction {
    fn mean_ms(&self, series: Series) -> Option<f64> {
        mean_ms(&self.run, series)
    }

    /// Why it does not pass, in a few words.
    fn reason(&self) -> String {
        let decisive = match self.verdict.outcome {
            Ruling::Pass | Ruling::Warn => return String::new(),
            Ruling::Fail => Ruling::Fail,
            Ruling::CannotJudge => Ruling::CannotJudge,
        };
        let mut found = Vec::new();
        for finding in self.verdict.findings.iter().filter(|finding| finding.outcome == decisive) {
            // The table has the figures of the failed rule.
            found.push(match decisive {
                Ruling::CannotJudge => {
                    meaning::objection(&self.run, finding).trim_end_matches('.').to_owned()
                }
                _ => finding.title.to_owned(),
            });
        }
        found.join(", ")
    }

    const fn class(&self) -> u8 {
        match self.verdict.outcome {
            Ruling::Pass | Ruling::Warn => 0,
            Ruling::CannotJudge => 1,
            Ruling::Fail => 2,
        }
    }
}

/// One of the arrays: its runs, one at least, which differ in their seeds alone.
#[derive(Clone, Debug)]
pub struct PredictedArray(Vec<Prediction>);

impl PredictedArray {
    /// Verdict on the array: no better than any seed's run.
    pub fn verdict(&self) -> &Verdict {
        &self.worst().verdict
    }

    /// The first of the runs with the worst verdict.
    fn worst(&self) -> &Prediction {
        let worst = self.0.iter().min_by_key(|one| Reverse(one.class()));
        worst.expect("invariant: an array has a run")
    }

    /// A figure of its runs: their mean, and its uncertainty if there are several.
    fn figure(&self, of: impl Fn(&Prediction) -> Option<f64>) -> Option<Estimate> {
        let values: Vec<f64> = self.0.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| estimate_of_runs(&values))
    }

    fn iops(&self) -> Option<Estimate> {
        self.figure(|one| achieved_iops(&one.run))
    }

    fn latency(&self, series: Series) -> Option<Estimate> {
        self.figure(|one| one.mean_ms(series))
    }

    /// Mean rate; 0 if nothing was measured under load.
    fn mean_iops(&self) -> f64 {
        self.iops().map_or(0.0, |of| of.mean)
    }

    /// Its rate, up to the target.
    fn wanted_iops(&self) -> f64 {
        let settings = &self.0[0].run.start.settings;
        let reached = settings.thresholds.target_reached_percent / 100.0;
        let wanted = settings.target_iops.map_or(f64::INFINITY, |target| target * reached);
        self.mean_iops().min(wanted)
    }

    fn read_ms(&self) -> f64 {
        self.latency(Series::DatabaseRead).map_or(f64::MAX, |of| of.mean)
    }

    fn name(&self) -> String {
        let mut name = String::new();
        for (key, value) in &self.0[0].changes {
            let separator = if name.is_empty() { "" } else { ", " };
            let _ = write!(name, "{separator}{key}={value}");
        }
        if name.is_empty() { "as described".to_owned() } else { name }
    }

    /// A bar whose label fits beside it: the rank in the table, and the values.
    fn bar(
        &self,
        rank: u32,
        (title, length, ink): (&'static str, Option<f64>, &'static str),
    ) -> (String, Vec<PicturePart>) {
        let mut label = format!("{rank}:");
        for (_, value) in &self.0[0].changes {
            let _ = write!(label, " {value}");
        }
        let label = units::shortened(&label, LONGEST_LABEL).into_owned();
        (label, vec![(title, length.unwrap_or(0.0), ink)])
    }

    /// The verdict's name; with the number of seeds, if they differ.
    fn verdict_cell(&self) -> Cell {
        let worst = self.worst();
        let alike = self.0.iter().filter(|one| one.class() == worst.class()).count();
        let mut name = worst.verdict.outcome.name().to_owned();
        if alike < self.0.len() {
            let _ = write!(name, ", {alike} of {} seeds", self.0.len());
        }
        Cell::plain(name).toned(tone(worst.verdict.outcome))
    }

    /// The same for programs.
    fn part(&self, rank: usize) -> Json {
        let worst = self.worst();
        let changes: serde_json::Map<String, Json> =
            worst.changes.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
        let figures = [
            ("achieved_transactional_iops", self.iops()),
            ("read_latency_ms", self.latency(Series::DatabaseRead)),
            ("write_latency_ms", self.latency(Series::DatabaseWrite)),
            ("log_write_latency_ms", self.latency(Series::LogWrite)),
        ];
        let mut part = json!({
            "rank": rank,
            "changes": changes,
            "verdict": json::verdict_of(&worst.run, &worst.verdict),
            "seeds": self.0.len(),
            "half_width_95": figures
                .map(|(name, of)| (name.to_owned(), json!(of.and_then(|of| of.half_width))))
                .into_iter()
                .collect::<serde_json::Map<_, _>>(),
            "objections": worst.reason(),
            "folder": worst.folder,
        });
        for (name, of) in figures {
            part[name] = json!(of.map(|of| of.mean));
        }
        part
    }
}

/// The arrays of these runs, the best first: passing before inconclusive before failing, then the
/// higher rate, then the faster reads; rates that reach their target count as equal. Equals stay in
/// their order. Runs with the same changes are of one array.
pub fn ranked_predictions(runs: Vec<Prediction>) -> Vec<PredictedArray> {
    let mut all: Vec<PredictedArray> = Vec::new();
    for run in runs {
        match all.iter_mut().find(|of| of.0[0].changes == run.changes) {
            Some(array) => array.0.push(run),
            None => all.push(PredictedArray(vec![run])),
        }
    }
    all.sort_by(|one, two| {
        one.worst()
            .class()
            .cmp(&two.worst().class())
            .then(two.wanted_iops().total_cmp(&one.wanted_iops()))
            .then(one.read_ms().total_cmp(&two.read_ms()))
    });
    all
}

/// One self-contained HTML page.
pub fn predictions_html(all: &[PredictedArray]) -> String {
    html::page(&document(all))
}

/// The same as plain text.
pub fn predictions_text(all: &[PredictedArray]) -> String {
    text::render(&document(all))
}

/// The same numbers for programs.
pub fn predictions_json(all: &[PredictedArray]) -> String {
    let members = json!({
        "simulated": all.first().and_then(|one| one.worst().run.simulated()).map(|of| &of.array),
        "predictions": all.iter().zip(1..).map(|(one, rank)| one.part(rank)).collect::<Json>(),
    });
    let json = crate::answer("predictions", members);
    units::plain_json(&format!("{json:#}\n")).into_owned()
}

fn document(all: &[PredictedArray]) -> Document {
    let pictures = [
        picture(all, "Transactional IOPS", "ink-write", |one| Some(one.mean_iops())),
        picture(all, "Database reads, mean ms", "ink-read", |one| {
            one.latency(Series::DatabaseRead).map(|of| of.mean)
        }),
        picture(all, "Log writes, mean ms", "ink-log", |one| {
            one.latency(Series::LogWrite).map(|of| of.mean)
        }),
    ];
    let table = Section { id: "ranking", title: "Ranking", blocks: vec![table(all)] };
    let blocks = pictures.map(Block::from).to_vec();
    let pictures = Section { id: "pictures", title: "Side By Side", blocks };
    Document { banner: banner(all), sections: vec![table, pictures] }
}

fn banner(all: &[PredictedArray]) -> Banner {
    let best = all.first();
    let run = best.map(PredictedArray::worst);
    Banner {
        subject: run.map(|one| summary::subject(&one.run.start)).unwrap_or_default(),
        started: run.map(|one| summary::started(&one.run.start)).unwrap_or_default(),
        verdict: run.map(|one| verdict_name(&one.run, &one.verdict)).unwrap_or_default(),
        tone: run.map_or(Tone::Warn, |one| tone_of(&one.verdict)),
        number: best.map_or_else(|| "-".to_owned(), |best| three_digits(best.mean_iops())),
        number_unit: "IOPS of the best",
        number_metric: "achieved-transactional-iops",
        meaning: best.map(|best| said(best, all)).unwrap_or_default(),
        figures: Vec::new(),
    }
}

/// Meaning of the ranking, and its error bounds.
fn said(best: &PredictedArray, all: &[PredictedArray]) -> Vec<String> {
    let Prediction { run, verdict, .. } = best.worst();
    let mut said: Vec<String> = meaning::sentences(run, verdict).into_iter().take(1).collect();
    said.extend(run.simulated().map(simulated::trust));
    let seeds = best.0.len();
    if seeds > 1 {
        said.push(format!(
            "Every figure is the mean of {seeds} seeds; +- is half of its 95 % confidence \
             interval, which holds chance alone and no error of the model."
        ));
    }
    let passing = all.iter().filter(|one| one.verdict().exit_code() == 0).count();
    let of = plural(all.len() as u64, "simulated array");
    said.push(match passing {
        0 => format!("None of {of} carries this load for certain."),
        passing => format!("{passing} of {of} carry this load; the best is {}.", best.name()),
    });
    said
}

fn table(all: &[PredictedArray]) -> Block {
    Block::Table(Table {
        caption: "Simulated arrays, the best first",
        columns: vec![
            Column::numbers("Rank"),
            Column::text("Array"),
            Column::text("Verdict"),
            Column::metric("IOPS", "achieved-transactional-iops"),
            Column::metric("Read ms", "database-reads-latency"),
            Column::numbers("Write ms"),
            Column::metric("Log write ms", "log-writes-latency"),
            Column::text("Because of"),
        ],
        rows: all.iter().zip(1_u32..).map(row).collect(),
    })
}

fn row((one, rank): (&PredictedArray, u32)) -> TableRow {
    TableRow::body(vec![
        Cell::plain(rank.to_string()),
        Cell::plain(one.name()),
        one.verdict_cell(),
        figure(one.iops(), three_digits),
        figure(one.latency(Series::DatabaseRead), |ms| number(ms, 2)),
        figure(one.latency(Series::DatabaseWrite), |ms| number(ms, 2)),
        figure(one.latency(Series::LogWrite), |ms| number(ms, 2)),
        Cell::plain(one.worst().reason()),
    ])
}

/// A mean, with half of its confidence interval if there is one.
fn figure(of: Option<Estimate>, written: impl Fn(f64) -> String) -> Cell {
    Cell::or_none(of.map(|of| match of.half_width {
        Some(half) => format!("{} +- {}", written(of.mean), number(half, 2)),
        None => written(of.mean),
    }))
}

fn picture(
    all: &[PredictedArray],
    title: &'static str,
    ink: &'static str,
    of: impl Fn(&PredictedArray) -> Option<f64>,
) -> Picture {
    let bars: Vec<_> =
        all.iter().zip(1..).map(|(one, rank)| one.bar(rank, (title, of(one), ink))).collect();
    let svg = crate::design::bars_svg(title, &bars);
    Picture::wide(title.to_owned(), svg, Vec::new())
}

#[cfg(test)]
mod tests {
    use record::synthetic::Synthetic;
    use record::{RunRecord, Series, Simulation};

    use super::{
        PredictedArray, Prediction, predictions_json, predictions_text, ranked_predictions,
    };

    fn prediction(name: &str, run: RunRecord) -> Prediction {
        let verdict = verdict::judge(&run);
        let changes = vec![("raid.level".to_owned(), name.to_owned())];
        Prediction { changes, run, verdict, folder: format!("what-if-{name}") }
    }

    fn simulated(run: &Synthetic) -> RunRecord {
        let mut run = run.run();
        let array = "shelf".to_owned();
        run.start.simulated = Some(Box::new(Simulation { array, ..Simulation::default() }));
        run
    }

    #[test]
    fn what_passes_comes_before_what_fails_and_everything_says_that_it_is_simulated() {
        let slow = simulated(&Synthetic { spike: Some(2), ..Synthetic::default() });
        let good = simulated(&Synthetic::default());
        let ranked = ranked_predictions(vec![prediction("5", slow), prediction("10", good)]);
        assert!(ranked.iter().map(PredictedArray::name).eq(["raid.level=10", "raid.level=5"]));
        let text = predictions_text(&ranked);
        assert!(text.contains("SIMULATED PASS") && text.contains("the best is raid.level=10"));
        let json: serde_json::Value =
            serde_json::from_str(&predictions_json(&ranked)).expect("JSON");
        assert_eq!(json["simulated"], "shelf");
        assert_eq!(json["predictions"][0]["verdict"], "simulated_pass");
        assert_eq!(json["predictions"][1]["verdict"], "simulated_fail");
        assert_eq!(json["predictions"][1]["rank"], 2);
    }

    /// Faster reads at a lower rate are no merit while the target is missed.
    #[test]
    fn the_higher_rate_comes_first_until_the_target_is_reached_then_the_faster_reads() {
        let few = Synthetic { databases: 1, ..Synthetic::default() };
        let many = Synthetic { read_median_ns: 9_500_000, ..Synthetic::default() };
        for (target, best) in [(10_000.0, "raid.level=10"), (100.0, "raid.level=5")] {
            let runs = [("5", &few), ("10", &many)].map(|(name, run)| {
                let mut run = simulated(run);
                run.start.settings.target_iops = Some(target);
                prediction(name, run)
            });
            let ranked = ranked_predictions(runs.to_vec());
            assert_eq!(ranked[0].name(), best, "{target}");
        }
    }

    /// Runs that differ in their seeds are one array, which is no better than the worst of them.
    #[test]
    fn seeds_of_an_array_make_one_row_with_its_interval() {
        let runs = [1, 2, 3].map(|seed| {
            let seed = units::Seed(seed);
            prediction("10", simulated(&Synthetic { seed, ..Synthetic::default() }))
        });
        let alone = ranked_predictions(runs[..1].to_vec());
        let mut runs = runs.to_vec();
        let slow = simulated(&Synthetic { spike: Some(2), ..Synthetic::default() });
        runs.push(prediction("5", slow.clone()));
        let ranked = ranked_predictions(runs.clone());
        assert_eq!((alone.len(), ranked.len()), (1, 2));
        assert_eq!(alone[0].iops().and_then(|of| of.half_width), None);
        let seeded = ranked.iter().find(|of| of.name() == "raid.level=10");
        let half = seeded.and_then(|of| of.latency(Series::DatabaseRead)?.half_width);
        assert!(half.is_some_and(|half| half > 0.0), "{half:?}");
        let text = predictions_text(&ranked);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("mean of 3 seeds; +- is"), "{text}");
        runs.push(prediction("10", slow));
        let text = predictions_text(&ranked_predictions(runs));
        assert!(text.contains("Fail, 1 of 4 seeds"), "{text}");
    }

    #[test]
    fn what_cannot_be_judged_says_why() {
        let mut short = simulated(&Synthetic::default());
        short.start.settings.thresholds.minimum_log_writes = u64::MAX;
        let reason = prediction("10", short).reason();
        assert!(
            reason.contains("Log write latency, average: ") && reason.contains("at least"),
            "{reason}"
        );
    }
}
