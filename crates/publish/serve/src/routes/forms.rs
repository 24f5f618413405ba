//! Handlers of questions that the program computes itself: sizing a deployment, and simulating
//! arrays.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError};

use axum::extract::{Extension, Form, Path as Place, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use blueprint::{PredictedArray, Prediction};
use report::{BestOfSweep, ReportForm};

use super::ranking::RankedSizes;
use super::{FormFields, MayChange, WebAnswer, beside, missing, unusable};
use crate::answers::{NoAnswer, answer, html, refusal, see_other};
use crate::pages::{self, SimulationForm, SizingForm};
use crate::runs::{Listed, ServedRuns};
use crate::{DocumentKind, SimulationQuestion, SizingQuestion, search};

/// File name of a finished ranking in its folder.
const RANKING: &str = "what-if.json";

/// Maximum number of simulations ranked on one page; a terminal may start more.
const MOST_RANKED: usize = 200;

/// Held while a deployment is sized: many designs occupy a processor for seconds.
static SIZING: Mutex<()> = Mutex::new(());

pub(super) async fn size_form(
    State(runs): State<ServedRuns>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let deployments = runs.documents(DocumentKind::Deployment);
        html(pages::sizing(&SizingForm::new(&fields), &deployments, None))
    })
    .await
}

pub(super) async fn sized(
    State(runs): State<ServedRuns>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let form = SizingForm::new(&fields);
        match size(&runs, &form) {
            Ok(page) => {
                let form = pages::with_fields("/size", &fields);
                html(pages::of_report(&page, &[(form, "Change the answers")]))
            }
            Err(why) => {
                let deployments = runs.documents(DocumentKind::Deployment);
                let page = pages::sizing(&form, &deployments, Some(&why));
                answer(StatusCode::UNPROCESSABLE_ENTITY, "text/html; charset=utf-8", page)
            }
        }
    })
    .await
}

fn size(runs: &ServedRuns, form: &SizingForm<'_>) -> Result<String, String> {
    let document = form.document().map(|name| {
        runs.document(name).ok_or_else(|| "No such deployment lies in this folder.".to_owned())
    });
    let question = SizingQuestion {
        document: document.transpose()?,
        values: form.values()?,
        scenarios: form.scenarios(),
    };
    let _one_at_a_time = match SIZING.try_lock() {
        Ok(held) => held,
        Err(TryLockError::Poisoned(held)) => held.into_inner(),
        Err(TryLockError::WouldBlock) => {
            return Err("Another deployment is just being sized; ask again.".to_owned());
        }
    };
    runs.machine().size(&question)
}

pub(super) async fn simulation_form(
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
    Query(fields): Query<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    if !may_change {
        return Ok(html(pages::simulation_without_token()));
    }
    beside(move || html(simulation_page(&runs, &SimulationForm::new(&fields), None))).await
}

fn simulation_page(runs: &ServedRuns, form: &SimulationForm<'_>, why: Option<&str>) -> String {
    let plans = runs.documents(DocumentKind::Plan);
    let own = runs.documents(DocumentKind::Array);
    let supplied = runs.machine().arrays().into_iter().map(str::to_owned).collect::<Vec<String>>();
    pages::simulation(form, &plans, (&own, &supplied), why)
}

pub(super) async fn simulate(
    State(runs): State<ServedRuns>,
    Form(fields): Form<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        let form = SimulationForm::new(&fields);
        match begin(&runs, &form) {
            Ok(id) => see_other(&format!("/what-if/{}", pages::address(&id))),
            Err((status, why)) => {
                let page = simulation_page(&runs, &form, Some(&why));
                answer(status, "text/html; charset=utf-8", page)
            }
        }
    })
    .await
}

/// The path of a document that a form names.
fn named(runs: &ServedRuns, name: &str) -> Result<PathBuf, (StatusCode, String)> {
    runs.document(name)
        .ok_or_else(|| (StatusCode::NOT_FOUND, format!("No `{name}` lies in this folder.")))
}

