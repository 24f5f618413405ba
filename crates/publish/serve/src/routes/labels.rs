//! Edits name, tags and description of a run afterwards.

use axum::extract::{Extension, Form, Path, State};

use super::{FormFields, MayChange, WebAnswer, of_run, unusable, value_of};
use crate::answers::{NoAnswer, html, see_other};
use crate::labels::{self, Labels};
use crate::pages;
use crate::runs::ServedRuns;
use crate::summary::RunLine;

/// The form, prefilled with the labels shown in the list.
pub(super) async fn form(
    Path(id): Path<String>,
    State(runs): State<ServedRuns>,
    Extension(MayChange(may_change)): Extension<MayChange>,
) -> Result<WebAnswer, NoAnswer> {
    of_run(runs, id, move |_, run| {
        let unknown = RunLine::default();
        let line = run.line().unwrap_or(&unknown);
        Ok(html(pages::labels(&run.id, line, may_change)))
    })
    .await
}

/// Stores the labels from the form next to the journal.
pub(super) async fn give(
    Path(id): Path<String>,
    State(runs): State<ServedRuns>,
    Form(fields): Form<FormFields>,
) -> Result<WebAnswer, NoAnswer> {
    of_run(runs, id, move |runs, run| {
        let [name, tags, description] =
            ["name", "tags", "description"].map(|field| value_of(&fields, field));
        let typed = Labels::typed(name, tags, description);
        let labels = typed.map_err(|error| unusable(error.to_string()))?;
        labels::give(&run.folder, &labels).map_err(|error| unusable(error.to_string()))?;
        runs.look_anew();
        Ok(see_other("/"))
    })
    .await
}
