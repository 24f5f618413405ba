//! The page is well-formed, self-contained and accessible to screen readers.

use super::{every_kind, failing, interrupted, passing};
use crate::{html, sections};

/// Pages without their script.
fn markup() -> Vec<String> {
    pages().iter().map(|page| page.replace(crate::CROSSHAIR, "")).collect()
}

fn pages() -> Vec<String> {
    every_kind().iter().map(|run| html(run, &verdict::judge(run))).collect()
}

/// The tags of a page in order: name, and whether it opens, closes or does both.
fn tags(page: &str) -> Vec<(&str, bool, bool)> {
    page.split('<')
        .skip(1)
        .filter(|rest| !rest.starts_with('!'))
        .map(|rest| {
            let inside = rest.split('>').next().unwrap();
            let name = inside.trim_start_matches('/');
            let name = name.split([' ', '/']).next().unwrap();
            (name, inside.starts_with('/'), inside.ends_with('/'))
        })
        .collect()
}

#[test]
fn every_tag_is_closed_in_its_place() {
    for page in markup() {
        let mut open: Vec<&str> = Vec::new();
        for (name, closes, alone) in tags(&page) {
            if closes {
                assert_eq!(open.pop(), Some(name), "after {open:?}");
            } else if !alone && name != "meta" {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "left open: {open:?}");
    }
}

#[test]
fn nothing_comes_from_outside_and_nothing_else_is_run() {
    for page in pages() {
        let script = format!("<script>\n{}</script>", crate::CROSSHAIR);
        assert_eq!(page.matches("<script").count(), page.matches(&script).count());
        // XML namespace names are not addresses.
        let page = page.replace(&script, "");
        for banned in ["http:", "https:", "src=", "url(", "@import", "<link", "onload"] {
            assert!(!page.contains(banned), "the page contains {banned}");
        }
    }
}

#[test]
fn the_page_of_a_server_holds_no_script_of_its_own() {
    let run = passing();
    let page = crate::served_page(&html(&run, &verdict::judge(&run)));
    assert!(page.contains("<script src=\"/crosshair.js\"></script>"));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn texts_of_others_stay_texts() {
    let run = interrupted();
    let page = html(&run, &verdict::judge(&run));
    assert!(page.contains("&lt;/pre&gt;&lt;script&gt;alert(&#39;x&#39;)"));
    assert!(page.contains("&amp; &quot;more&quot;"));
    assert!(page.contains("interrupted by Ctrl-C &lt;now&gt;"));
}

#[test]
fn pictures_say_what_they_show() {
    let run = passing();
    let page = html(&run, &verdict::judge(&run));
    assert_eq!(page.matches("<svg role=\"img\" aria-label=\"").count(), 7);
    assert_eq!(page.matches("<figcaption>").count(), 7);
    assert!(page.contains("heat-5") && page.contains("Log writes: latency distribution"));
    let said = "Database reads: latency. Over the time of the run; ";
    assert!(page.contains(said));
}

#[test]
fn tables_say_what_they_hold() {
    for page in pages() {
        let tables = page.matches("<table").count();
        assert!(tables > 3, "{tables} tables");
        assert_eq!(page.matches("<caption>").count(), tables);
        assert_eq!(page.matches("<thead>").count(), tables);
        assert!(page.matches("scope=\"row\"").count() >= tables);
    }
}

#[test]
fn light_dark_and_paper_are_served() {
    let run = passing();
    let page = html(&run, &verdict::judge(&run));
    assert!(page.contains("@media (prefers-color-scheme: dark)"));
    assert!(page.contains("@media print"));
}

#[test]
fn the_verdict_is_seen_first() {
    let run = failing();
    let page = html(&run, &verdict::judge(&run));
    let banner = page.find("<header class=\"banner fail\">").unwrap();
    let first_section = page.find("<section").unwrap();
    let main_number = page.find("transactional IOPS</a>").unwrap();
    assert!(banner < main_number && main_number < first_section);
}

#[test]
fn a_load_that_failed_carries_no_mailboxes() {
    let run = failing();
    let verdict = verdict::judge(&run);
    let document = sections::document(&run, &verdict);
    let mut figures = document.banner.figures.iter();
    assert!(figures.all(|figure| figure.metric != "mailboxes-carried"));
}

#[test]
fn the_sections_of_jetstress_come_in_its_order() {
    let run = passing();
    let document = sections::document(&run, &verdict::judge(&run));
    let titles: Vec<&str> = document.sections.iter().map(|of| of.title).collect();
    let jetstress = [
        "Test Summary",
        "Database Sizing and Throughput",
        "System Parameters",
        "Database Configuration",
        "Transactional I/O Performance",
        "Background Database Maintenance I/O Performance",
        "Log Replication I/O Performance",
        "Total I/O Performance",
        "Host System Performance",
        "Checksum Statistics - All",
        "Disk Subsystem Performance (of checksum)",
        "Memory System Performance (of checksum)",
        "Test Log",
    ];
    let places = jetstress.map(|wanted| {
        let place = titles.iter().position(|title| *title == wanted);
        place.unwrap_or_else(|| panic!("no section {wanted}"))
    });
    assert!(places.is_sorted(), "{titles:?}");
}

#[test]
fn a_run_of_a_day_stays_small() {
    let mut run = passing();
    let measured = run.intervals.last_mut().map(|row| row.clone()).unwrap();
    let mut day = Vec::new();
    for number in 0..5_760_u64 {
        let mut row = run.intervals[2].clone();
        row.from_ns = measured.to_ns + number * 15_000_000_000;
        row.to_ns = row.from_ns + 15_000_000_000;
        day.push(row);
    }
    run.intervals.extend(day);
    let page = html(&run, &verdict::judge(&run));
    assert!(page.len() < 800_000, "{} bytes", page.len());
}
