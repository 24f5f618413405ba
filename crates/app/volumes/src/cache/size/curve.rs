//! The miss-ratio curve of a trace, for people and for programs.

use std::path::Path;

use flashcache::{
    CurveOptions, CurvePoint, MissRatioCurve, NoCacheReason, RequestClass, SizeAdvice, Trace,
};
use record::JOURNAL;
use serde_json::{Value, json};
use units::Bytes;

use super::flags::CacheSizeFlags;
use console::Console;
use console::Outcome;
use console::documents;
use console::error::CommandError;

/// Default sizes, in hundredths of the data that the trace touches.
const USUAL_HUNDREDTHS: [u64; 9] = [1, 2, 5, 10, 20, 30, 50, 75, 100];

/// Characters of a full bar.
pub(super) const BAR: usize = 20;

pub(super) const DAY_NS: f64 = 86_400e9;

/// A curve and its origin.
struct TraceCurve {
    file: String,
    trace: Trace,
    curve: MissRatioCurve,
    block: Bytes,
}

/// Evaluates the trace at `path`.
pub(super) fn run(
    flags: &CacheSizeFlags,
    path: &Path,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let found = TraceCurve::read(flags, path)?;
    if flags.json {
        console.answer_json("cache_curve", found.json())?;
    } else {
        found.text(console)?;
    }
    Ok(Outcome::Pass)
}

impl TraceCurve {
    fn read(flags: &CacheSizeFlags, path: &Path) -> Result<Self, CommandError> {
        refuse_run(path)?;
        let file = path.display().to_string();
        let trace = Trace::read(&documents::read_data(path)?)
            .map_err(|error| CommandError::new(format!("{file}: {error}")))?;
        let mut options = CurveOptions {
            block_bytes: flags.block.0,
            sizes: flags.sizes.iter().map(|size| size.0.max(flags.block.0)).collect(),
            admit_all: false,
            followed_blocks: None,
        };
        if options.sizes.is_empty() {
            let footprint = trace.footprint_blocks(flags.block.0);
            options.sizes = USUAL_HUNDREDTHS
                .iter()
                .map(|part| (footprint * part).div_ceil(100) * flags.block.0)
                .collect();
        }
        options.sizes.sort_unstable();
        options.sizes.dedup();
        let curve = MissRatioCurve::of(&trace, &options);
        Ok(Self { file, trace, curve, block: flags.block })
    }

    fn text(&self, console: &mut Console) -> Result<(), CommandError> {
        self.origin(console)?;
        console.answer("")?;
        console.answer(format_args!(
            "{:>10}  {:BAR$}  {:>16}  {:>10}  {:>8}  {:>11}  {:>11}",
            "cache",
            "reads answered",
            "hit ratio",
            "page reads",
            "scans",
            "SAN traffic",
            "flash a day"
        ))?;
        for point in &self.curve.points {
            console.answer(self.row(point))?;
        }
        console.answer("")?;
        console.answer_folded(self.advice(), 0)?;
        if let SizeAdvice::Buy { .. } = SizeAdvice::of(&self.curve) {
            console.answer_folded(
                "Writes, and the log with them, stay as slow as the volume: this cache writes \
                 through. `cache size PLAN --array ARRAY` predicts latency and IOPS.",
                0,
            )?;
        }
        Ok(())
    }

    /// Prints the trace, its limitations, and how much of it was sampled.
    fn origin(&self, console: &mut Console) -> Result<(), CommandError> {
        let requests = self.trace.requests.len() as u64;
        let span = self.trace.span_ns().map(report::format::duration);
        console.answer(format_args!(
            "{}: {}, {} requests{}",
            self.file,
            self.trace.format.name(),
            report::format::whole(requests),
            span.map_or_else(|| ", without times".to_owned(), |span| format!(" in {span}")),
        ))?;
        for (reason, lines) in &self.trace.skipped {
            console
                .answer(format_args!("  not used: {} ({reason})", report::format::whole(*lines)))?;
        }
        for class in RequestClass::ALL {
            let at = class as usize;
            let (requests, bytes) = (self.curve.requests[at], Bytes(self.curve.bytes[at]));
            let requests = report::format::whole(requests);
            console.answer(format_args!("  {}: {requests} requests, {bytes}", class.name()))?;
        }
        let followed = self.curve.sampling_rate;
        let how = if followed < 1.0 {
            format!("{:.1} % of them followed, hence the error", followed * 100.0)
        } else {
            "all of them followed: no sampling error".to_owned()
        };
        console.answer(format_args!(
            "  touches {} in blocks of {}, {how}",
            Bytes(self.curve.footprint_blocks * self.block.0),
            self.block
        ))
    }

    fn row(&self, point: &CurvePoint) -> String {
        let ratio = point.hit_ratio.unwrap_or(0.0);
        format!(
            "{:>10}  {:BAR$}  {:>6.1} % +- {:.1} %  {:>10}  {:>8}  {:>11}  {:>11}",
            Bytes(point.bytes).to_string(),
            bar(ratio),
            ratio * 100.0,
            point.error * 100.0,
            share(point.by_class[RequestClass::Database as usize]),
            share(point.by_class[RequestClass::Sequential as usize]),
            format!("-{:.1} %", point.traffic_saved * 100.0),
            self.flash_a_day(point).map_or_else(|| "-".to_owned(), gibibytes),
        )
    }

