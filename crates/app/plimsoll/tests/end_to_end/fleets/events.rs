//! A host that is lost on purpose over a real server, in seconds: `cargo xtask fleet` does it in
//! minutes over real links.

use std::fs;

use super::Fleet;
use crate::scene::{HELD, small_plan};
use crate::wine;

const EVENTS: &str = "passive_percent = 20\n\
    [[host]]\nhost = \"ex01\"\nplan = \"ex01.toml\"\n\
    [[host]]\nhost = \"ex02\"\nplan = \"ex02.toml\"\n\
    [[database]]\nname = \"DB1\"\ncopies = [\"ex01\", \"ex02\"]\n\
    [[database]]\nname = \"DB2\"\ncopies = [\"ex02\", \"ex01\"]\n\
    [[event]]\nat = \"4s\"\nlose = \"ex01\"\n";

const REJOIN: &str = "[[event]]\nat = \"20s\"\nrejoin = \"ex01\"\n";

/// Starts the agent of a host that holds a copy of each of two databases.
fn join_with_copies(fleet: &mut Fleet, host: &str) {
    let folders = ["DB1", "DB2"].map(|name| fleet.scene.path(host).join(name));
    for folder in &folders {
        fs::create_dir_all(folder).unwrap();
    }
    let plan = small_plan(&folders[0])
        .replace("duration = \"2s\"", "duration = \"12s\"")
        .replace("count = 2\n", "")
        .replace(HELD, "[workload]\nthreads = 2\ntarget_iops = 100\n");
    let [first, second] = folders.each_ref().map(|folder| format!("{:?}", wine::shown(folder)));
    let (one, both) = (format!("[{first}]"), format!("[{first}, {second}]"));
    assert!(plan.contains(&one) && plan.contains("target_iops"), "{plan}");
    fleet.scene.write(&format!("{host}.toml"), plan.replace(&one, &both).as_bytes());
    fleet.start_agent(host);
}

#[test]
fn a_host_that_is_lost_on_purpose_leaves_its_load_to_the_survivors() {
    let Some(mut fleet) = Fleet::up("fleet-events") else { return };
    for host in ["ex01", "ex02"] {
        join_with_copies(&mut fleet, host);
    }
    let text = format!("name = \"dag1\"\n{EVENTS}");
    fleet.scene.write("fleet.toml", format!("{text}{REJOIN}").as_bytes());
    let late = fleet.scene.run(["fleet", "run", "fleet.toml", "-o", "out"]);
    late.expect_refusal(&["rejoin ex01 at 20s: the measurement ends after 12s"]);
    fleet.scene.write("fleet.toml", text.as_bytes());
    let ran = fleet.scene.run(["fleet", "run", "fleet.toml", "-o", "out", "--json"]);
    let report = Fleet::report(&ran);
    let periods = report["periods"].as_array().expect("periods");
    let names: Vec<_> = periods.iter().map(|of| of["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["before", "during lose ex01 at 4s", "after lose ex01 at 4s"]);
    let iops =
        |period: usize, host: usize| periods[period]["hosts"][host]["transactional_iops"].as_f64();
    // 100 % of the active database and 20 % of the passive one, then 100 % of both.
    for (period, least, most) in [(0, 45.0, 75.0), (2, 85.0, 115.0)] {
        let found = iops(period, 1).expect("a rate of the survivor");
        assert!((least..most).contains(&found), "{found} in period {period}: {report:#}");
    }
    assert_eq!(iops(2, 0), None, "the lost host carries nothing: {report:#}");
    let findings = report["findings"].as_array().unwrap();
    let rules: Vec<_> = findings.iter().map(|of| of["rule"].as_str().unwrap()).collect();
    assert!(!rules.contains(&"event-carried-out"), "{report:#}");
    assert!(!rules.contains(&"host-lost"), "a loss on purpose is no loss: {report:#}");
}
