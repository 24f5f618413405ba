//! Groups related runs in one folder: the loads of a search for the load line, which show its
//! decisions so far, and simulations of one question.

use serde_json::{Value, json};

use crate::runs::{Known, Listed};

/// Prefix of the folders that `line` creates, followed by the number of the load.
const LOAD: &str = "load-";

/// Whether a run of this name is one load of a search.
pub(crate) fn is_load(id: &str) -> bool {
    split(id).is_some()
}

/// The loads of the search that the run `id` belongs to, in the order in which they were tried;
/// empty if it does not belong to a search.
pub(crate) fn loads(id: &str, runs: &[Listed]) -> Value {
    let Some((search, _)) = split(id) else {
        return json!([]);
    };
    let mut loads: Vec<(&str, Value)> = beside(search, runs).map(of_load).collect();
    loads.sort_by_key(|(number, _)| *number);
    loads.into_iter().map(|(_, load)| load).collect()
}

/// Prefix of the folders that `simulate` creates for several simulations, followed by a number.
const WHAT_IF: &str = "what-if-";

/// The folder of the simulations that a run belongs to.
pub(crate) fn sweep_of(id: &str) -> Option<&str> {
    let (sweep, one) = id.rsplit_once('/')?;
    let number = one.strip_prefix(WHAT_IF)?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then_some(sweep)
}

/// The simulations in the folder `sweep`.
pub(crate) fn simulations(sweep: &str, runs: Vec<Listed>) -> impl Iterator<Item = Listed> {
    runs.into_iter().filter(move |run| sweep_of(&run.id) == Some(sweep))
}

/// The live load of the same search, if any.
pub(crate) fn live_load(id: &str, runs: &[Listed]) -> Option<String> {
    let (search, _) = split(id)?;
    let mut live = beside(search, runs).filter(|(_, run)| run.is_live && run.id != id);
    live.next().map(|(_, run)| run.id.clone())
}

/// Runs of the folder `search`, with their numbers.
fn beside<'a>(
    search: &'a str,
    runs: &'a [Listed],
) -> impl Iterator<Item = (&'a str, &'a Listed)> + 'a {
    runs.iter().filter_map(move |run| {
        split(&run.id).filter(|(of, _)| *of == search).map(|(_, number)| (number, run))
    })
}

/// The folder of a search and the number of a load in it.
fn split(id: &str) -> Option<(&str, &str)> {
    let (search, load) = id.rsplit_once('/')?;
    let number = load.strip_prefix(LOAD)?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then_some((search, number))
}

fn of_load<'a>((number, run): (&'a str, &Listed)) -> (&'a str, Value) {
    let (asked_iops, iops, verdict, tone) = match &run.known {
        Known::Summary(line) => (line.asked_iops, line.iops, &*line.verdict, line.tone.class()),
        Known::Unread => (None, None, "being read", "plain"),
        Known::Unreadable(_) => (None, None, "unreadable", "warn"),
    };
    let load = json!({
        "number": number.trim_start_matches('0'),
        "asked_iops": asked_iops,
        "iops": iops,
        "verdict": verdict,
        "tone": tone,
    });
    (number, load)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{live_load, loads};
    use crate::runs::{Known, Listed};
    use crate::summary::RunLine;

    fn run(id: &str, is_live: bool, asked_iops: Option<f64>) -> Listed {
        let line = RunLine { verdict: "Pass".to_owned(), asked_iops, ..RunLine::default() };
        Listed::made_up(id, is_live, Known::Summary(Arc::new(line)))
    }

    #[test]
    fn loads_of_the_same_search_are_told_in_their_order() {
        let runs = [
            run("line-a/load-02", true, Some(480.0)),
            run("line-a/load-01", false, None),
            run("line-b/load-01", true, None),
            run("line-a/other", false, None),
            run("alone", false, None),
        ];
        let told = loads("line-a/load-01", &runs);
        assert_eq!(told.as_array().unwrap().len(), 2);
        assert_eq!((&told[0]["number"], &told[0]["asked_iops"]), (&"1".into(), &().into()));
        assert_eq!((&told[1]["number"], &told[1]["asked_iops"]), (&"2".into(), &480.0.into()));
        assert_eq!(loads("alone", &runs).as_array().map(Vec::len), Some(0));
        assert_eq!(live_load("line-a/load-01", &runs).as_deref(), Some("line-a/load-02"));
        assert_eq!(live_load("line-a/load-02", &runs), None);
        assert_eq!(live_load("alone", &runs), None);
    }
}
