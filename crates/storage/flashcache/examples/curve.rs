//! The hit ratio of a trace over cache sizes: `curve BLOCK_BYTES [--all] BLOCKS... < TRACE`. With
//! `--all` every request is admitted, for comparison with other simulators of S3-FIFO.

use std::fmt::Write as _;
use std::io::Read as _;
use std::process::ExitCode;

use flashcache::{CurveOptions, MissRatioCurve, RequestClass, Trace};

fn main() -> ExitCode {
    match run() {
        Ok(text) => {
            let _ = std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes());
            ExitCode::SUCCESS
        }
        Err(problem) => {
            let problem = format!("{problem}\n");
            let _ = std::io::Write::write_all(&mut std::io::stderr(), problem.as_bytes());
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<String, String> {
    let usage = "usage: curve BLOCK_BYTES [--all] BLOCKS... < TRACE";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let admit_all = arguments.iter().any(|argument| argument == "--all");
    let numbers: Option<Vec<u64>> = arguments
        .iter()
        .filter(|argument| *argument != "--all")
        .map(|argument| argument.parse().ok())
        .collect();
    let numbers = numbers.ok_or(usage)?;
    let (&block_bytes, sizes) = numbers.split_first().ok_or(usage)?;
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string())?;
    let trace = Trace::read(&text).map_err(|error| error.to_string())?;
    let sizes = sizes.iter().map(|blocks| blocks * block_bytes).collect();
    let options = CurveOptions { block_bytes, sizes, admit_all, followed_blocks: None };
    Ok(page(&trace, &MissRatioCurve::of(&trace, &options)))
}

fn page(trace: &Trace, curve: &MissRatioCurve) -> String {
    let mut text = format!(
        "{}: {} requests, {} blocks, {:.1} % of them followed\n",
        trace.format.name(),
        trace.requests.len(),
        curve.footprint_blocks,
        curve.sampling_rate * 100.0
    );
    for (reason, count) in &trace.skipped {
        let _ = writeln!(text, "skipped {count}: {reason}");
    }
    for class in RequestClass::ALL {
        let at = class as usize;
        let (requests, bytes) = (curve.requests[at], curve.bytes[at]);
        let _ = writeln!(text, "{}: {requests} requests, {bytes} bytes", class.name());
    }
    for point in &curve.points {
        let ratio = point.hit_ratio.unwrap_or(0.0);
        let _ = writeln!(
            text,
            "{} bytes: hit ratio {ratio:.4} +- {:.4}, {:.3} blocks written per read",
            point.bytes, point.error, point.flash_writes_per_read
        );
    }
    text
}
