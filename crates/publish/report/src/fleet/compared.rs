//! Fleets side by side: each host of the first next to the host of the same name in the others.

use serde_json::{Value, json};
use units::plain_json;
use verdict::{NamedRun, RunComparison};

use crate::ReportForm;
use crate::comparison::{self, upper_first};
use crate::document::{Banner, Block, Document, Section, Tone};

/// One host in every fleet, or why it is not compared.
pub struct ComparedHost {
    /// Its name.
    pub host: String,
    /// Its runs, one per fleet, and their differences; or, as a clause, why it is not compared.
    pub compared: Result<(Vec<NamedRun>, RunComparison), String>,
}

/// The comparison of the fleets called `names` in a form; as comma-separated values, one line for
/// each metric of each host and fleet.
pub fn render_fleets(form: ReportForm, names: &[String], hosts: &[ComparedHost]) -> String {
    form.render(|| document(names, hosts), || json(names, hosts), || csv(hosts))
}

fn json(names: &[String], hosts: &[ComparedHost]) -> String {
    let hosts: Vec<Value> = hosts
        .iter()
        .map(|of| {
            let compared = of.compared.as_ref().ok();
            json!({
                "host": of.host,
                "not_compared": of.compared.as_ref().err(),
                "comparison": compared.map(|(runs, found)| comparison::members(runs, found)),
            })
        })
        .collect();
    let document = crate::answer("fleet_comparison", json!({ "fleets": names, "hosts": hosts }));
    plain_json(&format!("{document:#}\n")).into_owned()
}

fn csv(hosts: &[ComparedHost]) -> String {
    let mut csv = String::new();
    for of in hosts {
        let Ok((runs, found)) = &of.compared else { continue };
        let own = comparison::render_comparison(ReportForm::Csv, runs, found);
        let mut lines = own.lines();
        let head = lines.next().unwrap_or_default();
        if csv.is_empty() {
            csv = format!("host,{head}\n");
        }
        let host = super::csv::quoted(&of.host);
        csv.extend(lines.map(|line| format!("{host},{line}\n")));
    }
    csv
}

fn document(names: &[String], hosts: &[ComparedHost]) -> Document {
    let compared = hosts.iter().filter(|of| of.compared.is_ok()).count();
    let is_doubtful = hosts
        .iter()
        .any(|of| of.compared.as_ref().is_ok_and(|(_, found)| !found.doubts.is_empty()));
    let banner = Banner {
        subject: format!("{}, host by host", names.join(" beside ")),
        started: String::new(),
        verdict: upper_first("each host beside its namesake"),
        tone: if is_doubtful || compared < hosts.len() { Tone::Warn } else { Tone::Plain },
        number: format!("{compared} of {}", hosts.len()),
        number_unit: "hosts compared".into(),
        number_metric: "hosts-compared",
        meaning: hosts.iter().flat_map(meaning).collect(),
        figures: Vec::new(),
    };
    let blocks = hosts.iter().flat_map(blocks).collect();
    let section = Section { id: "compared-hosts", title: "Hosts", blocks };
    Document { banner, sections: vec![section], names: names.to_vec() }
}

fn meaning(of: &ComparedHost) -> Vec<String> {
    match &of.compared {
        Ok((runs, found)) => (1..runs.len())
            .map(|at| format!("{}: {}", of.host, comparison::meaning(runs, found, at)))
            .collect(),
        Err(why) => vec![format!("{}: not compared: {why}.", of.host)],
    }
}

fn blocks(of: &ComparedHost) -> Vec<Block> {
    let mut blocks = vec![Block::Note(format!("Host {}:", of.host))];
    match &of.compared {
        Ok((runs, found)) => {
            for section in comparison::document(runs, found).sections {
                blocks.extend(section.blocks);
            }
        }
        Err(why) => blocks.push(Block::Note(format!("Not compared: {why}."))),
    }
    blocks
}
