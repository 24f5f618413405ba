//! Sizes of the databases when each run began: they grow with every run, and larger is slower.

use units::Bytes;

use super::{NamedRun, OtherCircumstance};

/// Beyond this ratio, the databases of two runs count as different.
const LARGER: f64 = 1.25;

/// The total size in each run, if that of any run differs from the first.
pub(super) fn difference(runs: &[NamedRun]) -> Option<OtherCircumstance> {
    runs[1..].iter().find(|run| unlike(&runs[0], run).is_some())?;
    let values = runs.iter().map(|run| bytes(run).map_or_else(String::new, |of| of.to_string()));
    let name = "size of the databases at the start";
    Some(OtherCircumstance { name, values: values.collect(), is_work: false })
}

/// Warns that the databases differed in size.
pub(super) fn doubt(first: &NamedRun, other: &NamedRun) -> Option<String> {
    let [of_first, of_other] = unlike(first, other)?;
    Some(format!(
        "{}: its databases were {of_other} when the run began; those of {} were {of_first}.",
        other.name, first.name
    ))
}

/// Both sizes, if they differ.
fn unlike(first: &NamedRun, other: &NamedRun) -> Option<[Bytes; 2]> {
    let sizes = [bytes(first)?, bytes(other)?];
    let ratio = sizes[1].0 as f64 / sizes[0].0 as f64;
    let is_alike = (1.0 / LARGER..=LARGER).contains(&ratio) || !ratio.is_finite();
    (!is_alike).then_some(sizes)
}

/// `None` if an imported result does not state it.
fn bytes(run: &NamedRun) -> Option<Bytes> {
    let bytes = match run.record.imported() {
        Some(imported) => imported.initial_database_bytes?,
        None => run.record.start.databases.iter().map(|database| database.initial_bytes).sum(),
    };
    Some(Bytes(bytes))
}
