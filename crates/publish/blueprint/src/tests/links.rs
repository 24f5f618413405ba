//! Every number of a design leads to its entry in the glossary, and every entry is needed.

use std::collections::BTreeSet;

use provision::size;

use super::design::{DEPLOYMENTS, deployment};
use crate::{Sized, sizing_html};

const GLOSSARY: &str = include_str!("../../../../../docs/glossary.md");

fn pages() -> [String; 4] {
    DEPLOYMENTS.map(|rest| {
        let deployment = deployment(rest);
        let sizing = size(&deployment);
        sizing_html(Sized::new(&deployment, &sizing), &[])
    })
}

#[test]
fn every_link_of_the_page_leads_somewhere() {
    for page in pages() {
        let targets = values_of(&page, " id=\"");
        let unique: BTreeSet<&str> = targets.iter().copied().collect();
        assert_eq!(targets.len(), unique.len(), "a name stands twice");
        let links = values_of(&page, "href=\"#");
        assert!(links.len() > 20, "{} links", links.len());
        for link in links {
            assert!(unique.contains(link), "the link #{link} leads nowhere");
        }
    }
}

/// A page has the entries of the numbers that it shows.
#[test]
fn every_entry_about_sizing_is_of_a_number_that_is_shown() {
    let (_, entries) = GLOSSARY.split_once("\n## Sizing\n").expect("the entries about sizing");
    let heads = entries.split("\n### ").skip(1).filter_map(|entry| entry.lines().nth(1));
    let ids: Vec<&str> = heads.filter_map(|head| head.split('`').nth(1)).collect();
    assert!(ids.len() > 15, "{ids:?}");
    let pages = pages();
    for id in ids {
        let target = format!("id=\"g-{id}\"");
        assert!(pages.iter().any(|page| page.contains(&target)), "nothing leads to {id}");
    }
}

/// The values of an attribute, in order.
fn values_of<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let values = page.split(attribute).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}