    /// Bytes written to flash per day at the rate of the trace; `None` if the trace has no times.
    fn flash_a_day(&self, point: &CurvePoint) -> Option<f64> {
        let span = self.trace.span_ns()?;
        let blocks = point.flash_writes_per_read * self.curve.read_blocks as f64;
        Some(blocks * self.block.0 as f64 * DAY_NS / span as f64)
    }

    fn advice(&self) -> String {
        let all = Bytes(self.curve.footprint_blocks * self.block.0);
        match SizeAdvice::of(&self.curve) {
            SizeAdvice::Buy { bytes, hit_ratio, knee_bytes } => {
                let size = Bytes(bytes);
                let take = format!(
                    "Take {size}: it answers {:.0} % of the page reads, nine tenths of the best \
                     that any size here does.",
                    hit_ratio * 100.0
                );
                match knee_bytes {
                    Some(knee) => format!(
                        "{take} The curve bends at {}: beyond it a GiB brings less than before.",
                        Bytes(knee)
                    ),
                    None => format!(
                        "{take} There is no knee: every GiB brings as much as the one before, up \
                         to the {all} that the load touches. Do not buy much less than that."
                    ),
                }
            }
            SizeAdvice::Refrain(NoCacheReason::NoPageReads) => {
                "Do not buy a cache: this load reads no pages at random, and scans and logs gain \
                 nothing from flash that writes through."
                    .to_owned()
            }
            SizeAdvice::Refrain(NoCacheReason::SeldomReadTwice { highest }) => format!(
                "Do not buy a cache: even the largest one here answers {:.0} % of the page reads, \
                 because pages are seldom read twice within the trace. A longer trace may show \
                 more; otherwise spend the money on faster disks.",
                highest * 100.0
            ),
        }
    }

    fn json(&self) -> Value {
        let points = self.curve.points.iter().map(|point| self.point_json(point));
        let classes = RequestClass::ALL.into_iter().map(|class| {
            json!({
                "class": class.name(),
                "requests": self.curve.requests[class as usize],
                "bytes": self.curve.bytes[class as usize],
            })
        });
        json!({
            "file": self.file,
            "format": self.trace.format.name(),
            "requests": self.trace.requests.len(),
            "span_ns": self.trace.span_ns(),
            "skipped": self.trace.skipped,
            "block_bytes": self.block.0,
            "footprint_bytes": self.curve.footprint_blocks * self.block.0,
            "sampling_rate": self.curve.sampling_rate,
            "classes": classes.collect::<Vec<_>>(),
            "points": points.collect::<Vec<_>>(),
            "advice": advice_json(SizeAdvice::of(&self.curve), &self.advice()),
        })
    }

    fn point_json(&self, point: &CurvePoint) -> Value {
        json!({
            "bytes": point.bytes,
            "hit_ratio": point.hit_ratio,
            "error": point.error,
            "database_hit_ratio": point.by_class[RequestClass::Database as usize],
            "sequential_hit_ratio": point.by_class[RequestClass::Sequential as usize],
            "log_hit_ratio": point.by_class[RequestClass::Log as usize],
            "traffic_saved": point.traffic_saved,
            "flash_bytes_a_day": self.flash_a_day(point),
        })
    }
}

fn advice_json(advice: SizeAdvice, text: &str) -> Value {
    let (bytes, knee_bytes) = match advice {
        SizeAdvice::Buy { bytes, knee_bytes, .. } => (Some(bytes), knee_bytes),
        SizeAdvice::Refrain(_) => (None, None),
    };
    json!({ "buy": bytes.is_some(), "bytes": bytes, "knee_bytes": knee_bytes, "text": text })
}

/// Refuses a journal: it has no addresses, so no curve can be derived from it.
fn refuse_run(path: &Path) -> Result<(), CommandError> {
    let is_journal = path.file_name().is_some_and(|name| name == JOURNAL);
    if !is_journal && !path.join(JOURNAL).exists() {
        return Ok(());
    }
    Err(CommandError::new(format!(
        "{}: the journal of a run counts requests and their latencies, but not which pages they \
         read, so that it says nothing about hits; record a trace beside the run (blktrace, or \
         fio --write_iolog), or simulate its plan: plimsoll cache size PLAN --array ARRAY",
        path.display()
    )))
}

pub(super) fn share(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.1} %", ratio * 100.0))
}

pub(super) fn gibibytes(bytes: f64) -> String {
    format!("{} GiB", report::format::number(bytes / f64::from(1 << 30), 1))
}

pub(super) fn bar(ratio: f64) -> String {
    let full = (1..=BAR).filter(|&part| part as f64 <= ratio * BAR as f64 + 0.5).count();
    "#".repeat(full)
}

#[cfg(test)]
mod tests {
    use super::{BAR, bar};

    #[test]
    fn bars_are_as_long_as_the_ratio() {
        assert_eq!((bar(0.0).len(), bar(0.5).len(), bar(1.0).len()), (0, BAR / 2, BAR));
    }
}
