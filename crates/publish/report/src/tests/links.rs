//! Every metric has a definition, and every link of the page leads to it.

use std::collections::BTreeSet;

use record::IssueKind;

use super::every_kind;
use crate::{glossary, html, sections};

const GLOSSARY: &str = include_str!("../../glossary.md");

#[test]
fn every_metric_shown_has_an_entry() {
    for run in every_kind() {
        let document = sections::document(&run, &verdict::judge(&run));
        for metric in document.metrics() {
            assert!(
                glossary::entries().iter().any(|entry| entry.id == metric),
                "no glossary entry for {metric}"
            );
        }
    }
}

#[test]
fn every_entry_is_of_a_metric_that_is_shown() {
    let mut shown = BTreeSet::new();
    let mut unlike_the_original = super::passing();
    let settings = &mut unlike_the_original.start.settings;
    (settings.compressible_percent, settings.repeated_percent, settings.zipf_theta) = (40, 10, 0.9);
    let limits = &mut settings.thresholds;
    (limits.read_p99_ns, limits.log_write_p99_ns) = (Some(1), Some(1));
    let mut cut_off = super::without_room();
    cut_off.issues[0].kind = IssueKind::ConnectionLost;
    for run in every_kind().into_iter().chain([unlike_the_original, cut_off]) {
        let document = sections::document(&run, &verdict::judge(&run));
        shown.extend(document.metrics());
    }
    shown.extend(super::line::metrics());
    // Shown only if the storage was inspected.
    shown.insert("storage-findings");
    // Shown only if a run was cut off and resumed.
    shown.extend(["resumed"]);
    // Shown only if a control group limits the program.
    shown.insert("io-limits");
    // Shown only in the report of a set of tests.
    shown.insert("tests-passed");
    // Shown only if additional copies are simulated.
    shown.extend(["log-reads-rate", "log-reads-bytes", "log-reads-latency"]);
    // Shown only if the system counts them; some exist only on Windows.
    shown.extend(["free-system-page-table-entries", "transition-pages-repurposed"]);
    shown.extend(["pool-nonpaged", "pool-paged", "other-programs-time", "kernel-time"]);
    // Shown only if the machine and its devices report other activity.
    shown.extend(["other-programs", "starved-lag", "other-reads", "other-runs"]);
    // Shown only with a flash cache in front of the volumes.
    shown.extend(["flash-hit-ratio", "flash-read-latency", "flash-traffic-spared"]);
    shown.extend(["flash-occupancy", "flash-written"]);
    // Shown only if there are enough intervals.
    shown.insert("steady-state");
    // Shown only in the pages of a design, whose own tests look for them.
    let (_, of_designs) = GLOSSARY.split_once("\n## Sizing\n").expect("the entries about sizing");
    let is_of_design = |id: &str| of_designs.contains(&format!("\n`{id}` | "));
    for entry in glossary::entries().iter().filter(|entry| !is_of_design(entry.id)) {
        assert!(shown.contains(entry.id), "nothing leads to the entry {}", entry.id);
    }
}

#[test]
fn every_link_of_the_page_leads_somewhere() {
    for run in every_kind() {
        every_link_leads_somewhere(&html(&run, &verdict::judge(&run)));
    }
}

fn every_link_leads_somewhere(page: &str) {
    let targets: Vec<&str> = values_of(page, " id=\"");
    let unique: BTreeSet<&str> = targets.iter().copied().collect();
    assert_eq!(targets.len(), unique.len(), "a name stands twice");
    let links = values_of(page, "href=\"#");
    assert!(links.len() > 40, "{} links", links.len());
    for link in links {
        assert!(unique.contains(link), "the link #{link} leads nowhere");
    }
}

/// The values of an attribute, in order.
fn values_of<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let values = page.split(attribute).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}
