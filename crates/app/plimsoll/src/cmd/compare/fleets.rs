//! `compare` for fleet runs: the hosts of one run side by side, or each host of one run with the
//! same-named host in the others.

use std::path::{Path, PathBuf};

use host::journal_of;
use report::{ComparedHost, ReportForm};
use verdict::NamedRun;

use console::error::CommandError;
use fleets::show::{host_runs, is_fleet, name};

/// Returns the host runs of the fleet if it is the only path; `None` for several paths. An error if
/// the only path is no fleet, or fewer than two of its journals have arrived.
pub(super) fn within(paths: &[PathBuf]) -> Result<Option<Vec<PathBuf>>, CommandError> {
    let [fleet] = paths else { return Ok(None) };
    if !is_fleet(fleet) {
        return Err(CommandError::usage(format!(
            "{}: one run has nothing to be compared with; name two, or one fleet run, whose hosts \
             are compared",
            fleet.display()
        )));
    }
    let runs: Vec<PathBuf> = host_runs(fleet)?.into_iter().map(|(_, run)| run).collect();
    if runs.len() < 2 {
        return Err(CommandError::new(format!(
            "{}: the journals of {} have arrived, and two are needed; complete it with \
             `plimsoll fleet collect`",
            fleet.display(),
            units::plural(runs.len() as u64, "host")
        )));
    }
    Ok(Some(runs))
}

/// Whether all paths are fleet runs; an error if only some are.
pub(super) fn are_fleets(paths: &[PathBuf]) -> Result<bool, CommandError> {
    let run = paths.iter().find(|path| !is_fleet(path));
    let fleet = paths.iter().find(|path| is_fleet(path));
    match (fleet, run) {
        (Some(_), None) => Ok(true),
        (None, _) => Ok(false),
        (Some(fleet), Some(run)) => Err(CommandError::new(format!(
            "{}: is a fleet run, and {} a single run; compare fleets with fleets, or name one of \
             the runs below {}",
            fleet.display(),
            run.display(),
            fleet.join(fleet::HOSTS).display()
        ))),
    }
}

/// Returns the comparison in a form, and the journals behind it.
pub(super) fn compared(
    form: ReportForm,
    paths: &[PathBuf],
) -> Result<(String, Vec<PathBuf>), CommandError> {
    let (mut own, mut journals, mut fleets) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        own.push(name(path)?);
        let runs = host_runs(path)?;
        journals.extend(runs.iter().map(|(_, run)| journal_of(run)));
        fleets.push(runs);
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let names = report::comparison_names(&own, super::names(paths));
    let mut hosts = Vec::new();
    for (host, _) in &fleets[0] {
        let runs = fleets.iter().map(|of| of.iter().find(|(name, _)| name == host));
        let runs: Vec<Option<&Path>> =
            runs.map(|found| found.map(|(_, run)| run.as_path())).collect();
        hosts.push(ComparedHost { host: host.clone(), compared: compared_host(&runs, &names)? });
    }
    Ok((report::render_fleets(form, &names, &hosts), journals))
}

/// Compares one host across all fleets, or explains why it cannot.
fn compared_host(
    runs: &[Option<&Path>],
    names: &[String],
) -> Result<Result<(Vec<NamedRun>, verdict::RunComparison), String>, CommandError> {
    let mut named = Vec::new();
    for (run, name) in runs.iter().zip(names) {
        let Some(run) = run else { return Ok(Err(format!("{name} has no run of it"))) };
        let record = super::recorded(run)?;
        let verdict = verdict::judge(&record);
        named.push(NamedRun { name: name.clone(), record, verdict });
    }
    let compared = verdict::compare(&named).map_err(|error| error.to_string());
    Ok(compared.map(|comparison| (named, comparison)))
}
