//! Groups runs by server. Machines cloned from one image often keep its host name, so the machine
//! identity in the record decides; the name decides only for records without one.

use super::{Server, dealing};
use crate::{PaperError, TestedRun};

/// The servers in the order in which runs of them were named.
pub(crate) fn servers(runs: &[TestedRun]) -> Result<Vec<Server<'_>>, PaperError> {
    let mut servers = Vec::new();
    for name in distinct(runs.iter().map(|run| run.record.start.machine.name.as_str())) {
        let named: Vec<&TestedRun> =
            runs.iter().filter(|run| run.record.start.machine.name == name).collect();
        for (machine, shares_name) in machines(name, &named)? {
            let shown = shown_name(name, servers.len(), shares_name.then_some(machine.number));
            let server = dealing::server(shown, &machine.runs)?;
            servers.push(Server { shares_name, ..server });
        }
    }
    Ok(servers)
}

/// The runs of one machine.
struct OneMachine<'a> {
    /// Position among the machines of the same name, from 1.
    number: usize,
    runs: Vec<&'a TestedRun>,
}

/// The machines called `name`, and whether there are several.
fn machines<'a>(
    name: &str,
    runs: &[&'a TestedRun],
) -> Result<Vec<(OneMachine<'a>, bool)>, PaperError> {
    let mut known = distinct(runs.iter().map(|run| id_of(run)));
    known.retain(|id| !id.is_empty());
    if known.len() < 2 {
        return Ok(vec![(OneMachine { number: 1, runs: runs.to_vec() }, false)]);
    }
    if let Some(run) = runs.iter().find(|run| id_of(run).is_empty()) {
        let (run, server, count) = (run.name.clone(), name.to_owned(), known.len());
        return Err(PaperError::WhichMachine { run, server, count });
    }
    let mut machines = Vec::new();
    for (number, own) in (1..).zip(known) {
        let runs = runs.iter().copied().filter(|run| id_of(run) == own).collect();
        machines.push((OneMachine { number, runs }, true));
    }
    Ok(machines)
}

fn id_of(run: &TestedRun) -> &str {
    &run.record.start.machine.id
}

fn shown_name(name: &str, index: usize, number: Option<usize>) -> String {
    let name = if name.is_empty() { format!("Server {}", index + 1) } else { name.to_owned() };
    number.map_or_else(|| name.clone(), |number| format!("{name} ({number})"))
}

/// Each value once, in order of first appearance.
fn distinct<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut each = Vec::new();
    for value in values {
        if !each.contains(&value) {
            each.push(value);
        }
    }
    each
}
