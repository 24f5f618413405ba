//! `report --format esrp`: the white paper of a solution from its runs and its vendor's file.

use std::path::{Path, PathBuf};

use esrp::{Paper, Picture, TestedRun, Vendor};
use host::{is_live, journal_of, load, runs_at};
use report::split_replaced;
use verdict::worst;

use crate::cmd::report::flags::ReportFlags;
use console::Console;
use console::Outcome;
use console::documents::{self, Existing, read_document, read_text};
use console::error::CommandError;
use fleets::show::{host_runs, is_fleet};

/// Writes the paper; the outcome is the worst verdict of its runs.
pub(super) fn run(flags: &ReportFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let mut journals = Vec::new();
    let mut tested = Vec::new();
    for path in &flags.runs {
        for (host, run) in runs_of(path)? {
            journals.push(journal_of(&run));
            tested.push(read(host, &run)?);
        }
    }
    let (vendor, pictures, mut inputs) = match &flags.vendor {
        Some(file) => read_vendor(file)?,
        None => (Vendor::default(), Vec::new(), Vec::new()),
    };
    let paper = esrp::paper(&tested, &vendor, pictures)
        .map_err(|error| CommandError::new(error.to_string()))?;
    inputs.extend(journals);
    deliver(flags, &paper, &inputs, console)?;
    say_gaps(flags, &paper, console)?;
    let outcomes: Vec<_> = tested.iter().map(|run| run.verdict.outcome).collect();
    Ok(Outcome::of_ruling(worst(&outcomes)))
}

/// Returns the runs at a path, without those that a repeated test of their set replaces: for a
/// fleet run, which is one test of all servers, those of all hosts, with the name of each host.
fn runs_of(path: &Path) -> Result<Vec<(Option<String>, PathBuf)>, CommandError> {
    if !is_fleet(path) {
        let mut runs = Vec::new();
        for run in runs_at(path)? {
            runs.push((run.to_string_lossy().replace('\\', "/"), run));
        }
        let (last, _) = split_replaced(runs, |(name, _)| name);
        return Ok(last.into_iter().map(|(_, run)| (None, run)).collect());
    }
    let runs: Vec<(Option<String>, PathBuf)> =
        host_runs(path)?.into_iter().map(|(host, run)| (Some(host), run)).collect();
    if runs.is_empty() {
        return Err(CommandError::new(format!(
            "{}: no journal of its hosts has arrived; complete it with `plimsoll fleet collect`",
            path.display()
        )));
    }
    Ok(runs)
}

fn read(host: Option<String>, run: &Path) -> Result<TestedRun, CommandError> {
    if is_live(run) {
        return Err(CommandError::new(format!(
            "{}: the run is live; wait for its end, a paper covers whole runs",
            run.display()
        )));
    }
    let mut record = load(run)?;
    let verdict = verdict::judge(&record);
    // Machines of a fleet may share a host name; the fleet plan distinguishes them.
    if let Some(host) = host {
        record.start.machine.name = host;
    }
    Ok(TestedRun { name: run.display().to_string(), record, verdict })
}

/// Reads a vendor's file with its pictures, which are next to it, and returns all of their paths.
fn read_vendor(file: &Path) -> Result<(Vendor, Vec<Picture>, Vec<PathBuf>), CommandError> {
    let (name, text) = read_text(file)?;
    let vendor =
        Vendor::parse(&text).map_err(|error| CommandError::new(format!("{name}: {error}")))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let mut paths = vec![file.to_path_buf()];
    let mut pictures = Vec::new();
    for figure in &vendor.figures {
        let path = folder.join(&figure.file);
        let picture = Picture::from_png(read_document(&path)?)
            .map_err(|error| CommandError::new(format!("{}: {error}", path.display())))?;
        pictures.push(picture);
        paths.push(path);
    }
    Ok((vendor, pictures, paths))
}

fn deliver(
    flags: &ReportFlags,
    paper: &Paper,
    inputs: &[PathBuf],
    console: &mut Console,
) -> Result<(), CommandError> {
    let Some(file) = documents::named_file(flags.output.as_ref()) else {
        return console.answer_text(&esrp::html(paper));
    };
    let is_document = file.extension().is_some_and(|of| of.eq_ignore_ascii_case("docx"));
    let bytes = if is_document {
        esrp::docx(paper)
            .map_err(|error| CommandError::new(format!("{}: {error}", file.display())))?
    } else {
        esrp::html(paper).into_bytes()
    };
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    documents::write(file, &bytes, Existing::of_flag(flags.force), &inputs)?;
    console.remark(format_args!("Paper: {}", file.display()))
}

/// Prints the marked gaps, and how to fill them.
fn say_gaps(flags: &ReportFlags, paper: &Paper, console: &mut Console) -> Result<(), CommandError> {
    let gaps = paper.gaps();
    if gaps.is_empty() {
        return Ok(());
    }
    let count = gaps.len();
    console.remark(format_args!("{count} things are marked as missing: {}.", gaps.join(", ")))?;
    if flags.vendor.is_none() {
        console.remark(format_args!(
            "`plimsoll report --vendor-template` prints a file for what only the vendor knows."
        ))?;
    }
    Ok(())
}
