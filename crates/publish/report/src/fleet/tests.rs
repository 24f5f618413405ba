use record::synthetic::Synthetic;
use record::{Phase, RunRecord};
use verdict::Ruling;

use super::{FleetSheet, FleetSheetHost, FleetSheetPeriod, fleet_csv, fleet_html};

fn sheet<'a>(records: &'a [(&'a str, Ruling, RunRecord)]) -> FleetSheet<'a> {
    let hosts = records.iter().map(|(name, outcome, record)| FleetSheetHost {
        name,
        outcome: *outcome,
        record: Some(record),
        begins: 5.0,
    });
    // Marks outside the measurement are not drawn.
    let mut measured = records[0].2.intervals_of(Phase::Measure);
    let begin = measured.next().map_or(0.0, |row| row.from_ns as f64 / 1e9 + 5.0);
    FleetSheet {
        name: "dag1",
        started_ns: 1_700_000_000_000_000_000,
        outcome: Ruling::Fail,
        headline: "FAIL: 2 hosts together".to_owned(),
        findings: vec![(Ruling::Fail, "EX02: Reads & more".to_owned())],
        hosts: hosts.collect(),
        marks: vec![(begin + 1.0, "lose EX03".to_owned())],
        periods: vec![FleetSheetPeriod {
            name: "after lose EX03 at 30s".to_owned(),
            hosts: vec![("EX01", "PASS", Some(&records[0].2)), ("EX03", "lost", None)],
        }],
        shared: vec!["EX01 and EX02 load the same disk".to_owned()],
    }
}

fn two() -> Vec<(&'static str, Ruling, RunRecord)> {
    let slow = Synthetic { read_median_ns: 40_000_000, ..Synthetic::USUAL };
    vec![("EX01", Ruling::Pass, Synthetic::USUAL.run()), ("EX02", Ruling::Fail, slow.run())]
}

#[test]
fn the_worst_host_comes_first_and_every_part_is_there() {
    let records = two();
    let page = fleet_html(&sheet(&records));
    let hosts = page.find("id=\"fleet-hosts\"").expect("the hosts");
    let order = ["EX02", "EX01"].map(|name| page[hosts..].find(name).expect("a host"));
    assert!(order[0] < order[1], "the host that failed comes first");
    for part in [
        "Reads &amp; more",
        "after lose EX03 at 30s",
        "<title>lose EX03</title>",
        "EX01 and EX02 load the same disk",
        "heat-5",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
}

#[test]
fn the_table_of_all_hosts_begins_every_line_with_its_host() {
    let records = two();
    let table = fleet_csv(&sheet(&records));
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("host,"), "{}", lines[0]);
    let of = |name: &str| lines.iter().filter(|line| line.starts_with(name)).count();
    assert_eq!(of("EX01,") + of("EX02,") + 1, lines.len());
    assert_eq!(of("EX01,"), of("EX02,"));
}

#[test]
fn a_day_of_sixteen_hosts_is_a_small_page() {
    let day = Synthetic { measure_intervals: 24 * 240, ..Synthetic::USUAL }.run();
    let names: Vec<String> = (1..=16).map(|host| format!("EX{host:02}")).collect();
    let hosts = names.iter().map(|name| FleetSheetHost {
        name,
        outcome: Ruling::Pass,
        record: Some(&day),
        begins: 0.0,
    });
    let records = two();
    let sheet = FleetSheet { hosts: hosts.collect(), ..sheet(&records) };
    let page = fleet_html(&sheet);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}

/// The plans carry the assumption of their design to the page of the fleet.
#[test]
fn a_fleet_by_assumed_figures_says_so() {
    let said = "ASSUMPTION: 9 figures are those of Exchange 2016";
    let mut records = two();
    assert!(!fleet_html(&sheet(&records)).contains(said));
    records[1].2.start.description = format!("24 I/O per second are needed. {said}");
    assert!(fleet_html(&sheet(&records)).contains(said));
}