/// Starts simulations; returns the name of their folder, or why it cannot.
fn begin(runs: &ServedRuns, form: &SimulationForm<'_>) -> Result<String, (StatusCode, String)> {
    let is_supplied = runs.machine().arrays().contains(&form.array());
    let question = SimulationQuestion {
        plan: named(runs, form.plan())?,
        array: if is_supplied {
            form.array().to_owned()
        } else {
            named(runs, form.array())?.to_string_lossy().into_owned()
        },
        changes: form.changes().map_err(|why| (StatusCode::UNPROCESSABLE_ENTITY, why))?,
        duration: form.duration().to_owned(),
    };
    if super::is_busy(runs) {
        return Err((StatusCode::CONFLICT, format!("{}. Wait until it finishes.", super::BUSY)));
    }
    let folder = runs.machine().simulate(&question, runs.root());
    let folder = folder.map_err(|why| (StatusCode::UNPROCESSABLE_ENTITY, why))?;
    runs.look_anew();
    Ok(folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

/// The ranking of simulations, or their progress.
pub(super) async fn what_if(
    State(runs): State<ServedRuns>,
    Place(id): Place<String>,
) -> Result<WebAnswer, NoAnswer> {
    beside(move || {
        if let Some(single) = runs.find(&id) {
            return Ok(if single.is_live {
                html(pages::simulating(&id, 0, 1))
            } else {
                see_other(&format!("/run/{}", pages::address(&id)))
            });
        }
        let all: Vec<Listed> = search::simulations(&id, runs.all()).collect();
        let folder = all.first().and_then(|first| first.folder.parent());
        let folder = folder.ok_or_else(|| missing("No such simulations lie in this folder."))?;
        if !is_ranked(folder) {
            let going_on = all.iter().filter(|run| run.is_live).count();
            return Ok(html(pages::simulating(&id, all.len() - going_on, all.len())));
        }
        let ranked = ranked(&runs, &all, &RankedSizes::of(&folder.join(RANKING)))?;
        let steps = next_steps(&runs, (&all, &ranked));
        let page = blueprint::render_predictions(ReportForm::Page, &ranked, &steps);
        Ok(html(pages::of_report(&page, &[("/simulate".to_owned(), "Simulate other arrays")])))
    })
    .await?
}

/// Whether all have been simulated and ranked.
fn is_ranked(folder: &Path) -> bool {
    folder.join(RANKING).symlink_metadata().is_ok_and(|found| found.is_file())
}

/// What to do after the sweep; nothing if the run of its best array cannot be read.
fn next_steps(runs: &ServedRuns, (all, ranked): (&[Listed], &[PredictedArray])) -> Vec<String> {
    let best = ranked.first().and_then(|best| Some((best, best.folder()?)));
    let found = best.and_then(|(best, id)| Some((best, all.iter().find(|one| one.id == id)?)));
    found.map_or_else(Vec::new, |(best, one)| match runs.load(one) {
        Ok((run, _)) => {
            let (needed, lacks_sessions) = (best.needed(), best.lacks_sessions());
            let of_run = BestOfSweep::of(&run, best.ruling());
            report::sweep_steps(&BestOfSweep { needed, lacks_sessions, ..of_run })
        }
        Err(_) => Vec::new(),
    })
}

fn ranked(
    runs: &ServedRuns,
    all: &[Listed],
    sizes: &RankedSizes,
) -> Result<Vec<PredictedArray>, NoAnswer> {
    if all.len() > MOST_RANKED {
        let text = format!(
            "More than {MOST_RANKED} simulations; open what-if.html, which lies in their folder."
        );
        return Err(refusal(StatusCode::UNPROCESSABLE_ENTITY, text));
    }
    let mut predictions = Vec::with_capacity(all.len());
    for one in all {
        let (run, verdict) = runs.load(one).map_err(unusable)?;
        let changes: Vec<(String, String)> = run
            .start
            .options
            .iter()
            .filter(|(name, _)| name == "--what-if")
            .filter_map(|(_, change)| change.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let (disks, survived) = sizes.of_array(&changes);
        let prediction = Prediction::of(changes, (&run, &verdict), one.id.clone());
        predictions.push(Prediction { disks, survived, ..prediction });
    }
    Ok(blueprint::ranked_predictions(predictions))
}

/// Asks the simulations in `id` to stop; `None` if none of them is live.
pub(super) fn stop_simulations(runs: &ServedRuns, id: &str) -> Option<Result<(), String>> {
    let live = search::simulations(id, runs.all()).find(|run| run.is_live)?;
    Some(runs.machine().stop(live.folder.parent()?))
}

/// The page of a live run that is not a measurement.
pub(super) fn instead_of_live(runs: &ServedRuns, run: &Listed) -> Option<WebAnswer> {
    let is_simulated = runs.followed(run, |record| record.simulated().is_some());
    is_simulated.filter(|is| *is)?;
    let id = search::sweep_of(&run.id).unwrap_or(&run.id);
    Some(see_other(&format!("/what-if/{}", pages::address(id))).into_response())
}
