//! Handlers that change state: filling databases; starting, stopping and resuming runs. The gate
//! has already checked the token of each such request.

use std::path::PathBuf;

use axum::extract::{Extension, Form, Path, Query, State};
use axum::http::StatusCode;

use super::{
    FormFields, MayChange, WebAnswer, beside, expect_idle, forms, instead_of_live, missing,
    name_of_live, of_run, value_of,
};
use crate::answers::{NoAnswer, html, refusal, see_other};
use crate::pages;
use crate::runs::ServedRuns;
use crate::{GuideQuestion, RunQuestion};

fn not_now(why: String) -> NoAnswer {
    refusal(StatusCode::CONFLICT, why)
}

/// Asks for confirmation before a run is stopped.
pub(super) async fn ask_to_stop(
    Path(id): Path<String>,
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
) -> Result<WebAnswer, NoAnswer> {
    of_run(runs, id, move |runs, run| {
        if let Some(elsewhere) = instead_of_live(runs, run) {
            return Ok(elsewhere);
        }
        Ok(html(pages::ask_to_stop(&run.id, &name_of_live(runs, run), may_change)))
    })
    .await
}

pub(super) async fn stop(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        if let Some(asked) = forms::stop_simulations(&runs, &id) {
            asked.map_err(not_now)?;
            return Ok(see_other("/"));
        }
        let run = runs.find(&id).filter(|run| run.is_live);
        let run = run.ok_or_else(|| missing("No run of this name is in progress here."))?;
        runs.machine().stop(&run.folder).map_err(not_now)?;
        Ok(see_other(&format!("/live/{}", pages::address(&id))))
    })
    .await?
}

pub(super) async fn resume(
    State(runs): State<ServedRuns>,
    Path(id): Path<String>,
) -> Result<WebAnswer, NoAnswer> {
    of_run(runs, id, |runs, run| {
        expect_idle(runs)?;
        runs.machine().resume(&run.folder).map_err(not_now)?;
        runs.look_anew();
        Ok(see_other(&format!("/live/{}", pages::address(&run.id))))
    })
    .await
}

/// The plan selected in a form, provided that no run would be disturbed.
fn idle_plan(runs: &ServedRuns, fields: &FormFields) -> Result<PathBuf, NoAnswer> {
    let plan = runs.document(value_of(fields, "plan"));
    let plan = plan.ok_or_else(|| missing("No such plan lies in this folder."))?;
    expect_idle(runs).map(|()| plan)
}

/// A field that was filled in.
fn given(fields: &FormFields, name: &str) -> Option<String> {
    let value = value_of(fields, name).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

pub(super) async fn start(
    State(runs): State<ServedRuns>,
    Form(fields): Form<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let question = RunQuestion {
            plan: idle_plan(&runs, &fields)?,
            test: given(&fields, "test"),
            duration: given(&fields, "duration"),
            name: given(&fields, "name"),
        };
        let folder = runs.machine().start(&question, runs.root()).map_err(not_now)?;
        runs.look_anew();
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(see_other(&format!("/live/{}", pages::address(&name.unwrap_or_default()))))
    })
    .await?
}

pub(super) async fn prepare(
    State(runs): State<ServedRuns>,
    Form(fields): Form<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let plan = idle_plan(&runs, &fields)?;
        runs.machine().prepare(&plan).map_err(not_now)?;
        Ok(see_other("/prepare"))
    })
    .await?
}

/// Creates a plan from a folder and a size, and starts to fill its databases.
pub(super) async fn guide(
    State(runs): State<ServedRuns>,
    Form(fields): Form<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        expect_idle(&runs)?;
        let [folder, size, duration, name] = ["folder", "size", "duration", "name"]
            .map(|name| value_of(&fields, name).trim().to_owned());
        let question = GuideQuestion { folder, size, duration, name };
        runs.machine().guide(&question, runs.root()).map_err(not_now)?;
        runs.look_anew();
        Ok(see_other("/prepare"))
    })
    .await?
}

/// Progress of the latest filling of databases.
pub(super) async fn preparation(
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
    Query(_): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || match runs.machine().preparation() {
        Some(preparation) => Ok(html(pages::preparing(&preparation, may_change))),
        None => Err(missing("No databases have been prepared from here.")),
    })
    .await?
}
