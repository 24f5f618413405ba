//! The load line of the storage: a table of the loads tried, a picture, and the result in
//! mailboxes; as page, text and JSON.

mod json;
mod picture;
mod table;

use record::RunRecord;
use verdict::{Knee, LoadStep, Trend, knee};

use crate::document::{Banner, Block, Document, Fact, Section, Tone};
use crate::format::{number, plural, three_digits};
use crate::mailboxes::Carried;
use crate::sections::summary;
use crate::{html, text};

/// A search for the load line: its steps, in the order in which they were tried.
#[derive(Clone, Copy, Debug)]
pub struct LineReport<'a> {
    /// The last run that was measured, for the plan's limits, volumes and mailboxes.
    pub run: &'a RunRecord,
    /// The loads tried.
    pub steps: &'a [LoadStep],
    /// Database reads and writes per second that the plan requires; `None` if it states no
    /// requirement.
    pub required_iops: Option<f64>,
    /// Whether the search was completed.
    pub is_complete: bool,
}

/// The load line as one self-contained HTML page with a picture.
pub fn line_html(line: &LineReport<'_>) -> String {
    html::page(&document(line))
}

/// The load line as plain text.
pub fn line_text(line: &LineReport<'_>) -> String {
    text::render(&document(line))
}

/// The load line as JSON for programs.
pub fn line_json(line: &LineReport<'_>) -> String {
    json::render(line)
}

impl LineReport<'_> {
    /// Position of the line, if it was found.
    pub fn knee(&self) -> Option<Knee> {
        knee(self.steps)
    }

    fn carried(&self, iops: f64) -> Carried {
        Carried::at(self.run, iops)
    }
}

pub(crate) fn document(line: &LineReport<'_>) -> Document {
    let sure = Fact::metric("Confidence of each mean", "confidence-interval", "95 %");
    let blocks = vec![table::loads(line), Block::Facts(vec![sure])];
    let table = Section { id: "loads", title: "Loads", blocks };
    let notes = notes(line).into_iter().map(Block::Note);
    let picture = Block::from(picture::picture(line));
    let blocks = [picture].into_iter().chain(notes);
    let curve = Section { id: "curve", title: "Latency over load", blocks: blocks.collect() };
    let names = summary::names(&line.run.start);
    Document { banner: banner(line), sections: vec![curve, table], names }
}

fn banner(line: &LineReport<'_>) -> Banner {
    let found = line.knee();
    let (verdict, tone) = match &found {
        None if line.steps.iter().all(|step| step.holds.is_none()) => {
            ("Could not measure", Tone::Warn)
        }
        None if !line.is_complete => ("No load line yet", Tone::Warn),
        None => ("No load line", Tone::Fail),
        Some(found) if line.required_iops.is_some_and(|iops| found.iops < iops) => {
            ("Below the required load", Tone::Fail)
        }
        Some(_) => ("Load line", Tone::Pass),
    };
    let start = &line.run.start;
    Banner {
        subject: summary::subject(start),
        started: crate::format::timestamp(start.started_epoch_ns),
        verdict: verdict.to_owned(),
        tone,
        number: found.map_or_else(|| "-".to_owned(), |found| number(found.iops, 0)),
        number_unit: "IOPS".into(),
        number_metric: "load-line",
        meaning: meaning(line, found),
        figures: Vec::new(),
    }
}

fn meaning(line: &LineReport<'_>, found: Option<Knee>) -> Vec<String> {
    let mut said = Vec::new();
    if !line.is_complete {
        said.push("The search was ended before its end; this is what it had measured.".to_owned());
    }
    let Some(found) = found else {
        said.push("No load was seen at which every rule holds.".to_owned());
        return said;
    };
    let held = three_digits(found.held_iops);
    said.push(if found.is_passed {
        format!("Every rule held at {held} IOPS; a load above it failed. The line is interpolated.")
    } else {
        format!("Every rule held at {held} IOPS, and no higher load was seen to fail.")
    });
    said.extend(free_load_above(line.steps, found));
    if let Some(required) = line.required_iops {
        let margin = (found.iops / required - 1.0) * 100.0;
        let required = three_digits(required);
        let margin = number(margin, 1);
        said.push(format!("Required: {required} IOPS, headroom included; margin {margin} %."));
    }
    said.push(line.carried(found.iops).bounds());
    said
}

/// Why a free load above the line, which kept every rule, is not the line.
fn free_load_above(steps: &[LoadStep], found: Knee) -> Option<String> {
    let free = steps.iter().filter(|step| step.asked_iops.is_none() && step.holds == Some(true));
    let highest = free.map(|step| step.iops.mean).reduce(f64::max);
    highest.filter(|&iops| iops > found.iops).map(|iops| {
        format!(
            "The free load, {} IOPS, also kept every rule, but does not count beside held loads: \
             its sessions wait for the storage, and users do not.",
            three_digits(iops)
        )
    })
}

/// Notes for readers of the table.
fn notes(line: &LineReport<'_>) -> Vec<String> {
    let unjudged = line.steps.iter().filter(|step| step.holds.is_none()).count() as u64;
    let drifting = line.steps.iter().filter(|step| matches!(step.trend, Some(Trend::Drifting(_))));
    let drifting = drifting.count() as u64;
    let mut said = Vec::new();
    if unjudged > 0 {
        let steps = plural(unjudged, "load");
        said.push(format!("The line does not rest on {steps} that could not be judged."));
    }
    if drifting > 0 {
        let steps = plural(drifting, "load");
        said.push(format!("{steps} had no steady state: measure longer steps."));
    }
    said
}
