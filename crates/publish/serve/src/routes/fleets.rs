//! Handlers of fleet runs: the page of a live one with its stop button, or the report of one that
//! has ended.

use std::fs;
use std::path::{Path as FilePath, PathBuf};

use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;

use super::{MayChange, WebAnswer, beside, missing, unusable};
use crate::FleetState;
use crate::answers::{NoAnswer, html, refusal, see_other};
use crate::pages;
use crate::runs::{Listed, ServedRuns};

/// The report of a fleet run, in order of preference: a simulated deployment has only the first,
/// and a run of real hosts only the second.
const REPORTS: [&str; 2] = ["deployment.html", "report.html"];

/// The fleet runs of the folder, by name.
pub(super) fn all(runs: &ServedRuns) -> Vec<(String, FleetState)> {
    let mut states = Vec::new();
    for (id, folder) in runs.fleets() {
        states.extend(runs.machine().fleet(&folder).map(|state| (id, state)));
    }
    states
}

/// Whether a run belongs to a host of one of these fleets.
pub(super) fn is_part(run: &Listed, fleets: &[(String, FleetState)]) -> bool {
    fleets.iter().any(|(id, _)| {
        let below = run.id.strip_prefix(id.as_str());
        below.is_some_and(|rest| rest.starts_with("/hosts/"))
    })
}

/// The report of the fleet run in `folder`; `None` if there is none yet.
fn report_in(folder: &FilePath, exists: impl Fn(&FilePath) -> bool) -> Option<PathBuf> {
    REPORTS.into_iter().map(|name| folder.join(name)).find(|report| exists(report))
}

/// The page of a fleet run.
pub(super) async fn page(
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let folder = runs.fleets().remove(&id).ok_or_else(no_fleet)?;
        let state = runs.machine().fleet(&folder).ok_or_else(no_fleet)?;
        if state.is_live {
            return Ok(html(pages::live_fleet(&id, &state, may_change)));
        }
        let report = report_in(&folder, |file| runs.is_inside(file)).ok_or_else(|| {
            unusable(format!(
                "{id}: no report yet; `plimsoll fleet collect` completes the run and writes it."
            ))
        })?;
        let page = fs::read_to_string(&report).map_err(|error| unusable(error.to_string()))?;
        Ok(html(pages::of_report(&page, &[])))
    })
    .await?
}

/// Asks the controller of a live fleet run to stop every host.
pub(super) async fn stop(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let folder = runs.fleets().remove(&id).ok_or_else(no_fleet)?;
        let is_live = runs.machine().fleet(&folder).is_some_and(|state| state.is_live);
        if !is_live {
            return Err(no_fleet());
        }
        runs.machine().stop(&folder).map_err(|why| refusal(StatusCode::CONFLICT, why))?;
        Ok(see_other(&format!("/fleet/{}", pages::address(&id))))
    })
    .await?
}

fn no_fleet() -> NoAnswer {
    missing("No such fleet run lies in this folder, or it is not live.")
}

#[cfg(test)]
mod tests {
    use super::{FilePath, report_in};

    #[test]
    fn a_simulated_deployment_is_shown_by_its_own_page() {
        let shown = |files: &[&str]| {
            let exists = |file: &FilePath| files.iter().any(|name| file.ends_with(name));
            report_in(FilePath::new("/runs/sim"), exists)
        };
        let page = |name: &str| Some(FilePath::new("/runs/sim").join(name));
        assert_eq!(shown(&["deployment.html"]), page("deployment.html"));
        assert_eq!(shown(&["report.html"]), page("report.html"));
        let both = ["report.html", "deployment.html"];
        assert_eq!(shown(&both), page("deployment.html"), "in order of preference");
        assert_eq!(shown(&[]), None);
    }
}
